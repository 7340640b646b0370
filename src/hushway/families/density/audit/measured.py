"""What single questions of a density must not give away: the series, the histogram, the total."""

import math
from dataclasses import replace
from fractions import Fraction

from hushway.audit.bounds import runs_needed
from hushway.audit.harness import Examination, Trial
from hushway.audit.law import VarianceCheck, gaussian
from hushway.audit.shift import DELTA, gaussian_shift, gaussian_trial, rho_of
from hushway.families.density.audit.looks import Projection, Questions
from hushway.families.density.audit.product import (
    CELLS,
    LONE_SITES,
    NO_STAYS,
    SHARED,
    SITES,
    TOGETHER,
    DensityProduct,
    DensityStage,
    District,
    Stay,
    Stays,
    district,
)
from hushway.families.density.public.visits import VisitLimits
from hushway.privacy.calibration import noise_for
from hushway.privacy.loss import PureLoss, ZCDPLoss

_BINS = 24
# Corners and bins of districts; these are made when they are needed, which takes a while.
_DAY = 500, _BINS
_MORNING = 1000, 9
_HOURS = 2000, 4
_CORNER = 1, _BINS
_DAYS = 6

# One visit in each of nine bins, in all four cells.
_NINE: Stays = tuple(Stay(site=LONE_SITES[i % CELLS], bin=i) for i in range(9))
_NINE_SHIFT = {(i % CELLS, i): 1 for i in range(9)}
_PROJECTION = "the series, projected on what the person adds,"
# Every site of the first cell in every bin, several times.
_RESTLESS: Stays = tuple(
    Stay(site=site, bin=when, times=3) for site in TOGETHER for when in range(_BINS)
)
# Every site and every bin, seventeen times each: about five thousand events.
_EVERYWHERE: Stays = tuple(
    Stay(site=site, bin=when, times=17) for site in range(12) for when in range(_BINS)
)
_REPEATS = 500
# Fewer runs where every run is a question of its own, and a mistake would show in all of them.
_BRIEF = Fraction(1, 4)


def nine_visits(product: DensityProduct, epsilon: Fraction) -> Examination:
    """A person with as many visits as count, in as many bins and in all cells, or nobody."""
    stage, look = _nine(product, epsilon)
    return gaussian_trial(
        name="series: nine visits or none",
        statistic=_PROJECTION,
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", _NINE)),
    )


def shift_of_nine(product: DensityProduct, epsilon: Fraction) -> Examination:
    """The same person moves the projection by sqrt(2 rho) standard deviations, no more, no less."""
    stage, look = _nine(product, epsilon)
    return gaussian_shift(
        name="series: nine visits fit rho",
        statistic=_PROJECTION,
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", _NINE)),
        tight=True,
    )


def restless(product: DensityProduct, epsilon: Fraction) -> Examination:
    """More than 500 events, in all bins and several in each: only four visits may count."""
    stage = _gaussian(product, epsilon, most=4, where=_DAY)
    look = Projection(stage=stage, direction={(0, when): 1 for when in range(_BINS)})
    return gaussian_trial(
        name="series: 576 events of one person or none",
        statistic="the sum over all periods of the first cell",
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", _RESTLESS)),
    )


def many_days(product: DensityProduct, epsilon: Fraction) -> Examination:
    """A visit in every bin of six days: only four may count, over all days together."""
    stage = DensityStage(
        product=product,
        district=district(corners=1000, bins=4, days=_DAYS),
        limits=VisitLimits(max_visits=4, max_visits_in_total=4),
        spend=rho_of(epsilon),
    )
    every = range(stage.district.universe.bins)
    look = Projection(stage=stage, direction={(0, when): 1 for when in every})
    scene = tuple(Stay(site=0, bin=when) for when in every)
    return gaussian_shift(
        name="series: six days of one person fit rho",
        statistic="the sum over all periods of the first cell",
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", scene)),
    )


def cell_totals(product: DensityProduct, epsilon: Fraction) -> Examination:
    """Nine visits to one cell: the totals that clusters are made by hide all of them."""
    stage = _gaussian(product, epsilon, most=9)
    scene = tuple(Stay(site=0, bin=when) for when in range(9))
    return gaussian_shift(
        name="totals of cells: nine visits to one cell fit rho",
        statistic="the noisy total of the first cell",
        epsilon=epsilon,
        worlds=stage.worlds(Questions(stage=stage).first_cell, ("the person", scene)),
        tight=True,
    )


