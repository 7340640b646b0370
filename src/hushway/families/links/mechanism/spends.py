"""What each question about links costs."""

from dataclasses import dataclass
from fractions import Fraction

from hushway.errors import PlanError
from hushway.privacy.loss import Loss, loss_of


@dataclass(frozen=True, kw_only=True)
class Spends:
    """The price of each question; None for those that are not asked.

    Attributes:
        links: Persons on links, and beginnings and ends of trips.
        classes: Persons by zone and class.
        speeds: Steps from the usual speed.
    """

    links: Loss
    classes: Loss | None = None
    speeds: Loss | None = None

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The prices in the order in which they are paid."""
        asked = (self.links, self.classes, self.speeds)
        return tuple(loss for loss in asked if loss is not None)


def spends_of(budget: Loss, *, classes: Fraction, speeds: Fraction) -> Spends:
    """Splits a budget: what the other questions leave goes to the links.

    Privacy:
        All spends together cost exactly `budget`.

    Args:
        budget: What the release may cost.
        classes: Share of the sums by zone and class; 0 not to ask for them.
        speeds: Share of the speeds; 0 not to ask for them.

    Raises:
        PlanError: A share is negative, or nothing is left for the links.
    """
    if min(classes, speeds) < 0 or classes + speeds >= 1:
        raise PlanError(
            "The shares of a budget must not be negative and must leave something for the links.",
            advice="Lower the shares until they sum to less than 1.",
        )

    def part(share: Fraction) -> Loss | None:
        return loss_of(budget.measure, budget.amount * share) if share else None

    rest = loss_of(budget.measure, budget.amount * (1 - classes - speeds))
    return Spends(links=rest, classes=part(classes), speeds=part(speeds))
