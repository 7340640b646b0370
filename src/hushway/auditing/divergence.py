"""Exact Rényi divergences: what a measurement loses, computed from its law and not from runs.

A release of rho-zCDP has a Rényi divergence of at most rho times the order, at every order above 1,
between its outcomes with and without a person (Bun and Steinke 2016). Where the law of an outcome
is known, that can be computed and compared, to the last digit and in both directions.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from scipy.special import logsumexp

from hushway.arrays import FloatArray, IntArray
from hushway.auditing.harness import Check, Finding

ORDERS = (1.5, 2.0, 4.0, 16.0)
# Sums of floats are off by less; a mistake worth the name is not.
SLACK = 1e-9
_RELEASES = 20
# So many standard deviations away there is less than floats can tell.
_REACH = 15


@dataclass(frozen=True, kw_only=True)
class DivergenceCheck(Check):
    """The claim that releases keep to their rho, computed from what each says it has done.

    Attributes:
        rho: What is charged for.
        release: Makes a release and returns its divergence at each of some orders.
    """

    rho: Fraction
    release: Callable[[], Mapping[float, float]]

    def examine(self, runs: int) -> Finding:  # noqa: ARG002  nothing is left to chance
        """Compares the largest divergence of some releases with what rho allows."""
        found = [self.release() for _ in range(_RELEASES)]
        largest = {order: max(one[order] for one in found) for order in ORDERS}
        worst = max(ORDERS, key=lambda order: largest[order] / order)
        share = largest[worst] / (worst * float(self.rho))
        return self.finding(
            _RELEASES,
            event=(
                f"{self.statistic} diverges by {largest[worst]:.4g} at order {worst:g}, "
                f"{share:.4f} of what rho allows"
            ),
            passed=share <= 1 + SLACK,
            reason="The divergence is computed exactly; it must not be above what rho allows.",
        )


def of_gaussians(moved: IntArray, sigma_squared: Fraction, order: float) -> float:
    """Returns how far discrete Gaussian counts diverge if a person moves them by so much.

    It is the same in both directions, since the law is symmetric.
    """
    steps, times = np.unique(np.abs(moved), return_counts=True)
    return float(
        sum(
            int(number) * _of_gaussian(int(step), sigma_squared, order)
            for step, number in zip(steps, times, strict=True)
            if step
        )
    )


def of_choices(one: FloatArray, other: FloatArray, order: float) -> float:
    """Returns how far independent choices diverge, in the worse direction.

    Args:
        one: Logarithms of the chances of all candidates, one row a choice.
        other: The same without the person.
        order: The order.
    """
    return max(
        float(logsumexp(order * p + (1 - order) * q, axis=1).sum()) / (order - 1)
        for p, q in ((one, other), (other, one))
    )


@cache
def _of_gaussian(step: int, sigma_squared: Fraction, order: float) -> float:
    sigma = math.sqrt(sigma_squared)
    reach = math.ceil(_REACH * sigma) + math.ceil(order * step)
    values = np.arange(-reach, reach + 1, dtype=np.float64)
    # The same law at two places: its normalisation is the same.
    here, there = (-((values - at) ** 2) / (2 * float(sigma_squared)) for at in (step, 0))
    weight = float(logsumexp(there))
    return float(logsumexp(order * here + (1 - order) * there) - weight) / (order - 1)
