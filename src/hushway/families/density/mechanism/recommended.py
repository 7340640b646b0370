"""How to split a budget among the questions of a density: public rules, no row is read."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from scipy.optimize import minimize

from hushway.errors import PlanError
from hushway.families.density.mechanism.fit import Denoise
from hushway.families.density.public.visits import DensityUniverse, VisitLimits
from hushway.privacy.calibration import loss_of_cuts
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, loss_of


@dataclass(frozen=True, kw_only=True)
class Spends:
    """The price of each question; None for those that are not asked.

    Attributes:
        series: Visits by cluster and bin.
        histogram: One visit of each person by site.
        total: All visits.
        clusters: The totals that clusters are made by.
        cuts: How many cosines of each series to keep.
    """

    series: Loss
    histogram: Loss | None = None
    total: Loss | None = None
    clusters: Loss | None = None
    cuts: ZCDPLoss | None = None

    def __post_init__(self) -> None:
        if (self.histogram is None) != (self.total is None):
            raise PlanError(
                "A histogram of sites and the number of all visits are of no use without each "
                "other.",
                advice="Give both a share of the budget, or none.",
            )

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The prices in the order in which they are paid."""
        asked = (self.histogram, self.total, self.clusters, self.cuts, self.series)
        return tuple(loss for loss in asked if loss is not None)


@dataclass(frozen=True, kw_only=True)
class Shares:
    """The share of each question in a budget; 0 for those that are not asked.

    Attributes:
        histogram: One visit of each person by site.
        total: All visits.
        clusters: The totals that clusters are made by.
        cuts: How many cosines of each series to keep.
    """

    histogram: Fraction = Fraction(0)
    total: Fraction = Fraction(0)
    clusters: Fraction = Fraction(0)
    cuts: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        parts = (self.histogram, self.total, self.clusters, self.cuts)
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
        PlanError: Cuts are to be paid from a pure epsilon.
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
    others = amount * (shares.histogram + shares.total + shares.clusters)
    return Spends(
        series=loss_of(measure, amount - others - (cuts.rho if cuts else 0)),
        histogram=part(shares.histogram),
        total=part(shares.total),
        clusters=part(shares.clusters),
        cuts=cuts,
    )


# Found flat around these on the synthetic city: a half or a double of any changes little.
_HISTOGRAM: Final = Fraction(6, 100)
_TOTAL: Final = Fraction(1, 100)
_CLUSTERS: Final = Fraction(1, 100)
_CELL_TOTALS: Final = Fraction(1, 4)
_CUTS: Final = Fraction(1, 5)
# A cleaned series has about this many free numbers.
_FREE: Final = 12
_DIGITS: Final = 1000
# Patterns are learnt from many series, and real places differ from their neighbours more than the
# synthetic city's do: a middle way. Cosines know one series at a time, and need larger ones.
_CLUSTER_ERRORS: Final[dict[Denoise, float]] = {
    "patterns": 0.05,
    "sure": 0.02,
    "cuts": 0.02,
    "none": 0.02,
}


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """A public guess of how many there are; a wrong one costs accuracy, never privacy.

    Attributes:
        people: People in the data.
        visits: Visits of one of them in the window, on average.
    """

    people: float
    visits: float


def recommended_cluster_error(denoise: Denoise) -> float:
    """Returns how noisy a cluster's series may be, as a share of its total."""
    return _CLUSTER_ERRORS[denoise]


def recommended_shares(*, scaling: bool, clustering: bool, cuts: bool) -> Shares:
    """Returns shares that suit most cities."""
    clusters = (_CLUSTERS if scaling else _CELL_TOTALS) if clustering else Fraction(0)
    return Shares(
        histogram=_HISTOGRAM if scaling else Fraction(0),
        total=_TOTAL if scaling else Fraction(0),
        clusters=clusters,
        cuts=_CUTS if cuts else Fraction(0),
    )


def optimised_shares(
    universe: DensityUniverse,
    limits: VisitLimits,
    budget: Loss,
    crowd: Crowd,
    shares: Shares,
) -> Shares:
    """Returns the shares of histogram and total that suit a guess of the crowd.

    The expected relative error of a cell has three parts that the budget can move: the noise left
    in its shape, the noise in its total, and the noise in the number of all visits. The sum of
    their squares is made as small as possible; the shares of other questions stay.

    Args:
        universe: The public areas, bins and sites.
        limits: How much of one person counts.
        budget: What all questions together may cost.
        crowd: A public guess of how many there are.
        shares: What the other questions get; where the search starts.
    """
    error = _error(universe, limits, budget, crowd, float(shares.clusters + shares.cuts))
    found = minimize(
        lambda logs: error(math.exp(logs[0]), math.exp(logs[1])),
        [math.log(shares.histogram), math.log(shares.total)],
        method="Nelder-Mead",
    )
    histogram, total = (_written(math.exp(log)) for log in found.x)
    return Shares(histogram=histogram, total=total, clusters=shares.clusters, cuts=shares.cuts)


def _error(
    universe: DensityUniverse, limits: VisitLimits, budget: Loss, crowd: Crowd, others: float
) -> Callable[[float, float], float]:
    """Returns the expected squared relative error of a cell for two shares."""
    cells = len(universe.cover)
    visits = min(crowd.visits, limits.max_visits, universe.bins)
    people = crowd.people / cells
    reach = min(limits.max_visits, universe.bins)
    pure = isinstance(budget, PureLoss)

    def noise(squared: float, share: float) -> float:
        amount = float(budget.amount) * share
        return 2 * squared / amount**2 if pure else squared / (2 * amount)

    def error(histogram: float, total: float) -> float:
        series = 1 - histogram - total - others
        if series <= 0:
            return math.inf
        of_series = noise(reach**2 if pure else reach, series)
        shape = of_series * _FREE * universe.bins / (people * visits) ** 2
        by_sum = of_series * universe.bins / (people * visits) ** 2
        by_people = (people + noise(1, histogram)) / people**2
        whole = noise(limits.most_counted**2, total) / (crowd.people * crowd.visits) ** 2
        return shape + 1 / (1 / by_sum + 1 / by_people) + whole

    return error


def _written(share: float) -> Fraction:
    """Returns a share as a fraction that people can read."""
    return max(Fraction(round(share * _DIGITS), _DIGITS), Fraction(1, _DIGITS))
