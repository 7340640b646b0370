"""A mutant is wrong in one thing; in everything else it is the real product."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.auditing.product import Product, blind, exact_values, unsplit
from hushway.errors import BudgetError
from hushway.families.density.audit.stage import (
    CELLS,
    LONE_SITES,
    SHARED,
    DensityStage,
    Stay,
    Stays,
    district,
    plain,
)
from hushway.families.density.audit.suite import SUITE, HalfTheNoise, four_times_the_series
from hushway.families.density.audit.whole import merged, other_clusters
from hushway.families.density.mechanism.series import DensitySeries, density_series
from hushway.families.density.public.visits import (
    PERSON_PARTS,
    ActivityHistogram,
    ClusterSeries,
    ClusterTotals,
    SiteHistogram,
    VisitCells,
    VisitLimits,
    VisitTotal,
)
from hushway.privacy.loss import Loss, ZCDPLoss
from hushway.privacy.query import Query
from hushway.privacy.randomness import os_source

REAL = Product()
PLANTED = {mutant.name: mutant.product for mutant in SUITE.mutants}
DISTRICT = district(corners=2, bins=6)
UNIVERSE = DISTRICT.universe
LIMITS = VisitLimits(max_visits=3, max_visits_in_total=5)
# The noise is far below a person or a visit.
PLENTY = ZCDPLoss(Fraction(2000))
HISTOGRAM = SiteHistogram(universe=UNIVERSE)
TOTAL = VisitTotal(universe=UNIVERSE)
SERIES = plain(LIMITS, PLENTY).series(UNIVERSE, DISTRICT.every_cell)
QUANTA = SERIES.quanta
RESTLESS = tuple(Stay(site=site, bin=when) for site in (0, 1) for when in range(6))


def planned(limits: VisitLimits, spend: Loss) -> DensitySeries:
    return density_series(limits, budget=spend, cluster_error=0.5)


def stage(product: Product, spend: Loss = PLENTY) -> DensityStage:
    return DensityStage(
        product=product, district=DISTRICT, limits=LIMITS, spend=spend, make=planned
    )


def counts(product: Product, cells: VisitCells, scene: Stays) -> IntArray:
    place = stage(product)
    counter = product.counter(place.play(scene), place, os_source())
    return exact_values(counter, Query(name=cells.name, cells=cells))


def first_corner(product: Product, scene: tuple[Stay, ...]) -> IntArray:
    first: IntArray = DISTRICT.series_by_corner(counts(product, SERIES, scene))[0]
    return first


def test_the_real_product_keeps_to_all_limits() -> None:
    assert first_corner(REAL, RESTLESS).sum() == 3 * QUANTA
    assert first_corner(REAL, RESTLESS).max() == QUANTA
    assert counts(REAL, HISTOGRAM, RESTLESS).sum() == DISTRICT.corners * PERSON_PARTS
    assert counts(REAL, TOTAL, RESTLESS).tolist() == [5 * DISTRICT.corners]


@pytest.mark.parametrize(
    ("cells", "squares"), [(SERIES, QUANTA**2), (HISTOGRAM, PERSON_PARTS**2), (TOTAL, 25)]
)
def test_only_the_bound_of_the_series_is_wrong_without_sensitivity(
    cells: VisitCells, squares: int
) -> None:
    product = PLANTED["sensitivity 1 instead of the root of l"]
    bound = stage(product).opened(()).bound(Query(name=cells.name, cells=cells))
    assert bound.l2_squared == squares
    assert first_corner(product, RESTLESS).sum() == 3 * QUANTA


def test_without_a_cap_every_bin_counts() -> None:
    product = PLANTED["no contribution limit"]
    assert first_corner(product, RESTLESS)[0].tolist() == [QUANTA] * 6
    assert counts(product, TOTAL, RESTLESS).tolist() == [10]


def test_a_cap_that_holds_day_by_day_keeps_as_many_of_every_day() -> None:
    days = district(corners=1, bins=4, days=3)
    place = replace(stage(REAL), district=days)
    cells = plain(LIMITS, PLENTY).series(days.universe, days.every_cell)
    query = Query(name=cells.name, cells=cells)
    rows = place.play(tuple(Stay(site=0, bin=when) for when in range(12)))
    for product, kept in ((REAL, 3), (PLANTED["a contribution limit that holds day by day"], 9)):
        exact = product.counter(rows, place, os_source()).count(query)
        assert exact.values.sum() == kept * QUANTA


def test_only_the_bound_of_totals_is_wrong_if_they_are_bounded_like_series() -> None:
    totals = ClusterTotals(universe=UNIVERSE, cluster=DISTRICT.every_cell, quanta=8)
    real = stage(REAL).opened(())
    wrong = stage(PLANTED["totals of cells bounded like series"]).opened(())
    query = Query(name="totals", cells=totals)
    assert real.bound(query).l2_squared == (3 * 8) ** 2
    assert wrong.bound(query).l2_squared == 3 * 8**2
    series = Query(name="series", cells=SERIES)
    assert wrong.bound(series) == real.bound(series)


def test_half_the_noise_is_in_one_question_only_and_nobody_says_so() -> None:
    spend = ZCDPLoss(Fraction(1, 100))
    product = Product(curator=partial(HalfTheNoise, ClusterSeries))

    def spread(product: Product, cells: VisitCells) -> float:
        place = stage(product, ZCDPLoss(Fraction(1)))
        curator, query = place.opened(()), Query(name=cells.name, cells=cells)
        answers = [curator.counts(query, spend) for _ in range(40)]
        assert {answer.event.loss for answer in answers} == {spend}
        return float(np.concatenate([answer.values for answer in answers]).std())

    # A ratio of 1/2 or of 1, from a thousand draws each: 2/3 lies ten standard errors from both.
    assert spread(product, SERIES) < 0.67 * spread(REAL, SERIES)
    assert spread(product, HISTOGRAM) > 0.67 * spread(REAL, HISTOGRAM)


def test_a_nosy_scale_hands_on_the_exact_total_and_nothing_else_exactly() -> None:
    little = ZCDPLoss(Fraction(1, 10_000))
    place = stage(PLANTED["a scale from the exact number of visits"], little)
    for _ in range(5):
        answers = place.mechanism.measure(place.opened(RESTLESS), UNIVERSE)
        told = {type(answer.query.cells): answer.values for answer in answers}
        assert told[VisitTotal].tolist() == [5 * DISTRICT.corners]
        # Sigma is in the hundreds: all sites are right less than once in 10^40 times.
        assert told[SiteHistogram].tolist() != counts(REAL, HISTOGRAM, RESTLESS).tolist()


def test_four_times_the_rho_for_the_series_is_stated_and_refused_by_the_real_purse() -> None:
    place = stage(Product(mechanism=four_times_the_series))
    paid = stage(REAL).mechanism.spends.series.amount
    assert place.mechanism.spends.series.amount == 4 * paid
    with pytest.raises(BudgetError):
        place.mechanism.measure(place.opened(RESTLESS), UNIVERSE)


def test_without_a_cut_off_all_visits_are_in_the_total() -> None:
    product = PLANTED["a total that is not cut off"]
    assert counts(product, TOTAL, RESTLESS).tolist() == [24]
    assert first_corner(product, RESTLESS).sum() == 3 * QUANTA


def test_a_person_can_be_at_several_sites_of_a_bin_by_mistake() -> None:
    scene = (Stay(site=0, bin=0), Stay(site=1, bin=0))
    assert first_corner(PLANTED["several visits in one period"], scene)[0, 0] == 2 * QUANTA
    assert first_corner(REAL, scene)[0, 0] == QUANTA


def test_a_histogram_of_all_visits_has_one_of_every_bin() -> None:
    product = PLANTED["a histogram of all visits"]
    assert counts(product, HISTOGRAM, RESTLESS[:6])[0] == 6 * PERSON_PARTS
    assert counts(product, TOTAL, RESTLESS[:6]).tolist() == [10]


def test_a_person_can_be_whole_at_every_site_by_mistake() -> None:
    scene = tuple(Stay(site=site, bin=0) for site in LONE_SITES)
    everybody = DISTRICT.corners * PERSON_PARTS
    assert counts(REAL, HISTOGRAM, scene).sum() == everybody
    wrong = counts(PLANTED["a person whole at every site"], HISTOGRAM, scene)
    assert wrong.sum() == len(LONE_SITES) * everybody
    assert set(wrong[wrong > 0].tolist()) == {PERSON_PARTS}


def test_a_busy_person_can_be_in_every_circle_by_mistake() -> None:
    circles = SiteHistogram(universe=UNIVERSE, circles=LIMITS.circles)
    everybody = DISTRICT.corners * PERSON_PARTS
    assert counts(REAL, circles, RESTLESS).sum() == everybody
    wrong = counts(PLANTED["a person in every circle up to their own"], circles, RESTLESS)
    assert wrong.sum() == 2 * everybody


def test_a_person_can_be_in_a_class_for_every_bin_by_mistake() -> None:
    classes = ActivityHistogram(universe=UNIVERSE, classes=len(LIMITS.activity))
    scene = tuple(Stay(site=0, bin=when) for when in range(6))
    of_six = int(np.searchsorted(LIMITS.activity, 6, side="right")) - 1
    right = counts(REAL, classes, scene)
    assert (right[of_six], right.sum()) == (DISTRICT.corners, DISTRICT.corners)
    wrong = counts(PLANTED["a class of activity for every period"], classes, scene)
    assert (wrong[0], wrong.sum()) == (6 * DISTRICT.corners, 6 * DISTRICT.corners)


def test_the_subtraction_moves_four_cells_by_three_and_a_half_visits() -> None:
    product = PLANTED["the paper's subtraction in the cover"]
    moved = first_corner(product, (Stay(site=SHARED, bin=2),))[:, 2]
    assert np.abs(moved).sum() / QUANTA == pytest.approx(3.5, abs=0.01)
    assert first_corner(REAL, (Stay(site=SHARED, bin=2),))[:, 2].sum() == QUANTA
    assert first_corner(product, RESTLESS).sum() == 3 * QUANTA


@pytest.mark.parametrize(("along", "axis"), [("cluster", 0), ("period", 1)])
def test_shared_noise_is_the_same_along_clusters_or_bins(along: str, axis: int) -> None:
    place = stage(PLANTED[f"the same noise for every {along}"], ZCDPLoss(Fraction(1, 100)))
    answer = place.opened(()).counts(Query(name=SERIES.name, cells=SERIES), place.spend)
    values = answer.values.reshape(CELLS * DISTRICT.corners, 6)
    assert (np.ptp(values, axis=axis) == 0).all()
    # All draws alike along the other axis as well: less than once in 10^15 times.
    assert np.ptp(values) > 0


def test_what_nobody_visited_has_no_noise_where_sites_come_from_the_data() -> None:
    place = stage(PLANTED["sites and cells taken from the data"], ZCDPLoss(Fraction(1, 10**6)))
    curator = place.opened((Stay(site=3, bin=0),))
    answer = curator.counts(Query(name=HISTOGRAM.name, cells=HISTOGRAM), place.spend)
    assert set(np.flatnonzero(answer.values)) <= {3, 15}


def test_the_exact_number_of_people_comes_through_any_noise() -> None:
    place = stage(PLANTED["the exact number of people"], ZCDPLoss(Fraction(1, 10**6)))
    curator = place.opened(RESTLESS)
    answer = curator.counts(Query(name=HISTOGRAM.name, cells=HISTOGRAM), place.spend)
    assert answer.values.sum() == DISTRICT.corners * PERSON_PARTS


CROWD = tuple(
    Stay(site=site, bin=when, person=20 * number + i)
    for number, site in enumerate(LONE_SITES)
    for i in range(20)
    for when in range(3)
)


def test_the_real_density_makes_the_same_clusters_of_the_same_totals() -> None:
    place = stage(REAL)
    assert other_clusters(place, place.opened(CROWD)).tolist() == [0, 0]


def test_a_nosy_density_makes_other_clusters_where_nobody_is() -> None:
    place = stage(PLANTED["clusters made from exact totals"])
    # With people every cell is a cluster; without, all are merged into the first.
    assert other_clusters(place, place.opened(CROWD)).tolist() == [3, 4]


def test_clusters_are_told_apart_by_a_number() -> None:
    place = stage(REAL)
    found = merged(place, place.opened(CROWD))
    assert found.tolist() == [sum(cell * 8**cell for cell in range(8))]
    # Next to no noise may be in a series, so all cells are merged.
    strict = replace(
        place, make=lambda limits, spend: density_series(limits, budget=spend, cluster_error=1e-9)
    )
    together = merged(strict, strict.opened(CROWD))
    assert together.tolist() == [0]


def test_the_real_purse_stops_a_budget_that_was_not_split() -> None:
    split = stage(Product(mechanism=unsplit))
    with pytest.raises(BudgetError):
        split.mechanism.measure(split.opened(CROWD), UNIVERSE)
    blindly = stage(Product(mechanism=unsplit, budget=blind))
    assert len(blindly.mechanism.measure(blindly.opened(CROWD), UNIVERSE)) == 6
    assert blindly.mechanism.losses == (PLENTY,) * 6
