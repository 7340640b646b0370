"""Learnt records: what they cost, what they ask, how near they are, and how sure."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hushway.engine.key import BoundingKey
from hushway.errors import PlanError, PrivacyError
from hushway.families.sequences.city.cards import bus, metro
from hushway.families.sequences.fit.table import RecordTable
from hushway.families.sequences.mechanism.learned import (
    Answers,
    LearnedSequences,
    is_learnable,
    learned_spends,
)
from hushway.families.sequences.mechanism.steps import (
    balanced_grain_shares,
    geometric_shares,
    paper_grain_shares,
    step_spends,
    uniform_shares,
)
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.questions import Asked
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.counter import ArraySequences
from hushway.families.sequences.study.data import SequenceScene, card_scene
from hushway.geography.locations import Location, Locations
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, total
from hushway.privacy.measured import Measured
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from support.sequence_towns import universe_of

HEIGHT = 8
SCENE: SequenceScene = card_scene(metro(11, records=60_000))


def mechanism(budget: Loss, universe: SequenceUniverse = SCENE.hybrid) -> LearnedSequences:
    return LearnedSequences(universe=universe, height=HEIGHT, spends=learned_spends(budget))


def curator(seed: int, scene: SequenceScene = SCENE) -> Curator:
    counter = ArraySequences(
        taxonomy=scene.taxonomy,
        unit=Unit.RECORD,
        max_records=1,
        max_stops=HEIGHT,
        key=BoundingKey.draw(SeededSource(0)),
        start=scene.start,
        stops=scene.stops,
    )
    return Curator(counter=counter, budget=StudyBudget(), source=SeededSource(seed))


def learnt(budget: Loss, seed: int) -> RecordTable:
    made = mechanism(budget)
    return made.fit(made.measure(curator(seed), SCENE.hybrid), SCENE.hybrid)


@pytest.fixture(scope="module")
def table() -> RecordTable:
    return learnt(PureLoss(Fraction(1)), 1)


def true_prefixes(scene: SequenceScene = SCENE) -> dict[tuple[int, ...], int]:
    found: dict[tuple[int, ...], int] = {}
    for begin, end in zip(scene.start[:-1].tolist(), scene.start[1:].tolist(), strict=True):
        record = scene.stops[begin : min(end, begin + HEIGHT)].tolist()
        for stops in range(1, len(record) + 1):
            key = tuple(record[:stops])
            found[key] = found.get(key, 0) + 1
    return found


def prefixes_of(table: RecordTable) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    for parent, place in zip(table.parent.tolist(), table.place.tolist(), strict=True):
        found.append((*(found[parent] if parent >= 0 else ()), place))
    return found


@pytest.mark.parametrize("budget", [PureLoss(Fraction(3, 7)), ZCDPLoss(Fraction(1, 9))], ids=str)
def test_questions_cost_the_budget_together(budget: Loss) -> None:
    made = mechanism(budget)
    assert total(made.losses) == budget
    events = made.events(SCENE.hybrid, Bound.of_records(2))
    assert total([event.loss for event in events]) == budget


def test_what_is_charged_is_what_was_announced_but_for_numbers_of_cells() -> None:
    made, asked = mechanism(PureLoss(Fraction(1))), curator(2)
    made.measure(asked, SCENE.hybrid)
    announced = made.events(SCENE.hybrid, Bound.of_records(1))
    assert [(one.query, one.bound, one.loss) for one in asked.events] == [
        (one.query, one.bound, one.loss) for one in announced
    ]


def test_a_fit_depends_on_answers_alone(table: RecordTable) -> None:
    made = mechanism(PureLoss(Fraction(1)))
    measured = made.measure(curator(1), SCENE.hybrid)
    # Without what was predicted on the way, as somebody would who has only the answers.
    again = made.fit([one for one in measured if isinstance(one, Measured)], SCENE.hybrid)
    assert np.array_equal(again.counts, table.counts)
    assert np.array_equal(again.stops, table.stops)
    assert np.array_equal(again.prefix_errors, table.prefix_errors)


def test_records_are_about_as_many_and_as_long_as_they_were(table: RecordTable) -> None:
    records = len(SCENE.start) - 1
    assert table.counts.sum() == pytest.approx(records, rel=0.01)
    true = np.bincount(np.minimum(np.diff(SCENE.start), HEIGHT), minlength=HEIGHT + 1)
    found = np.bincount(np.diff(table.start), table.counts, HEIGHT + 1)
    assert np.abs(found - true).sum() / records < 0.03


def test_published_prefixes_are_real_and_within_their_errors(table: RecordTable) -> None:
    true = true_prefixes()
    prefixes = prefixes_of(table)
    exact = np.array([true.get(prefix, 0) for prefix in prefixes])
    assert len(prefixes) > 1000
    assert np.mean(exact == 0) < 0.05
    inside = np.abs(table.prefix_counts - exact) <= 1.96 * table.prefix_errors
    assert 0.93 <= np.mean(inside) <= 0.99


def test_gaussian_noise_is_learnt_from_as_well() -> None:
    table = learnt(ZCDPLoss(Fraction(1, 10)), 3)
    assert table.counts.sum() == pytest.approx(len(SCENE.start) - 1, rel=0.02)
    assert len(table.parent) > 500


def test_a_city_without_records_is_published_as_one() -> None:
    universe = SCENE.hybrid
    empty = ArraySequences(
        taxonomy=SCENE.taxonomy,
        unit=Unit.RECORD,
        max_records=1,
        max_stops=HEIGHT,
        key=BoundingKey.draw(SeededSource(0)),
        start=np.zeros(1, dtype=np.int64),
        stops=np.empty(0, dtype=np.int64),
    )
    made = mechanism(PureLoss(Fraction(1)))
    for seed in range(5):
        asked = Curator(counter=empty, budget=StudyBudget(), source=SeededSource(seed))
        table = made.fit(made.measure(asked, universe), universe)
        assert table.counts.sum() < 2000
        assert len(table.parent) < 20


def test_what_cannot_be_learnt_is_refused_with_a_way_out() -> None:
    many = Locations(
        tuple(Location(id=str(i), name="", lon=0.0, lat=0.0, zone="") for i in range(4097))
    )
    universe = SequenceUniverse(taxonomy=Taxonomy(locations=many))
    assert not is_learnable(universe, HEIGHT)
    assert not is_learnable(SCENE.hybrid, 2)
    with pytest.raises(PlanError, match="4,096 places") as caught:
        mechanism(PureLoss(Fraction(1)), universe)
    assert "prefix_tree" in str(caught.value.advice)


def test_a_budget_whose_own_noise_cannot_be_drawn_is_spent_in_parts() -> None:
    table = learnt(PureLoss(Fraction(150)), 1)
    assert table.counts.sum() == pytest.approx(len(SCENE.start) - 1, abs=30)


def test_noise_that_cannot_be_drawn_is_refused_before_anything_is_spent() -> None:
    asked = curator(1)
    with pytest.raises(PrivacyError, match="Laplace scale"):
        mechanism(PureLoss(Fraction(400))).measure(asked, SCENE.hybrid)
    assert not asked.events


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), *map(Fraction, (1, 4, 20))], ids=str)
def test_sums_over_records_are_what_was_measured(epsilon: Fraction) -> None:
    """Their number to a record, and all sums within 2.5 errors; no sum is below 0."""
    made = mechanism(PureLoss(epsilon))
    apart = []
    for seed in range(3):
        measured = made.measure(curator(seed), SCENE.hybrid)
        assert isinstance(measured, Answers)
        assert measured.found is not None
        asked = measured.found.known.answers
        table = made.fit(measured, SCENE.hybrid)
        records = asked[Asked.LENGTHS].values.sum()
        assert table.counts.sum() == pytest.approx(records, abs=1)
        first, last = table.stops[table.start[:-1]], table.stops[table.start[1:] - 1]
        length = np.diff(table.start) - 1
        for one, cell in ((Asked.LENGTHS, length), (Asked.FIRSTS, first), (Asked.LASTS, last)):
            answer = asked[one]
            found = np.bincount(cell, table.counts, len(answer.values))
            error = answer.noise.variance**0.5
            apart.append(np.abs(found - np.maximum(answer.values, 0.0)) / error)
    assert np.mean(np.concatenate(apart) <= 2.5) >= 0.99


@pytest.mark.long
def test_no_more_than_one_prefix_in_fifty_was_made_by_nobody() -> None:
    """Many pairs of places and little budget: some noise is as large as a busy pair."""
    scene = card_scene(bus(11, records=200_000))
    true = true_prefixes(scene)
    for seed in range(20):
        made = mechanism(PureLoss(Fraction(1, 10)), scene.hybrid)
        table = made.fit(made.measure(curator(seed, scene), scene.hybrid), scene.hybrid)
        exact = [true.get(prefix, 0) for prefix in prefixes_of(table)]
        assert len(exact) > 200
        assert np.mean(np.array(exact) == 0) < 0.02


def test_every_question_has_a_price() -> None:
    with pytest.raises(PrivacyError, match="one spend for each question"):
        LearnedSequences(universe=SCENE.hybrid, height=HEIGHT, spends=(PureLoss(Fraction(1)),))


def test_uniform_shares_are_the_papers() -> None:
    assert uniform_shares(12) == (Fraction(1, 12),) * 12


@pytest.mark.parametrize("ratio", [Fraction(1, 3), Fraction(1), Fraction(7, 5), Fraction(10)])
@pytest.mark.parametrize("height", [1, 2, 7, 40])
def test_geometric_shares_are_positive_and_add_up_exactly(height: int, ratio: Fraction) -> None:
    shares = geometric_shares(height, ratio=ratio)
    assert sum(shares) == 1
    assert min(shares) > 0
    assert list(shares) == sorted(shares, reverse=ratio < 1)


def test_geometric_shares_grow_by_their_ratio() -> None:
    shares = geometric_shares(4, ratio=Fraction(2))
    assert [float(s) for s in shares] == pytest.approx([1 / 15, 2 / 15, 4 / 15, 8 / 15], abs=2e-6)


@pytest.mark.parametrize(("height", "ratio"), [(0, Fraction(1)), (3, Fraction(0))])
def test_a_tree_without_stops_or_without_shares_is_refused(height: int, ratio: Fraction) -> None:
    with pytest.raises(PlanError, match="at least one stop"):
        geometric_shares(height, ratio=ratio)


def test_without_groups_a_stop_is_one_step() -> None:
    assert paper_grain_shares(universe_of(5).taxonomy) == (1,)


def test_groups_get_two_over_their_fan_out() -> None:
    taxonomy = universe_of(40, [i // 20 for i in range(40)]).taxonomy
    assert paper_grain_shares(taxonomy) == (Fraction(1, 10), Fraction(9, 10))


@pytest.mark.parametrize("members", [1, 2, 3, 4])
def test_groups_of_few_locations_get_half_and_no_more(members: int) -> None:
    taxonomy = universe_of(12, [i // members for i in range(12)]).taxonomy
    assert paper_grain_shares(taxonomy) == (Fraction(1, 2), Fraction(1, 2))


def test_each_level_takes_its_part_of_what_is_left() -> None:
    zones, lines = [i // 40 for i in range(80)], [i // 8 for i in range(80)]
    taxonomy = universe_of(80, zones, lines).taxonomy
    # Two zones of five lines: 2/5. Ten lines of eight stops: 1/4 of the other 3/5.
    assert paper_grain_shares(taxonomy) == (Fraction(2, 5), Fraction(3, 20), Fraction(9, 20))


def test_shares_of_an_uneven_fan_out_are_whole_millionths() -> None:
    shares = paper_grain_shares(universe_of(17, [i % 3 for i in range(17)]).taxonomy)
    assert shares == (Fraction(352941, 10**6), Fraction(647059, 10**6))


def test_balanced_shares_go_as_the_logarithm_of_the_candidates() -> None:
    taxonomy = universe_of(68, [i // 17 for i in range(68)]).taxonomy
    groups, places = balanced_grain_shares(taxonomy)
    assert groups + places == 1
    assert float(groups / places) == pytest.approx(math.log(1 + 4) / math.log(1 + 17), abs=1e-5)


@pytest.mark.parametrize("moments", [1, 24])
def test_balanced_shares_leave_half_to_the_locations(moments: int) -> None:
    lines, zones = [i // 2 for i in range(80)], [i // 40 for i in range(80)]
    shares = balanced_grain_shares(universe_of(80, zones, lines).taxonomy, moments=moments)
    assert len(shares) == 3
    assert sum(shares) == 1
    assert float(shares[-1]) == pytest.approx(0.5, abs=2e-6)


def test_without_groups_balanced_shares_are_one() -> None:
    assert balanced_grain_shares(universe_of(5).taxonomy, moments=24) == (1,)


@pytest.mark.parametrize("budget", [PureLoss(Fraction(7, 11)), ZCDPLoss(Fraction(1, 13))])
def test_spends_add_up_to_the_budget_exactly(budget: PureLoss | ZCDPLoss) -> None:
    grains = paper_grain_shares(universe_of(17, [i % 3 for i in range(17)]).taxonomy)
    spends = step_spends(budget, geometric_shares(9, ratio=Fraction(6, 5)), grains)
    assert len(spends) == 18
    assert total(spends) == budget


@pytest.mark.parametrize("shares", [(), (Fraction(1, 2),), (Fraction(3, 2), Fraction(-1, 2))])
def test_shares_that_do_not_add_up_are_refused(shares: tuple[Fraction, ...]) -> None:
    with pytest.raises(PlanError, match="add up to exactly 1"):
        step_spends(PureLoss(Fraction(1)), shares, (Fraction(1),))
