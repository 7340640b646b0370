"""Tables of people: limits follow from a noisy answer, and counts estimate all trips."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hushway.engine.key import BoundingKey
from hushway.families.od.audit.stage import toy_universe
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.learned import with_ends
from hushway.families.od.mechanism.people import CAPS, LearnedPeople, caps_for, certified_people
from hushway.families.od.public.features import period_feature, total_feature
from hushway.families.od.rows.bounding import ArrayCounter
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss, ZCDPLoss, total
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from hushway.release.mechanism import Measurements

CELLS = toy_universe(places=12, periods=4).cells
PEOPLE = 6_000
BOUND = Bound.of_records(8)


def mechanism(limit: int | None = None, epsilon: int = 4) -> LearnedPeople:
    features = with_ends(CELLS, (total_feature(CELLS), period_feature(CELLS)))
    return LearnedPeople(
        universe=CELLS, features=features, budget=PureLoss(Fraction(epsilon)), limit=limit
    )


def capped(*caps: int, limit: int | None = None) -> LearnedPeople:
    return replace(mechanism(limit), budget=ZCDPLoss(Fraction(1, 4)), caps=caps)


def counter(made: LearnedPeople) -> tuple[ArrayCounter, int]:
    """Returns who counts the trips of commuters and others, and how many trips there are."""
    rng = np.random.default_rng(1)
    commuters = rng.binomial(14, 0.7, PEOPLE)
    each = np.where(np.arange(PEOPLE) % 3 == 0, commuters, 1 + rng.geometric(0.5, PEOPLE))
    person = np.repeat(np.arange(PEOPLE), each)
    home = rng.integers(0, 12, PEOPLE)[person]
    away = (home + 1 + rng.integers(0, 3, len(person))) % 12
    columns = {"period": rng.integers(0, 4, len(person)), "origin": home, "destination": away}
    return (
        ArrayCounter(
            cells=CELLS,
            unit=Unit.PERSON,
            max_trips=1,
            ladder=made.ladder,
            caps=made.caps,
            key=BoundingKey.draw(SeededSource(3)),
            person=person,
            **columns,
        ),
        len(person),
    )


def measured(made: LearnedPeople, seed: int = 0) -> tuple[Measurements, Curator, int]:
    counts, trips = counter(made)
    curator = Curator(counter=counts, budget=StudyBudget(), source=SeededSource(seed))
    return made.measure(curator, CELLS), curator, trips


@pytest.mark.parametrize("limit", [None, 1, 3, 5])
def test_counts_estimate_all_trips_whatever_the_limit(limit: int | None) -> None:
    made = mechanism(limit)
    answers, _, trips = measured(made)
    table = made.fit(answers, CELLS)
    assert table.counts.sum() == pytest.approx(trips, rel=0.03)
    whole = table.margins[0]
    assert whole.errors is not None
    assert abs(table.counts.sum() - trips) <= 4 * whole.errors[0]
    settled = made.settled(answers)
    assert settled.limits.cells == (limit or settled.limits.cells) < 10
    assert settled.limits.asks_left_out


def test_errors_hold_in_a_table_of_few_cells_that_noise_hides() -> None:
    """24 cells and 300 trips, with noise of 45 trips in each: rows once said 352 +- 19."""
    held, wholes = [], []
    for seed in range(12):
        table, truth = few_cells(seed)
        off = np.abs(table.counts - truth[table.cells])
        held.append(off <= 1.96 * table.standard_errors)
        assert table.margins[0].errors is not None
        wholes.append(abs(table.counts.sum() - truth.sum()) <= 1.96 * table.margins[0].errors[0])
    assert np.concatenate(held).mean() > 0.9
    assert np.mean(wholes) > 0.9


def few_cells(seed: int) -> tuple[ODTable, np.ndarray]:
    """Returns a table of 200 people with one or two trips each, and the true counts."""
    cells = toy_universe(places=4, periods=2).cells
    features = with_ends(cells, (total_feature(cells), period_feature(cells)))
    made = LearnedPeople(
        universe=cells, features=features, budget=PureLoss(Fraction(1, 20)), limit=None
    )
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(200), 1 + rng.integers(0, 2, 200))
    period, origin = rng.integers(0, 2, len(person)), rng.integers(0, 4, len(person))
    destination = (origin + 1 + rng.integers(0, 3, len(person))) % 4
    counts = ArrayCounter(
        cells=cells,
        unit=Unit.PERSON,
        max_trips=1,
        ladder=made.ladder,
        key=BoundingKey.draw(SeededSource(seed)),
        person=person,
        period=period,
        origin=origin,
        destination=destination,
    )
    curator = Curator(counter=counts, budget=StudyBudget(), source=SeededSource(seed))
    truth = np.bincount(cells.encode(period, origin, destination), minlength=cells.size)
    return made.fit(made.measure(curator, cells), cells), truth


@pytest.mark.parametrize("seed", range(5))
def test_the_budget_is_spent_whatever_the_first_answer_is(seed: int) -> None:
    made = mechanism(epsilon=1)
    answers, curator, _ = measured(made, seed)
    settled = made.settled(answers)
    assert settled.events(CELLS, BOUND) == curator.events
    assert total(event.loss for event in curator.events) == made.budget
    assert total(event.loss for event in made.events(CELLS, BOUND)) == made.budget


def test_a_certificate_gives_the_same_limits_again() -> None:
    made = mechanism()
    settled = made.settled(measured(made)[0])
    again = certified_people(settled.parameters, CELLS, settled.features)
    assert again.limits == settled.limits
    assert again.parameters == settled.parameters
    assert again.events(CELLS, BOUND) == settled.events(CELLS, BOUND)


def test_other_noisy_people_would_be_another_release() -> None:
    made = mechanism()
    settled = made.settled(measured(made)[0])
    assert settled.people is not None
    few = tuple(tuple(value // 1000 for value in one) for one in settled.people)
    other = replace(settled, people=few)
    assert other.events(CELLS, BOUND) != settled.events(CELLS, BOUND)


@pytest.mark.parametrize("wrong", [True, 1.5, "3"])
def test_a_certificate_with_other_things_than_numbers_is_refused(wrong: object) -> None:
    made = mechanism()
    settled = made.settled(measured(made)[0])
    with pytest.raises((TypeError, AttributeError)):
        certified_people({**settled.parameters, "limit": wrong}, CELLS, settled.features)


def test_no_answer_moves_by_more_than_a_person_may() -> None:
    made = mechanism()
    settled = made.settled(measured(made)[0])
    histogram, cells, *others = settled.events(CELLS, BOUND)
    limits = settled.limits
    assert histogram.bound == Bound(cells=1, each=1, total=1)
    assert cells.bound == Bound.of_records(limits.cells)
    features = len(settled.features)
    assert {event.bound.total for event in others[:features]} == {limits.cells}
    whole, *sums = (event.bound.total for event in others[features:])
    assert limits.whole is not None
    assert whole == limits.whole - limits.cells
    assert set(sums) == {limits.sums - limits.cells}


@pytest.mark.parametrize("caps", [(1,), (2,), CAPS])
def test_counts_estimate_all_trips_whatever_the_cap(caps: tuple[int, ...]) -> None:
    made = capped(*caps)
    answers, curator, trips = measured(made)
    table, settled = made.fit(answers, CELLS), made.settled(answers)
    assert table.counts.sum() == pytest.approx(trips, rel=0.05)
    assert settled.limits.cap in caps
    assert settled.events(CELLS, BOUND) == curator.events
    assert total(event.loss for event in curator.events) == made.budget
    again = certified_people(settled.parameters, CELLS, settled.features)
    assert again.parameters == settled.parameters
    assert again.events(CELLS, BOUND) == settled.events(CELLS, BOUND)


def test_noise_of_cells_is_for_the_cap_and_that_of_sums_for_the_limit() -> None:
    made = capped(1, limit=5)
    settled = made.settled(measured(made)[0])
    cells, *others = settled.events(CELLS, BOUND)[settled.cells_event :]
    assert cells.bound == Bound(cells=5, each=1, total=5)
    assert cells.bound.l2_squared == 5
    features = len(settled.features)
    assert {event.bound.l2_squared for event in others[:features]} == {25}
    whole, *sums = (event.bound.total for event in others[features:])
    assert settled.limits.whole is not None
    assert whole == settled.limits.whole - 1
    assert set(sums) == {settled.limits.sums - 1}


def test_a_cap_is_looked_for_only_where_it_makes_noise_smaller() -> None:
    assert caps_for(PureLoss(Fraction(1))) == ()
    assert caps_for(ZCDPLoss(Fraction(1))) == CAPS


def test_other_numbers_of_people_within_caps_would_be_another_release() -> None:
    made = capped(*CAPS)
    settled = made.settled(measured(made)[0])
    assert settled.people is not None
    every, *within = settled.people
    none = tuple((0,) * len(one) for one in within)
    other = replace(settled, people=(every, *none))
    assert other.limits.cap is None
    assert other.events(CELLS, BOUND) != settled.events(CELLS, BOUND)
