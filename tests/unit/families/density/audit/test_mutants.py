"""A mutant is wrong in one thing; in everything else it is the real product."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.audit.mutant_curators import Peeping, SeenOnly, dense
from hushway.audit.product import BlindBudget, remade
from hushway.audit.suite import Mutant
from hushway.errors import AuditError, BudgetError
from hushway.families.density.audit.looks import Merged, NextClusters
from hushway.families.density.audit.mutant_counters import (
    ClassesByBin,
    DayByDay,
    EveryCircle,
    ManyInABin,
    NoCap,
    NoCutOff,
    SensitivityOfOne,
    Subtraction,
    TotalsLikeSeries,
    WholeAtEverySite,
    WholeHistogram,
)
from hushway.families.density.audit.mutant_curators import (
    ExactPeople,
    HalfTheNoise,
    NosyScale,
    NosySeries,
    SharedByBins,
    SharedByClusters,
    four_times_the_series,
    unsplit,
)
from hushway.families.density.audit.product import (
    CELLS,
    LONE_SITES,
    NO_STAYS,
    REAL_DENSITY,
    SHARED,
    DensityProduct,
    DensityStage,
    Stay,
    VisitTerms,
    district,
    plain,
)
from hushway.families.density.audit.suite import SUITE
from hushway.families.density.audit.whole import one_visit_is_one
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
from hushway.families.registry import suite_of
from hushway.privacy.loss import Loss, ZCDPLoss
from hushway.privacy.query import Query
from hushway.privacy.randomness import os_source

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


def stage(product: DensityProduct, spend: Loss = PLENTY) -> DensityStage:
    return DensityStage(
        product=product, district=DISTRICT, limits=LIMITS, spend=spend, make=planned
    )


def counts(product: DensityProduct, cells: VisitCells, scene: tuple[Stay, ...]) -> IntArray:
    counter = product.counter(DISTRICT.play(scene), stage(product).terms, os_source())
    query = Query(name=cells.name, cells=cells)
    return dense(counter.count(query), query)


def first_corner(product: DensityProduct, scene: tuple[Stay, ...]) -> IntArray:
    first: IntArray = DISTRICT.series_by_corner(counts(product, SERIES, scene))[0]
    return first


def test_the_mistakes_are_all_planted() -> None:
    assert [mutant.name for mutant in SUITE.mutants] == [
        "sensitivity 1 instead of the root of l",
        "the paper's subtraction in the cover",
        "several visits in one period",
        "no contribution limit",
        "a total that is not cut off",
        "a histogram of all visits",
        "a person whole at every site",
        "a person in every circle up to their own",
        "a class of activity for every period",
        "the same noise for every cluster",
        "the same noise for every period",
        "sites and cells taken from the data",
        "the exact number of people",
        "clusters made from exact totals",
        "cuts with the printed exponent",
        "the whole budget for every question",
        "half the noise in the histogram",
        "half the noise in the activity",
        "half the noise in the total",
        "half the noise in the clusters",
        "half the noise in the series",
        "four times the rho for the series",
        "cuts at twice the rate",
        "a contribution limit that holds day by day",
        "totals of cells bounded like series",
        "a scale from the exact number of visits",
        "each batch of rows bounded by itself",
        "each week bounded by itself",
    ]


def test_the_real_product_keeps_to_all_limits() -> None:
    assert first_corner(REAL_DENSITY, RESTLESS).sum() == 3 * QUANTA
    assert first_corner(REAL_DENSITY, RESTLESS).max() == QUANTA
    assert counts(REAL_DENSITY, HISTOGRAM, RESTLESS).sum() == DISTRICT.corners * PERSON_PARTS
    assert counts(REAL_DENSITY, TOTAL, RESTLESS).tolist() == [5 * DISTRICT.corners]


@pytest.mark.parametrize(
    ("cells", "squares"), [(SERIES, QUANTA**2), (HISTOGRAM, PERSON_PARTS**2), (TOTAL, 25)]
)
def test_only_the_bound_of_the_series_is_wrong_without_sensitivity(
    cells: VisitCells, squares: int
) -> None:
    product = DensityProduct(counter=SensitivityOfOne)
    bound = stage(product).opened(NO_STAYS).bound(Query(name=cells.name, cells=cells))
    assert bound.l2_squared == squares
    assert first_corner(product, RESTLESS).sum() == 3 * QUANTA


def test_without_a_cap_every_bin_counts() -> None:
    product = DensityProduct(counter=NoCap)
    assert first_corner(product, RESTLESS)[0].tolist() == [QUANTA] * 6
    assert counts(product, TOTAL, RESTLESS).tolist() == [10]


def test_a_cap_that_holds_day_by_day_keeps_as_many_of_every_day() -> None:
    days = district(corners=1, bins=4, days=3)
    terms = VisitTerms(universe=days.universe, limits=LIMITS)
    cells = plain(LIMITS, PLENTY).series(days.universe, days.every_cell)
    query = Query(name=cells.name, cells=cells)
    rows = days.play(tuple(Stay(site=0, bin=when) for when in range(12)))
    for product, kept in ((REAL_DENSITY, 3), (DensityProduct(counter=DayByDay), 9)):
        exact = product.counter(rows, terms, os_source()).count(query)
        assert exact.values.sum() == kept * QUANTA


def test_only_the_bound_of_totals_is_wrong_if_they_are_bounded_like_series() -> None:
    totals = ClusterTotals(universe=UNIVERSE, cluster=DISTRICT.every_cell, quanta=8)
    real = stage(REAL_DENSITY).opened(NO_STAYS)
    wrong = stage(DensityProduct(counter=TotalsLikeSeries)).opened(NO_STAYS)
    query = Query(name="totals", cells=totals)
    assert real.bound(query).l2_squared == (3 * 8) ** 2
    assert wrong.bound(query).l2_squared == 3 * 8**2
    series = Query(name="series", cells=SERIES)
    assert wrong.bound(series) == real.bound(series)


def test_half_the_noise_is_in_one_question_only_and_nobody_says_so() -> None:
    spend = ZCDPLoss(Fraction(1, 100))
    product = DensityProduct(curator=partial(HalfTheNoise, ClusterSeries))

    def spread(product: DensityProduct, cells: VisitCells) -> float:
        place = stage(product, ZCDPLoss(Fraction(1)))
        curator, query = place.opened(NO_STAYS), Query(name=cells.name, cells=cells)
        answers = [curator.counts(query, spend) for _ in range(40)]
        assert {answer.event.loss for answer in answers} == {spend}
        return float(np.concatenate([answer.values for answer in answers]).std())

    # A ratio of 1/2 or of 1, from a thousand draws each: 2/3 lies ten standard errors from both.
    assert spread(product, SERIES) < 0.67 * spread(REAL_DENSITY, SERIES)
    assert spread(product, HISTOGRAM) > 0.67 * spread(REAL_DENSITY, HISTOGRAM)


def test_a_nosy_scale_hands_on_the_exact_total_and_nothing_else_exactly() -> None:
    little = ZCDPLoss(Fraction(1, 10_000))
    place = stage(DensityProduct(curator=Peeping, mechanism=partial(remade, NosyScale)), little)
    for _ in range(5):
        answers = place.mechanism.measure(place.opened(RESTLESS), UNIVERSE)
        told = {type(answer.query.cells): answer.values for answer in answers}
        assert told[VisitTotal].tolist() == [5 * DISTRICT.corners]
        # Sigma is in the hundreds: all sites are right less than once in 10^40 times.
        assert told[SiteHistogram].tolist() != counts(REAL_DENSITY, HISTOGRAM, RESTLESS).tolist()


def test_four_times_the_rho_for_the_series_is_stated_and_refused_by_the_real_purse() -> None:
    place = stage(DensityProduct(mechanism=four_times_the_series))
    paid = stage(REAL_DENSITY).mechanism.spends.series.amount
    assert place.mechanism.spends.series.amount == 4 * paid
    with pytest.raises(BudgetError):
        place.mechanism.measure(place.opened(RESTLESS), UNIVERSE)


def test_without_a_cut_off_all_visits_are_in_the_total() -> None:
    product = DensityProduct(counter=NoCutOff)
    assert counts(product, TOTAL, RESTLESS).tolist() == [24]
    assert first_corner(product, RESTLESS).sum() == 3 * QUANTA


def test_a_person_can_be_at_several_sites_of_a_bin_by_mistake() -> None:
    scene = (Stay(site=0, bin=0), Stay(site=1, bin=0))
    assert first_corner(DensityProduct(counter=ManyInABin), scene)[0, 0] == 2 * QUANTA
    assert first_corner(REAL_DENSITY, scene)[0, 0] == QUANTA


def test_a_histogram_of_all_visits_has_one_of_every_bin() -> None:
    product = DensityProduct(counter=WholeHistogram)
    assert counts(product, HISTOGRAM, RESTLESS[:6])[0] == 6 * PERSON_PARTS
    assert counts(product, TOTAL, RESTLESS[:6]).tolist() == [10]


def test_a_person_can_be_whole_at_every_site_by_mistake() -> None:
    scene = tuple(Stay(site=site, bin=0) for site in LONE_SITES)
    everybody = DISTRICT.corners * PERSON_PARTS
    assert counts(REAL_DENSITY, HISTOGRAM, scene).sum() == everybody
    wrong = counts(DensityProduct(counter=WholeAtEverySite), HISTOGRAM, scene)
    assert wrong.sum() == len(LONE_SITES) * everybody
    assert set(wrong[wrong > 0].tolist()) == {PERSON_PARTS}


def test_a_busy_person_can_be_in_every_circle_by_mistake() -> None:
    circles = SiteHistogram(universe=UNIVERSE, circles=LIMITS.circles)
    everybody = DISTRICT.corners * PERSON_PARTS
    assert counts(REAL_DENSITY, circles, RESTLESS).sum() == everybody
    wrong = counts(DensityProduct(counter=EveryCircle), circles, RESTLESS)
    assert wrong.sum() == 2 * everybody


def test_a_person_can_be_in_a_class_for_every_bin_by_mistake() -> None:
    classes = ActivityHistogram(universe=UNIVERSE, classes=len(LIMITS.activity))
    scene = tuple(Stay(site=0, bin=when) for when in range(6))
    of_six = int(np.searchsorted(LIMITS.activity, 6, side="right")) - 1
    right = counts(REAL_DENSITY, classes, scene)
    assert (right[of_six], right.sum()) == (DISTRICT.corners, DISTRICT.corners)
    wrong = counts(DensityProduct(counter=ClassesByBin), classes, scene)
    assert (wrong[0], wrong.sum()) == (6 * DISTRICT.corners, 6 * DISTRICT.corners)


def test_the_subtraction_moves_four_cells_by_three_and_a_half_visits() -> None:
    product = DensityProduct(counter=Subtraction)
    moved = first_corner(product, (Stay(site=SHARED, bin=2),))[:, 2]
    assert np.abs(moved).sum() / QUANTA == pytest.approx(3.5, abs=0.01)
    assert first_corner(REAL_DENSITY, (Stay(site=SHARED, bin=2),))[:, 2].sum() == QUANTA
    assert first_corner(product, RESTLESS).sum() == 3 * QUANTA


@pytest.mark.parametrize(("curator", "axis"), [(SharedByClusters, 0), (SharedByBins, 1)])
def test_shared_noise_is_the_same_along_clusters_or_bins(curator: type, axis: int) -> None:
    place = stage(DensityProduct(curator=curator), ZCDPLoss(Fraction(1, 100)))
    answer = place.opened(NO_STAYS).counts(Query(name=SERIES.name, cells=SERIES), place.spend)
    values = answer.values.reshape(CELLS * DISTRICT.corners, 6)
    assert (np.ptp(values, axis=axis) == 0).all()
    # All draws alike along the other axis as well: less than once in 10^15 times.
    assert np.ptp(values) > 0


def test_what_nobody_visited_has_no_noise_where_sites_come_from_the_data() -> None:
    place = stage(DensityProduct(curator=SeenOnly), ZCDPLoss(Fraction(1, 10**6)))
    curator = place.opened((Stay(site=3, bin=0),))
    answer = curator.counts(Query(name=HISTOGRAM.name, cells=HISTOGRAM), place.spend)
    assert set(np.flatnonzero(answer.values)) <= {3, 15}


def test_the_exact_number_of_people_comes_through_any_noise() -> None:
    place = stage(DensityProduct(curator=ExactPeople), ZCDPLoss(Fraction(1, 10**6)))
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
    place = stage(REAL_DENSITY)
    look = NextClusters(stage=place, others=NO_STAYS)
    assert look.differ(place.opened(CROWD)).tolist() == [0, 0]


def test_a_nosy_density_makes_other_clusters_where_nobody_is() -> None:
    place = stage(DensityProduct(curator=Peeping, mechanism=partial(remade, NosySeries)))
    look = NextClusters(stage=place, others=NO_STAYS)
    # With people every cell is a cluster; without, all are merged into the first.
    assert look.differ(place.opened(CROWD)).tolist() == [3, 4]


def test_clusters_are_told_apart_by_a_number() -> None:
    place = stage(REAL_DENSITY)
    found = Merged(stage=place).seen(place.opened(CROWD))
    assert found.tolist() == [sum(cell * 8**cell for cell in range(8))]
    # Next to no noise may be in a series, so all cells are merged.
    strict = replace(
        place, make=lambda limits, spend: density_series(limits, budget=spend, cluster_error=1e-9)
    )
    merged = Merged(stage=strict).seen(strict.opened(CROWD))
    assert merged.tolist() == [0]


def test_the_real_purse_stops_a_budget_that_was_not_split() -> None:
    split = stage(DensityProduct(mechanism=unsplit))
    with pytest.raises(BudgetError):
        split.mechanism.measure(split.opened(CROWD), UNIVERSE)
    blind = stage(DensityProduct(mechanism=unsplit, budget=lambda _unit, _spend: BlindBudget()))
    assert len(blind.mechanism.measure(blind.opened(CROWD), UNIVERSE)) == 5
    assert blind.mechanism.losses == (PLENTY,) * 5


def test_the_family_is_found_by_name() -> None:
    assert suite_of("density") is SUITE


def test_the_suite_reports_every_audit_and_every_mistake() -> None:
    mutant = Mutant(
        name="mistake",
        product=DensityProduct(counter=Subtraction),
        audits=(one_visit_is_one,),
    )
    suite = replace(SUITE, audits=(one_visit_is_one,), mutants=(mutant,))
    told: list[str] = []
    findings = suite.audit(
        runs=70_000, epsilons=(1, 4), progress=lambda name, _done: told.append(name)
    )
    assert [(finding.epsilon, finding.passed) for finding in findings] == [(1, True), (4, True)]
    assert told == [*(finding.name for finding in findings), "done"]
    (caught,) = suite.hunt(runs=70_000, epsilons=(1,))
    assert caught.caught
    assert caught.by == findings[0].name


@pytest.mark.parametrize("suite", [SUITE.audit, SUITE.hunt])
def test_too_few_runs_are_refused(suite: object) -> None:
    with pytest.raises(AuditError, match="too few"):
        suite(runs=1000, epsilons=(1,))  # type: ignore[operator]
