"""A mutant is wrong in one thing; in everything else it is the real curator."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.auditing.mutant_curators import (
    EXACT_TOTAL,
    OCCUPIED_CELLS_ONLY,
    PRUNED_EXACTLY,
    REDRAWN_CELLS,
    SEEN_ELEMENTS_ONLY,
    UNCONDITIONAL_CELLS,
    FeatureSensitivityOfOne,
    Meddler,
    ThresholdForEmptyCells,
)
from hushway.auditing.product import blind, remade, unsplit
from hushway.errors import BudgetError, PrivacyError
from hushway.families.od.audit.cbdp import NosyWhole, all_published
from hushway.families.od.audit.fitted import FLAT, LAZY, PERIODS, PLANNED, halves
from hushway.families.od.audit.laplace import low_bits_only
from hushway.families.od.audit.stage import ODProduct, ODStage, Part, Scene, toy_universe
from hushway.families.od.public.feature_structure import groups_of
from hushway.families.od.public.features import total_feature
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.public_facts import public_facts
from hushway.privacy.query import PartitionQuery, Query, WeightedQuery
from hushway.privacy.randomness import os_source

SPEND = PureLoss(Fraction(1, 2))
TOY = toy_universe(places=6, periods=PERIODS)
CELLS = Query(name="cells", cells=TOY.cells)
HALVES = PartitionQuery(name="halves", base=CELLS, cells=halves(TOY.cells))
VISITED = halves(TOY.cells).of(np.arange(TOY.corners, dtype=np.int64))


REAL = ODProduct()
ONE_TRIP: Scene = (Part(),)


def opened(product: ODProduct, scene: Scene = ONE_TRIP, max_trips: int = 3) -> Curator:
    two = PureLoss(Fraction(2))
    return ODStage(product=product, toy=TOY, spend=two, max_trips=max_trips).opened(scene)


def test_noise_for_one_trip_goes_on_features_only() -> None:
    curator = opened(ODProduct(curator=FeatureSensitivityOfOne))
    assert curator.counts(HALVES, SPEND).event.bound == Bound(cells=1, each=1, total=1)
    assert curator.counts(CELLS, SPEND).event.bound == Bound(cells=3, each=3, total=3)


def test_only_a_total_has_no_noise_where_totals_need_none() -> None:
    total = total_feature(TOY.cells)
    everything = PartitionQuery(name="total", base=CELLS, cells=total)
    curator = opened(ODProduct(curator=EXACT_TOTAL))
    assert curator.counts(everything, SPEND).values.tolist() == [TOY.corners]
    # Noise of scale 6 is 0 with probability 1/12: not in all of 60 elements.
    exact = np.bincount(VISITED, minlength=HALVES.cells.size)
    assert curator.counts(HALVES, SPEND).values.tolist() != exact.tolist()


def test_a_threshold_for_empty_cells_falls_where_cells_are_visited() -> None:
    def threshold(product: ODProduct, scene: Scene) -> int | None:
        return opened(product, scene, 1).counts_above(CELLS, 9, SPEND).threshold

    busy = tuple(Part(person=when, period=when) for when in range(1, PERIODS))
    wrong = ODProduct(curator=ThresholdForEmptyCells)
    assert threshold(wrong, ()) == threshold(REAL, busy) == 9
    # An eighth of the cells is left, and ln(8) / (1/2) is between 4 and 5.
    assert threshold(wrong, busy) == 5


def test_people_with_the_same_low_bits_are_one_person_to_a_counter_of_low_bits() -> None:
    stage = ODStage(product=REAL, toy=TOY, spend=SPEND, max_trips=3)
    trips = stage.play((Part(times=3), Part(times=3, period=1, twin=True)))
    for product, kept in ((REAL, 6), (ODProduct(counter=low_bits_only), 3)):
        counter = product.counter(trips, stage, os_source())
        assert counter.count(CELLS).values.sum() == kept * TOY.corners


def test_counts_made_whole_to_the_exact_total_sum_to_it() -> None:
    stage = ODStage(
        product=ODProduct(curator=Meddler, mechanism=remade(NosyWhole)),
        toy=toy_universe(places=3, periods=2, corners=1),
        spend=PureLoss(Fraction(9)),
        form=PLANNED,
    )
    curator = stage.opened(tuple(Part(person=i) for i in range(40)))
    assert all_published(stage, curator).tolist() == [40]


def test_unseen_elements_are_zero_and_cells_are_not() -> None:
    curator = opened(ODProduct(curator=SEEN_ELEMENTS_ONLY))
    values = curator.counts(HALVES, SPEND).values
    assert not np.delete(values, VISITED).any()
    # Noise of scale 6 is 0 with probability 1/12: not in all of 210 empty cells.
    assert curator.counts(CELLS, SPEND).values[TOY.corners :].any()


def test_empty_nodes_are_measured_at_most_at_zero() -> None:
    values = opened(ODProduct(curator=PRUNED_EXACTLY)).counts(HALVES, SPEND).values
    assert np.delete(values, VISITED).max() <= 0
    # A visited one is above 0 nearly every other time: not in none of 30.
    assert values[VISITED].max() > 0


def shown(product: ODProduct) -> tuple[IntArray, IntArray, IntArray]:
    """Returns the cells at two looks from 5 up, and at one from 0 up."""
    groups = groups_of(TOY.cells, FLAT.make(TOY.cells, SPEND).features)
    cells = opened(product).counts_lazily(CELLS, groups, SPEND)
    high, low = (np.full(groups.count, threshold, dtype=np.int64) for threshold in (5, 0))
    first, again, lower = (cells.reveal_groups(each) for each in (high, high, low))
    return first.cells, again.cells, lower.cells[lower.values >= 5]


def test_real_lazy_cells_are_the_same_at_every_look() -> None:
    first, again, lower = shown(REAL)
    assert first.tolist() == again.tolist() == lower.tolist()


# Two independent draws over 240 cells, a fifth of which show, agree by chance less than once in
# 10^30 times; the false alarms here are as rare.
@pytest.mark.parametrize("curator", [REDRAWN_CELLS, UNCONDITIONAL_CELLS])
def test_wrong_lazy_cells_change_between_looks(curator: Callable[..., Curator]) -> None:
    first, again, lower = shown(ODProduct(curator=curator))
    assert not first.tolist() == again.tolist() == lower.tolist()


def test_lazy_cells_from_the_data_are_the_visited_ones() -> None:
    first, _, lower = shown(ODProduct(curator=OCCUPIED_CELLS_ONLY))
    visited = np.arange(TOY.corners)
    assert np.isin(first, visited).all()
    assert np.isin(lower, visited).all()


def test_the_real_budget_stops_a_budget_that_was_not_split() -> None:
    mechanism = unsplit(LAZY.make(TOY.cells, SPEND))
    assert set(mechanism.spends) == {SPEND}
    curator = ODStage(product=REAL, toy=TOY, spend=SPEND).opened(())
    with pytest.raises(BudgetError):
        mechanism.measure(curator, TOY.cells)
    assert len(mechanism.measure(opened(ODProduct(budget=blind)), TOY.cells)) == 3


@public_facts
@dataclass(frozen=True)
class Overlapping:
    """A "partition" that puts each cell into two elements."""

    flat: bool
    name: str = "trips in this element and the next"
    size: int = 9
    digest: str = "two of each"

    def of(self, cells: IntArray) -> IntArray:
        both = np.stack([cells % 8, cells % 8 + 1])
        return both.ravel() if self.flat else both


@pytest.mark.parametrize("flat", [True, False])
def test_a_record_cannot_be_counted_in_two_elements_of_a_feature(*, flat: bool) -> None:
    with pytest.raises(PrivacyError, match="in which of its elements"):
        PartitionQuery(name="overlap", base=CELLS, cells=Overlapping(flat))


def test_sums_that_overlap_are_paid_for_in_noise() -> None:
    cells = np.arange(TOY.cells.size, dtype=np.int64)
    overlapping = WeightedQuery(
        name="overlap",
        base=CELLS,
        cells=Overlapping(flat=True),
        rows=Overlapping(flat=True).of(cells),
        columns=np.tile(cells, 2),
        weights=np.ones(2 * len(cells), dtype=np.int64),
    )
    assert opened(REAL).bound(overlapping).l1 == 2 * opened(REAL).bound(CELLS).l1