def crowded_bin(product: DensityProduct, epsilon: Fraction) -> Examination:
    """Eight sites of one cell in one bin: they count as one visit."""
    stage = _gaussian(product, epsilon, most=8)
    look = Projection(stage=stage, direction={(0, 0): 1})
    hurried = tuple(Stay(site=site, bin=0, times=4) for site in TOGETHER)
    return gaussian_trial(
        name="series: eight sites in one period or none",
        statistic="the first cell in the first period",
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", hurried)),
    )


def shared_site(product: DensityProduct, epsilon: Fraction) -> Examination:
    """Visits at a site that three cells share, in the direction of the paper's subtraction."""
    stage = _gaussian(product, epsilon, most=9)
    direction = {(cell, when): 6 if cell == 0 else -5 for cell in range(CELLS) for when in range(9)}
    look = Projection(stage=stage, direction=direction)
    scene = tuple(Stay(site=SHARED, bin=when) for when in range(9))
    return gaussian_shift(
        name="series: nine visits at a site that three cells share",
        statistic="the first cell less five sixths of the others",
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", scene)),
    )


def cell_less_another(product: DensityProduct, epsilon: Fraction) -> Examination:
    """A cell less another one in the same bin: exact if both were given the same noise."""
    return _difference(product, epsilon, {(0, 0): 1, (1, 0): -1}, "one cell less another")


def bin_less_another(product: DensityProduct, epsilon: Fraction) -> Examination:
    """A bin less another one of the same cell: exact if both were given the same noise."""
    return _difference(product, epsilon, {(0, 0): 1, (0, 1): -1}, "one period less another")


def fresh_cells(product: DensityProduct, epsilon: Fraction) -> Examination:
    """The noise of two cells differs as two independent draws do."""
    return _fresh(product, epsilon, {(0, 0): 1, (1, 0): -1}, "cell")


def fresh_bins(product: DensityProduct, epsilon: Fraction) -> Examination:
    """The noise of two bins differs as two independent draws do."""
    return _fresh(product, epsilon, {(0, 0): 1, (0, 1): -1}, "bin")


def naive_laplace(product: DensityProduct, epsilon: Fraction) -> Examination:
    """Laplace noise for two visits: a person with two against nobody."""
    stage = _laplace(product, epsilon, _HOURS, VisitLimits(max_visits=2, max_visits_in_total=1))
    look = Projection(stage=stage, direction={(0, 0): 1, (1, 1): 1})
    scene = (Stay(site=LONE_SITES[0], bin=0), Stay(site=LONE_SITES[1], bin=1))
    # All of epsilon shows if both noisy counts are at least one visit: half the time each.
    effort = Fraction(runs_needed(epsilon, 1 / 4), runs_needed(epsilon))
    return Trial(
        name="series with Laplace noise: two visits or none",
        statistic="the evidence of both counts, in thousandths,",
        epsilon=epsilon,
        worlds=stage.worlds(look.evidence, ("the person", scene)),
        tight=True,
        effort=effort,
    )


def one_person_at_one_site(product: DensityProduct, epsilon: Fraction) -> Examination:
    """Hundreds of events at one site: in the histogram the person is one person there."""
    stage = _laplace(product, epsilon, _DAY, VisitLimits(max_visits=9, max_visits_in_total=9))
    scene = tuple(Stay(site=0, bin=when, times=20) for when in range(_BINS))
    return Trial(
        name="histogram: 480 events of one person or none",
        statistic="the noisy number of people at the site",
        epsilon=epsilon,
        worlds=stage.worlds(Questions(stage=stage).first_site, ("the person", scene)),
        tight=True,
    )


def one_person_at_many_sites(product: DensityProduct, epsilon: Fraction) -> Examination:
    """A person at every site and in every bin: all parts together are one person."""
    stage = _gaussian(product, epsilon, most=9, where=_DAY)
    scene = tuple(Stay(site=site, bin=when) for site in range(SITES) for when in range(_BINS))
    return gaussian_shift(
        name="histogram: a person at all sites is one person",
        statistic="the noisy parts of a person, over all sites",
        epsilon=epsilon,
        worlds=stage.worlds(Questions(stage=stage).all_sites, ("the person", scene)),
    )


