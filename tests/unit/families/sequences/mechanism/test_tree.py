import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from hushway.errors import PlanError, PrivacyError
from hushway.families.sequences.fit.table import SequenceTable
from hushway.families.sequences.mechanism.steps import (
    ExpectedFalse,
    PaperThresholds,
    StepShape,
    geometric_shares,
)
from hushway.families.sequences.mechanism.tree import PrefixTree, prefix_tree
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import expected_above, noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, total
from hushway.privacy.measured import MeasuredSparse
from hushway.privacy.randomness import SeededSource
from support.sequence_towns import Town, universe_of

EPSILON = PureLoss(Fraction(1))
BOUND = Bound(cells=1, each=1, total=1)
# At a scale of 1/50 noise other than 0 has a chance of 4e-22.
PER_STEP = 50
HALVES = (Fraction(1, 2), Fraction(1, 2))


def loud(universe: SequenceUniverse, height: int) -> PrefixTree:
    """A tree with so much budget that noise does not show."""
    grains = universe.taxonomy.grains
    spend = PureLoss(Fraction(PER_STEP))
    return PrefixTree(
        universe=universe, spends=(spend,) * (grains * height), thresholds=PaperThresholds()
    )


def at_no_time(*sequences: Sequence[int]) -> list[list[tuple[int, int]]]:
    return [[(0, place) for place in sequence] for sequence in sequences]


def publish(tree: PrefixTree, town: Any, seed: int = 4) -> SequenceTable:
    curator = Curator(counter=town, budget=town, source=SeededSource(seed))
    return tree.fit(tree.measure(curator, tree.universe), tree.universe)


def published(table: SequenceTable) -> Counter[tuple[tuple[int, int], ...]]:
    """The published sequences as (period, location), with their counts."""
    nodes, start, stops = table.paths()
    places = table.taxonomy.location_of(table.code[stops])
    found: Counter[tuple[tuple[int, int], ...]] = Counter()
    for i, node in enumerate(nodes):
        here = slice(start[i], start[i + 1])
        periods = table.period[stops[here]].tolist()
        found[tuple(zip(periods, places[here].tolist(), strict=True))] += int(table.ends[node])
    return found


def some_records(seed: int, locations: int, hours: int, count: int) -> list[list[tuple[int, int]]]:
    """Records of 1 to 6 stops, all at locations that repeat often, in time order."""
    rng = np.random.default_rng(seed)
    records = []
    for _ in range(count):
        stops = int(rng.integers(1, 7))
        places = rng.integers(0, locations, size=stops) // rng.integers(1, 3)
        periods = np.sort(rng.integers(0, hours, size=stops))
        records.append(list(zip(periods.tolist(), places.tolist(), strict=True)))
    return records


