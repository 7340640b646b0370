"""Laplace or Gaussian noise: which hurts less for the same (epsilon, delta), and why."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hushway.families.od.mechanism.shares import spends_of
from hushway.privacy.accounting import rho_for
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.loss import Loss, Measure, PureLoss, ZCDPLoss


@dataclass(frozen=True, kw_only=True)
class NoiseChoice:
    """The standard errors of the measurements under either noise.

    Attributes:
        laplace: Standard error of each measurement with discrete Laplace noise.
        gaussian: The same with discrete Gaussian noise.
        laplace_budget: What is spent with Laplace noise.
        gaussian_budget: What is spent with Gaussian noise.
    """

    laplace: tuple[float, ...]
    gaussian: tuple[float, ...]
    laplace_budget: PureLoss
    gaussian_budget: ZCDPLoss

    @property
    def ratio(self) -> float:
        """Gaussian error over Laplace error, the geometric mean over all measurements."""
        logs = [math.log(g / p) for g, p in zip(self.gaussian, self.laplace, strict=True)]
        return math.exp(sum(logs) / len(logs))

    @property
    def gaussian_is_better(self) -> bool:
        """Whether Gaussian noise is smaller."""
        return self.ratio < 1

    @property
    def budget(self) -> Loss:
        """The budget of the better one."""
        return self.gaussian_budget if self.gaussian_is_better else self.laplace_budget

    @property
    def reason(self) -> str:
        """Says which is better and why, in one sentence or two."""
        parts = len(self.laplace)
        if self.gaussian_is_better:
            return (
                f"Gaussian noise is {1 / self.ratio:.2g} times smaller: its error grows with the "
                f"square root of the {parts} measurements and of what one unit moves, Laplace's "
                "with both in full. It needs an account kept in rho."
            )
        return (
            f"Laplace noise is {self.ratio:.2g} times smaller: with {parts} measurements, of which "
            "one unit may move a single cell by all it has, Gaussian noise gains too little to "
            "make up for its delta. Laplace also keeps the promise without a delta."
        )


def compare_noise(
    *,
    epsilon: Fraction,
    delta: Fraction,
    shares: Callable[[Measure], Sequence[Fraction]],
    bounds: Sequence[Bound],
) -> NoiseChoice:
    """Compares both kinds of noise for some measurements that share one budget.

    Args:
        epsilon: The epsilon that is asked for.
        delta: The delta that Gaussian noise may use.
        shares: Gives the share of each measurement, for a loss in either currency.
        bounds: How far a unit moves each measurement.
    """
    pure, concentrated = PureLoss(epsilon), ZCDPLoss(rho_for(epsilon, delta))

    def errors(budget: Loss) -> tuple[float, ...]:
        spends = spends_of(budget, shares(budget.measure))
        return tuple(
            math.sqrt(noise_for(spend, bound).variance)
            for spend, bound in zip(spends, bounds, strict=True)
        )

    return NoiseChoice(
        laplace=errors(pure),
        gaussian=errors(concentrated),
        laplace_budget=pure,
        gaussian_budget=concentrated,
    )