def one_circle(product: DensityProduct, epsilon: Fraction) -> Examination:
    """A busy person at one site: in one circle of the histogram, and not in all of them."""
    limits = VisitLimits(max_visits=2, max_visits_in_total=20)
    stage = DensityStage(
        product=product, district=_district(_DAY), limits=limits, spend=rho_of(epsilon)
    )
    scene = tuple(Stay(site=0, bin=when) for when in range(_BINS))
    return gaussian_shift(
        name="histogram: a busy person is in one circle",
        statistic="the noisy number of people at the site, over all circles",
        epsilon=epsilon,
        worlds=stage.worlds(Questions(stage=stage).first_site_in_circles, ("the person", scene)),
    )


def one_class(product: DensityProduct, epsilon: Fraction) -> Examination:
    """A visit in every bin: the person is in one class of activity, once."""
    stage = _asked(product, epsilon)
    bins = range(stage.district.universe.bins)
    scene = tuple(Stay(site=0, bin=when, times=3) for when in bins)
    return Trial(
        name="activity: a person with visits in all periods or none",
        statistic="the noisy number of people with one visit or with one in every period",
        epsilon=epsilon,
        worlds=stage.worlds(Questions(stage=stage).classes, ("the person", scene)),
        effort=_BRIEF,
    )


def cut_off_total(product: DensityProduct, epsilon: Fraction) -> Examination:
    """Five thousand events of one person: the total moves by what a person may count for."""
    stage = _asked(product, epsilon)
    return Trial(
        name="total: 4,896 events of one person or none",
        statistic="the noisy number of all visits",
        epsilon=epsilon,
        worlds=stage.worlds(Questions(stage=stage).total, ("the person", _EVERYWHERE)),
        effort=_BRIEF,
    )


def one_more_person(product: DensityProduct, epsilon: Fraction) -> Examination:
    """Four people or three: how many there are is as noisy as everything else."""
    stage = _asked(product, epsilon)
    crowd = tuple(Stay(site=LONE_SITES[i], bin=i, person=i) for i in range(4))
    look = Questions(stage=stage).people
    return Trial(
        name="histogram: four people or three",
        statistic="the sum of the noisy histogram, which densities are normalised by,",
        epsilon=epsilon,
        worlds=stage.worlds(look, ("four", crowd), ("three", crowd[:3])),
        effort=_BRIEF,
    )


def _nine(product: DensityProduct, epsilon: Fraction) -> tuple[DensityStage, Projection]:
    stage = _gaussian(product, epsilon, most=9)
    return stage, Projection(stage=stage, direction=_NINE_SHIFT)


def _gaussian(
    product: DensityProduct, epsilon: Fraction, most: int, where: tuple[int, int] = _MORNING
) -> DensityStage:
    limits = VisitLimits(max_visits=most, max_visits_in_total=most)
    return DensityStage(
        product=product, district=_district(where), limits=limits, spend=rho_of(epsilon)
    )


def _laplace(
    product: DensityProduct, epsilon: Fraction, where: tuple[int, int], limits: VisitLimits
) -> DensityStage:
    return DensityStage(
        product=product, district=_district(where), limits=limits, spend=PureLoss(epsilon)
    )


def _district(size: tuple[int, int]) -> District:
    corners, bins = size
    return district(corners=corners, bins=bins)


def _asked(product: DensityProduct, epsilon: Fraction) -> DensityStage:
    limits = VisitLimits(max_visits=9, max_visits_in_total=20)
    return replace(_laplace(product, epsilon, _CORNER, limits), repeats=_REPEATS)


def _difference(
    product: DensityProduct, epsilon: Fraction, direction: dict[tuple[int, int], int], words: str
) -> Examination:
    stage = _gaussian(product, epsilon, most=1, where=_HOURS)
    look = Projection(stage=stage, direction=direction)
    return gaussian_trial(
        name=f"series: {words}",
        statistic="the difference of two noisy counts",
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", (Stay(site=0, bin=0),))),
    )


def _fresh(
    product: DensityProduct, epsilon: Fraction, direction: dict[tuple[int, int], int], words: str
) -> Examination:
    stage = _gaussian(product, epsilon, most=1, where=_HOURS)
    look = Projection(stage=stage, direction=direction)
    cells = stage.mechanism.series(stage.district.universe, stage.district.every_cell)
    spend = stage.spend
    assert isinstance(spend, ZCDPLoss)  # noqa: S101  what these stages spend with
    sigma_squared = noise_for(spend, stage.mechanism.bound(cells)).variance
    return VarianceCheck(
        name=f"series: fresh noise for every {words}",
        statistic="the difference of two empty counts",
        epsilon=epsilon,
        delta=DELTA,
        law=gaussian(Fraction(math.floor(sigma_squared)), terms=2),
        sample=stage.sampler(NO_STAYS, look.seen),
    )
