"""Link counts by name: from the public facts of a plan to a complete mechanism."""

import math
from fractions import Fraction
from typing import Final

from hushway.families.links.mechanism.counts import LinkCounts, spends_of
from hushway.families.links.mechanism.preparation import USUAL, Preparation
from hushway.families.links.public.universe import MovementLimits
from hushway.privacy.accounting import rho_for
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss

CLASSES: Final = Fraction(1, 10)
SPEEDS: Final = Fraction(1, 4)


def link_counts(  # noqa: PLR0913  one argument for each public choice
    limits: MovementLimits,
    *,
    budget: Loss,
    classes: Fraction = CLASSES,
    speeds: Fraction = Fraction(0),
    shown: float = 2.0,
    expect: bool = True,
    conserve: bool = True,
    preparation: Preparation = USUAL,
) -> LinkCounts:
    """Returns link counts.

    Privacy:
        All questions together cost exactly `budget`.

    Args:
        limits: How much of one person counts.
        budget: What the release may cost; its currency decides on the noise.
        classes: Share of the sums by zone and class.
        speeds: Share of the speeds.
        shown: A link is published from so many standard errors on.
        expect: Whether links are expected to be like others of their class and zone.
        conserve: Whether nodes are balanced.
        preparation: How positions become trips; as usual unless given.
    """
    return LinkCounts(
        limits=limits,
        spends=spends_of(budget, classes=classes, speeds=speeds),
        shown=shown,
        expect=expect,
        conserve=conserve,
        preparation=preparation,
    )


def smaller_noise(epsilon: Fraction, delta: Fraction | None, limits: MovementLimits) -> Loss:
    """Returns the budget whose noise on a link is smaller: pure epsilon, or a rho if allowed.

    Discrete Laplace noise has a standard deviation of about sqrt(2) m / epsilon, discrete Gaussian
    noise one of sqrt(m / (2 rho)), for m items of a person.
    """
    pure = PureLoss(epsilon)
    if delta is None:
        return pure
    rho = rho_for(epsilon, delta)
    laplace = math.sqrt(2) * limits.max_items / epsilon
    gaussian = math.sqrt(limits.max_items / (2 * rho))
    return ZCDPLoss(rho) if gaussian < laplace else pure
