"""How to split a budget among the questions of a density: public rules, no row is read."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from hushway.errors import PlanError
from hushway.families.density.fit.table import Denoise
from hushway.families.density.public.visits import DensityUniverse, VisitLimits
from hushway.privacy.calibration import loss_of_cuts
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, loss_of
from hushway.release.contribution.crowd import Crowd


@dataclass(frozen=True, kw_only=True)
class Spends:
    """The price of each question; None for those that are not asked.

    Attributes:
        activity: People by class of activity; without it the histogram does not tell people apart.
        left_out: Visits that the series leaves out, by period of the day.
        clusters: The totals that clusters are made by.
        cuts: How many cosines of each series to keep.
    """

    series: Loss
    histogram: Loss | None = None
    activity: Loss | None = None
    total: Loss | None = None
    left_out: Loss | None = None
    clusters: Loss | None = None
    cuts: ZCDPLoss | None = None

    def __post_init__(self) -> None:
        if (self.histogram is None) != (self.total is None):
            raise PlanError(
                "A histogram of sites and the number of all visits are of no use without each "
                "other.",
                advice="Give both a share of the budget, or none.",
            )
        if self.left_out is not None and self.activity is None:
            raise PlanError(
                "What the series leaves out is of no use without how busy people are.",
                advice="Give activity a share of the budget, or left_out none.",
            )

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The prices in the order in which they are spent."""
        before = (self.activity, self.histogram, self.total, self.left_out, self.clusters)
        asked = (*before, self.cuts, self.series)
        return tuple(loss for loss in asked if loss is not None)


@dataclass(frozen=True, kw_only=True)
class Shares:
    """The share of each question of `Spends` in a budget; 0 for those that are not asked."""

    histogram: Fraction = Fraction(0)
    activity: Fraction = Fraction(0)
    total: Fraction = Fraction(0)
    left_out: Fraction = Fraction(0)
    clusters: Fraction = Fraction(0)
    cuts: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        before = (self.histogram, self.activity, self.total, self.left_out, self.clusters)
        parts = (*before, self.cuts)
        if min(parts) < 0 or sum(parts) >= 1:
            raise PlanError(
                "The shares of a budget must not be negative and must leave something for the "
                "series.",
                advice="Lower the shares until they sum to less than 1.",
            )


def spends_of(budget: Loss, shares: Shares) -> Spends:
    """Splits a budget: what the other questions leave goes to the series.

    Privacy:
        All spends together cost exactly `budget`. A rho for cuts is rounded down to one with a
        rational rate; the series gets the rest.

    Raises:
        PlanError: Cuts are to be spent from a pure epsilon.
    """
    measure, amount = budget.measure, budget.amount

    def part(share: Fraction) -> Loss | None:
        return loss_of(measure, amount * share) if share else None

    cuts = None
    if shares.cuts:
        if not isinstance(budget, ZCDPLoss):
            raise PlanError(
                "Cuts by the exponential mechanism are accounted in zCDP.",
                advice="Give a delta and Gaussian noise, or choose the cuts from the noisy series.",
            )
        cuts = loss_of_cuts(amount * shares.cuts)
    before = shares.histogram, shares.activity, shares.total, shares.left_out, shares.clusters
    others = amount * sum(before)
    return Spends(
        series=loss_of(measure, amount - others - (cuts.rho if cuts else 0)),
        histogram=part(shares.histogram),
        activity=part(shares.activity),
        total=part(shares.total),
        left_out=part(shares.left_out),
        clusters=part(shares.clusters),
        cuts=cuts,
    )


_CELL_TOTALS: Final = Fraction(1, 4)
_CUTS: Final = Fraction(1, 5)
# A mean cell this many times its noise makes the histogram half as useful.
_CLEAR: Final = 30.0
# If nobody is busy, a mean cell this many times its noise makes all but the series useless.
_CLEAR_ALONE: Final = 3.0
# The least that anything gets that is asked.
_LEAST_HISTOGRAM: Final = Fraction(2, 100)
_LEAST: Final = Fraction(2, 1000)
# Noise that is this part of what it is added to does no harm.
_SMALL: Final = 0.02
_DIGITS: Final = 1000
# Cosines know one series at a time, and need larger ones than patterns do. How large those must be
# is told from noisy totals.
_CLUSTER_ERROR: Final = 0.02


