"""Records of people of whom some count: limits, what is asked, what is completed, and how sure."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hushway.engine.key import BoundingKey
from hushway.errors import PrivacyError
from hushway.families.sequences.city.cards import metro
from hushway.families.sequences.files.learnt import begun_with
from hushway.families.sequences.fit.table import RecordTable
from hushway.families.sequences.mechanism.learned import LearnedSequences, learned_spends
from hushway.families.sequences.mechanism.people import (
    PeopleSequences,
    certified_people,
    record_ladder,
)
from hushway.families.sequences.rows.counter import ArraySequences
from hushway.families.sequences.study.data import SequenceScene, card_scene
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, total
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget

HEIGHT, DAYS = 6, 7
SCENE: SequenceScene = card_scene(metro(11, records=60_000))
RECORDS = len(SCENE.start) - 1
# One person in two has one record, all others have a week of them.
PERSON = np.concatenate([np.arange(7_500), 7_500 + np.arange(RECORDS - 7_500) // DAYS])
ONE, FOUR = PureLoss(Fraction(1)), PureLoss(Fraction(4))


def mechanism(budget: Loss, limit: int | None = None, most: int | None = None) -> PeopleSequences:
    inner = LearnedSequences(universe=SCENE.hybrid, height=HEIGHT, spends=learned_spends(budget))
    return PeopleSequences(inner=inner, ladder=record_ladder(most, limit), limit=limit)


def curator(ladder: tuple[int, ...], seed: int) -> Curator:
    counter = ArraySequences(
        taxonomy=SCENE.taxonomy,
        unit=Unit.PERSON,
        max_records=1,
        max_stops=HEIGHT,
        key=BoundingKey.draw(SeededSource(0)),
        ladder=ladder,
        start=SCENE.start,
        stops=SCENE.stops,
        person=PERSON,
    )
    return Curator(counter=counter, budget=StudyBudget(), source=SeededSource(seed))


def measured(made: PeopleSequences, seed: int = 1) -> Any:
    return made.measure(curator(made.ladder, seed), SCENE.hybrid)


@pytest.fixture(scope="module")
def table() -> RecordTable:
    made = mechanism(FOUR, limit=1)
    return made.fit(measured(made), SCENE.hybrid)


def test_records_beyond_the_limit_are_estimated(table: RecordTable) -> None:
    assert len(np.unique(PERSON)) < RECORDS / 3
    assert table.counts.sum() == pytest.approx(RECORDS, rel=0.01)
    assert (table.diagnostics["most_records_looked_at"], table.diagnostics["records"]) == (
        1,
        table.counts.sum(),
    )


def test_errors_of_prefixes_hold_for_all_records(table: RecordTable) -> None:
    short = np.minimum(np.diff(SCENE.start), HEIGHT)
    at = np.repeat(SCENE.start[:-1], short) + np.concatenate([np.arange(n) for n in short])
    start = np.concatenate([[0], np.cumsum(short)])
    true = begun_with(table, start, SCENE.stops[at], np.ones(RECORDS, dtype=np.int64))
    held = np.abs(true - table.prefix_counts) <= 1.96 * table.prefix_errors
    assert len(held) > 100
    assert held.mean() > 0.92


def test_a_fit_follows_from_the_answers_alone(table: RecordTable) -> None:
    made = mechanism(FOUR, limit=1)
    again = made.fit(list(measured(made)), SCENE.hybrid)
    assert np.array_equal(again.counts, table.counts)
    assert np.array_equal(again.prefix_errors, table.prefix_errors)


@pytest.mark.parametrize("budget", [ONE, ZCDPLoss(Fraction(1, 9))], ids=str)
@pytest.mark.parametrize("limit", [None, 1, 5])
def test_all_that_is_asked_costs_the_budget(budget: Loss, limit: int | None) -> None:
    made = mechanism(budget, limit)
    asked = curator(made.ladder, 3)
    answers = made.measure(asked, SCENE.hybrid)
    assert total([event.loss for event in asked.events]) == budget == total(made.losses)
    settled = made.settled(answers)
    announced = settled.events(SCENE.hybrid, Bound.of_records(1))
    assert [replace(one, cells=1) for one in announced] == [
        replace(one, cells=1) for one in asked.events
    ]


def test_the_limit_follows_from_the_noisy_histogram() -> None:
    made = mechanism(ONE)
    few = replace(made, people=(9_000, *(0 for _ in made.ladder[1:])))
    week = made.ladder.index(6)
    many = replace(made, people=tuple(9_000 if at == week else 0 for at in range(len(made.ladder))))
    assert few.limits.cells == 1
    assert not few.limits.asks_left_out
    assert many.limits.cells > 1


def test_a_certificate_gives_the_same_mechanism() -> None:
    made = mechanism(ONE, most=DAYS)
    settled = made.settled(measured(made))
    stated = settled.parameters
    again = certified_people(stated, SCENE.hybrid)
    assert again.parameters == stated
    assert again.limits == settled.limits


@pytest.mark.parametrize(
    "wrong",
    [
        {"people_by_records": [1]},
        {"people_by_records": [True] * 7},
        {"people_by_records": [10**400] * 7},
        {"ladder": []},
        {"ladder": [1, 3, 2, 4, 6, 7, 8]},
        {"ladder": [0, 1, 2, 4, 6, 7, 8]},
        {"limit": 5},
        {"limit": "1"},
    ],
    ids=str,
)
def test_a_certificate_of_no_such_mechanism_is_refused(wrong: dict[str, Any]) -> None:
    stated = replace(mechanism(ONE, most=DAYS), people=(9,) * DAYS).parameters
    with pytest.raises((TypeError, ValueError, ArithmeticError)):
        certified_people(stated | wrong, SCENE.hybrid)


def test_nobody_has_more_records_than_the_window_has_days() -> None:
    assert record_ladder(DAYS, None) == (1, 2, 3, 4, 5, 6, 7, 8)
    assert record_ladder(DAYS, 5) == (1, 2, 3, 4, 5, 6, 7, 8)
    assert record_ladder(None, 9)[7:10] == (8, 9, 10)


def test_noise_that_cannot_be_drawn_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(PrivacyError, match="Laplace scale"):
        mechanism(PureLoss(Fraction(200)))


def test_questions_with_other_limits_are_refused() -> None:
    made = mechanism(ONE)
    with pytest.raises(PrivacyError, match="other cells"):
        made.measure(curator((1, 2), 0), SCENE.hybrid)