LEVELS: dict[str, tuple[list[int], ...]] = {
    "simple": (),
    "one level, uneven": ([1, 0, 1, 2, 0, 1, 1],),
    "two levels": ([0, 1, 0, 1, 1, 0, 1], [3, 0, 2, 4, 0, 3, 1]),
    "one group only": ([0] * 7,),
    "every place its own group": (list(range(7)),),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("hours", [0, 4])
@pytest.mark.parametrize("levels", LEVELS.values(), ids=LEVELS.keys())
def test_with_a_large_budget_the_release_is_the_truth(
    levels: tuple[list[int], ...], hours: int
) -> None:
    universe = universe_of(7, *levels, hours=hours)
    records = some_records(2, 7, max(1, hours), 150)
    table = publish(loud(universe, 6), Town(records))
    assert published(table) == Counter(map(tuple, records))
    assert table.diagnostics["stopped"] == "height"


def test_records_longer_than_the_tree_end_at_its_height(hybrid: SequenceUniverse) -> None:
    table = publish(loud(hybrid, 1), Town(at_no_time([3, 1, 2], [3], [0, 0])))
    assert published(table) == {((0, 3),): 2, ((0, 0),): 1}


def test_nobody_s_records_make_an_empty_tree_and_the_rest_is_not_spent(
    hybrid: SequenceUniverse,
) -> None:
    town = Town([])
    tree = loud(hybrid, 4)
    table = publish(tree, town)
    assert published(table) == {}
    assert len(table.counts) == 0
    assert tuple(event.loss for event in town.charged) == tree.losses[:1]
    assert table.diagnostics["stopped"] == "nothing_kept"


def test_a_tree_stops_when_no_record_goes_on(hybrid: SequenceUniverse) -> None:
    town = Town(at_no_time([3, 1], [3, 1], [5]))
    tree = loud(hybrid, 9)
    table = publish(tree, town)
    # Two steps for each of two stops, and one that finds nothing.
    assert len(town.charged) == len(table.steps) == 5
    assert tuple(event.loss for event in town.charged) == tree.losses[:5]
    assert table.diagnostics["steps_planned"] == 18
    assert published(table) == {((0, 3), (0, 1)): 2, ((0, 5),): 1}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("budget", [EPSILON, ZCDPLoss(Fraction(1, 3))], ids=str)
@pytest.mark.parametrize("most", [1, 4])
def test_the_published_tree_is_whole_and_consistent(
    budget: Loss, most: int, hybrid: SequenceUniverse
) -> None:
    records = some_records(5, 7, 1, 1000)
    tree = prefix_tree(hybrid, budget=budget, height=4)
    table = publish(tree, Town(records, most=most))
    inner = table.parent >= 0
    children = np.zeros(len(table.counts), dtype=np.int64)
    np.add.at(children, table.parent[inner], table.counts[inner])
    assert len(table.counts) > 10
    assert table.counts.dtype == table.ends.dtype == np.int64
    assert np.all(table.counts >= children)
    assert np.all(table.counts >= 0)
    assert np.all(table.ends >= 0)
    prefixes = table.grains == 1
    assert not table.ends[~prefixes].any()
    first_stops = prefixes & (np.array([s.stop for s in table.steps])[table.step] == 0)
    assert table.ends.sum() == table.counts[first_stops].sum()


def test_every_node_reaches_its_threshold_and_stands_after_its_parent(
    hybrid: SequenceUniverse,
) -> None:
    tree = prefix_tree(hybrid, budget=EPSILON, height=3)
    table = publish(tree, Town(some_records(8, 7, 1, 900)))
    thresholds = np.array([step.threshold for step in table.steps])
    assert np.all(table.measured >= thresholds[table.step])
    assert np.all(table.parent < np.arange(len(table.parent)))
    inner = table.parent >= 0
    assert np.array_equal(table.step[inner] - 1, table.step[table.parent[inner]])
    assert np.bincount(table.step).tolist() == [step.kept for step in table.steps]


def test_a_prefix_that_nobody_took_can_appear() -> None:
    tree = prefix_tree(
        universe_of(7),
        budget=EPSILON,
        height=2,
        thresholds=ExpectedFalse(expected_false_prefixes=0.9),
    )
    records = at_no_time(*([[0, 0]] * 400))
    taken = {((0, 0),), ((0, 0), (0, 0))}
    invented = set().union(*(published(publish(tree, Town(records), seed)) for seed in range(9)))
    assert {len(sequence) for sequence in invented - taken} == {1, 2}


def test_published_periods_never_go_back() -> None:
    universe = universe_of(7, [1, 0, 1, 2, 0, 1, 1], hours=5)
    tree = prefix_tree(
        universe,
        budget=PureLoss(Fraction(2)),
        height=4,
        thresholds=ExpectedFalse(expected_false_prefixes=0.9),
    )
    table = publish(tree, Town(some_records(9, 7, 5, 1500)))
    inner = table.parent >= 0
    assert np.count_nonzero(inner) > 50
    assert np.all(table.period[inner] >= table.period[table.parent[inner]])
    assert len(np.unique(table.period)) == 5


@pytest.mark.parametrize("height", [1, 5])
def test_the_price_is_the_budget(height: int, hybrid: SequenceUniverse) -> None:
    budget = PureLoss(Fraction(7, 9))
    tree = prefix_tree(hybrid, budget=budget, height=height)
    assert total(tree.losses) == budget
    assert tree.height == height


@pytest.mark.parametrize("budget", [EPSILON, ZCDPLoss(Fraction(1, 3))], ids=str)
def test_what_is_charged_is_a_beginning_of_what_was_announced(
    budget: Loss, hybrid: SequenceUniverse
) -> None:
    town = Town(some_records(1, 7, 1, 500))
    tree = prefix_tree(hybrid, budget=budget, height=5)
    publish(tree, town)
    planned = tree.events(hybrid, BOUND)
    assert tuple(event.loss for event in planned) == tree.losses
    assert len(town.charged) > 2
    alike = [replace(event, cells=1) for event in town.charged]
    assert alike == [replace(event, cells=1) for event in planned[: len(alike)]]
    assert planned[0] == town.charged[0]


def test_announced_cells_are_the_candidates_of_one_prefix() -> None:
    universe = universe_of(7, *LEVELS["two levels"], hours=3)
    planned = prefix_tree(universe, budget=EPSILON, height=2).events(universe, BOUND)
    assert [event.cells for event in planned] == [6, 15, 21, 6, 15, 21]


def test_a_tree_whose_false_nodes_multiply_is_refused_before_anything_is_paid() -> None:
    universe = universe_of(40)
    # Two deviations let exp(-2 sqrt 2)/2 of the empty candidates pass: 1.18 of 40.
    tree = prefix_tree(universe, budget=EPSILON, height=3, thresholds=PaperThresholds())
    town = Town(some_records(1, 40, 1, 50))
    with pytest.raises(PrivacyError, match=r"would have 1\.1\d such prefixes"):
        publish(tree, town)
    with pytest.raises(PrivacyError, match="grow without end"):
        tree.events(universe, BOUND)
    assert town.charged == []
    assert town.counted == 0


def test_groups_or_few_locations_keep_the_paper_s_thresholds_from_multiplying() -> None:
    for universe in (universe_of(40, [i // 8 for i in range(40)]), universe_of(30)):
        tree = prefix_tree(universe, budget=EPSILON, height=3, thresholds=PaperThresholds())
        assert len(tree.events(universe, BOUND)) == 3 * universe.taxonomy.grains


def test_a_multiplying_tree_that_is_allowed_stops_at_its_most_nodes() -> None:
    universe = universe_of(400)
    tree = prefix_tree(
        universe,
        budget=EPSILON,
        height=6,
        thresholds=PaperThresholds(),
        most_nodes=500,
        supercritical=True,
    )
    town = Town([])
    table = publish(tree, town)
    # About 12 false children each: 12, then 140, and 1600 would be too many.
    assert [step.stop for step in table.steps] == [0, 1]
    assert len(town.charged) == 2
    assert len(table.counts) < 500
    assert table.diagnostics["stopped"] == "too_many_nodes"


def test_a_step_from_too_many_nodes_is_not_taken() -> None:
    tree = replace(loud(universe_of(9), 3), most_nodes=3)
    town = Town(at_no_time(*([i, i, i] for i in range(9))))
    table = publish(tree, town)
    assert [step.kept for step in table.steps] == [9]
    assert len(town.charged) == 1


def test_a_tree_of_another_universe_is_refused() -> None:
    tree = prefix_tree(universe_of(5), budget=EPSILON, height=2)
    town = Town([])
    curator = Curator(counter=town, budget=town, source=SeededSource(1))
    with pytest.raises(PrivacyError, match="other places, groups or periods"):
        tree.measure(curator, universe_of(5, hours=2))
    assert town.charged == []


def test_spends_that_do_not_fit_the_steps_are_refused(hybrid: SequenceUniverse) -> None:
    one, other = PureLoss(Fraction(1)), ZCDPLoss(Fraction(1))
    for spends in ((), (one,) * 3, (one, other)):
        with pytest.raises(PrivacyError, match="one spend for each granularity"):
            PrefixTree(universe=hybrid, spends=spends, thresholds=PaperThresholds())
    with pytest.raises(PrivacyError, match="at least one node"):
        replace(loud(hybrid, 2), most_nodes=0)
    with pytest.raises(
        PlanError, match="3 stops and 2 granularities needs a share for each; 2 and 2"
    ):
        prefix_tree(
            hybrid, budget=one, height=3, level_shares=geometric_shares(2, ratio=Fraction(2))
        )


def test_the_forecast_names_each_run_of_stops_with_the_same_noise(hybrid: SequenceUniverse) -> None:
    shares = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    tree = prefix_tree(hybrid, budget=EPSILON, height=3, level_shares=shares, grain_shares=HALVES)
    forecasts = tree.forecast(hybrid, BOUND)
    assert [forecast.figure for forecast in forecasts] == [
        "one prefix up to the level0 of stop 1",
        "one prefix up to the level0 of stop 2 to 3",
        "one prefix up to the place of stop 1",
        "one prefix up to the place of stop 2 to 3",
    ]
    errors = [forecast.standard_error for forecast in forecasts]
    # Half of half the budget, and half of a quarter: scales of 4 and 8.
    assert errors == pytest.approx([4 * 2**0.5, 8 * 2**0.5] * 2, rel=0.01)


def test_its_parameters_can_stand_in_a_certificate(hybrid: SequenceUniverse) -> None:
    tree = prefix_tree(hybrid, budget=EPSILON, height=2, level_shares=HALVES, grain_shares=HALVES)
    parameters = tree.parameters
    assert json.loads(json.dumps(parameters)) == parameters
    assert parameters["granularities"] == ["level0", "place"]
    assert parameters["spends"] == ["1/4"] * 4


def test_the_tree_grows_below_what_it_kept_and_nowhere_else(hybrid: SequenceUniverse) -> None:
    town = Town(some_records(3, 7, 1, 500))
    tree = prefix_tree(hybrid, budget=EPSILON, height=4)
    curator = Curator(counter=town, budget=town, source=SeededSource(12))
    measured = [m for m in tree.measure(curator, hybrid) if isinstance(m, MeasuredSparse)]
    assert len(measured) > 2
    for above, below in pairwise(measured):
        assert np.array_equal(below.query.cells.kept, above.reveal().cells)  # type: ignore[attr-defined]
        assert below.query.cells.above is above.query.cells  # type: ignore[attr-defined]


GROUP = StepShape(candidates=60, parents=1, group=True)
PLACE = StepShape(candidates=944, parents=60, group=False)


def bound_of(most: int) -> Bound:
    return Bound(cells=most, each=most, total=most)


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("epsilon", ["1/12", "0.0123", "2"])
def test_the_paper_s_thresholds_are_four_and_two_deviations(epsilon: str, most: int) -> None:
    spend = PureLoss(Fraction(epsilon))
    scale = most / float(spend.epsilon)
    rule, bound = PaperThresholds(), bound_of(most)
    assert rule.threshold(GROUP, spend, bound) == math.ceil(4 * math.sqrt(2) * scale)
    assert rule.threshold(PLACE, spend, bound) == math.ceil(2 * math.sqrt(2) * scale)


def test_with_gaussian_noise_they_are_four_and_two_sigma() -> None:
    spend, bound = ZCDPLoss(Fraction(1, 200)), bound_of(2)
    sigma = math.sqrt(4 * 100)
    assert PaperThresholds().threshold(GROUP, spend, bound) == 4 * sigma
    assert PaperThresholds().threshold(PLACE, spend, bound) == 2 * sigma


def test_a_threshold_is_never_below_one() -> None:
    spend = PureLoss(Fraction(50))
    assert PaperThresholds().threshold(PLACE, spend, bound_of(1)) == 1
    assert ExpectedFalse(expected_false_prefixes=0.5).threshold(PLACE, spend, bound_of(1)) == 1


@pytest.mark.parametrize("expected_false_prefixes", [0.01, 0.5, 0.99])
@pytest.mark.parametrize("shape", [GROUP, PLACE])
@pytest.mark.parametrize("spend", [PureLoss(Fraction(1, 9)), ZCDPLoss(Fraction(1, 300))], ids=str)
def test_expected_false_gives_the_lowest_threshold_that_few_empty_candidates_pass(
    spend: Loss, shape: StepShape, expected_false_prefixes: float
) -> None:
    bound = bound_of(2)
    law = noise_for(spend, bound)
    threshold = ExpectedFalse(expected_false_prefixes=expected_false_prefixes).threshold(
        shape, spend, bound
    )
    each = shape.candidates / shape.parents
    assert each * expected_above(law, 1, threshold) <= expected_false_prefixes
    assert each * expected_above(law, 1, threshold - 1) > expected_false_prefixes


def test_expected_false_follows_the_closed_form_of_laplace_noise() -> None:
    ratio = math.exp(-1 / 9)
    wanted = math.ceil(math.log(944 / 60 / (0.1 * (1 + ratio))) * 9)
    found = ExpectedFalse(expected_false_prefixes=0.1).threshold(
        PLACE, PureLoss(Fraction(1, 9)), bound_of(1)
    )
    assert found == wanted


@pytest.mark.parametrize("expected_false_prefixes", [0.0, -1.0, 1.0, math.nan])
def test_kappa_must_keep_false_nodes_from_multiplying(expected_false_prefixes: float) -> None:
    with pytest.raises(PlanError, match="between 0 and 1"):
        ExpectedFalse(expected_false_prefixes=expected_false_prefixes)