def recommended_cluster_error(denoise: Denoise) -> float | None:
    """Returns how noisy a cluster's series may be, as a share of its total; None to learn it."""
    return None if denoise == "patterns" else _CLUSTER_ERROR


# A middle way for crowds of which nothing is known, chosen by trying shares on crowds of 500 to
# 2,000,000 at three budgets: no crowd loses much by it. A small one wants a third of the budget for
# the histogram, a large one wants nearly all of it for the series. Where the limits leave out much
# of busy people, only the histogram has all of their visits.
# How many visits people have decides on limits, so it is asked before they are known.
ACTIVITY_SHARE: Final = Fraction(5, 100)
_SOME_BUSY: Final = Shares(
    histogram=Fraction(25, 100),
    activity=ACTIVITY_SHARE,
    total=Fraction(3, 100),
    left_out=Fraction(2, 100),
    clusters=Fraction(1, 100),
)
_NONE_BUSY: Final = Shares(
    histogram=Fraction(8, 100),
    activity=ACTIVITY_SHARE,
    total=Fraction(1, 100),
    clusters=Fraction(5, 1000),
)


def recommended_shares(
    limits: VisitLimits, *, scaling: bool, clustering: bool, cuts: bool
) -> Shares:
    """Returns shares that suit most cities; the limits say whether busy people are expected."""
    usual = _SOME_BUSY if limits.circles > 1 else _NONE_BUSY
    if not scaling:
        usual = Shares(clusters=_CELL_TOTALS)
    return replace(
        usual,
        clusters=usual.clusters if clustering else Fraction(0),
        cuts=_CUTS if cuts else Fraction(0),
    )


def evident_shares(
    universe: DensityUniverse, limits: VisitLimits, budget: Loss, crowd: Crowd, usual: Shares
) -> Shares:
    """Returns the shares that suit a crowd of which noisy answers tell how many visits it has.

    The more single cells stand out from noise, the less there is for other questions to tell. If
    people have one visit each, and cells stand out, the series tells everything. Of what is added
    up over the city, no more is paid than makes its noise small beside it.
    """
    counted, visits = crowd.counted(limits.max_visits), crowd.records
    clear = clearness(universe, limits, budget, counted)
    if limits.circles == 1 and clear > _CLEAR_ALONE:
        return Shares(activity=usual.activity, cuts=usual.cuts)

    def enough(reach: int, size: float, most: Fraction) -> Fraction:
        """Returns the share that makes noise of a reach no more than a part of a size."""
        noise = reach * noise_of_one(budget) / (_SMALL * max(size, 1.0))
        share = _written(noise if isinstance(budget, PureLoss) else noise**2)
        return min(max(share, _LEAST), most)

    wanted = _written(float(usual.histogram) / (1 + clear / _CLEAR))
    in_total, parts = limits.max_visits_in_total, universe.periods.parts
    return replace(
        usual,
        histogram=max(wanted, _LEAST_HISTOGRAM),
        total=enough(in_total, visits, 2 * usual.total),
        left_out=enough(in_total, visits / parts, usual.left_out),
        clusters=enough(limits.max_visits, counted, usual.clusters),
    )


def clearness(
    universe: DensityUniverse, limits: VisitLimits, budget: Loss, counted: float
) -> float:
    """Returns the total of a mean cell, over the noise in it if all were charged for the series."""
    most = limits.of_a_person(universe)
    reach = most if isinstance(budget, PureLoss) else math.sqrt(most)
    noise = math.sqrt(universe.bins) * reach * noise_of_one(budget)
    return counted / len(universe.cover) / noise


def noise_of_one(budget: Loss) -> float:
    """Returns the noise in a number that one person moves by 1, if all were charged for it."""
    amount = float(budget.amount)
    return math.sqrt(2) / amount if isinstance(budget, PureLoss) else 1 / math.sqrt(2 * amount)


def _written(share: float) -> Fraction:
    """Returns a share as a fraction that people can read."""
    return Fraction(round(min(share, 1.0) * _DIGITS), _DIGITS)
