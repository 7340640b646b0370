"""What each question of a density costs."""

from dataclasses import dataclass
from fractions import Fraction

from hushway.errors import PlanError
from hushway.privacy.calibration import loss_of_cuts
from hushway.privacy.loss import Loss, ZCDPLoss, loss_of


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
