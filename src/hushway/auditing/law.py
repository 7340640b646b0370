"""Checks of the noise's law itself: its variance, how often it is odd, how often anything happens.

Some mistakes leave every single number as noisy as it should be and still give the exact one away:
noise that is used twice cancels when two answers are subtracted. The variance of a difference sees
that. Noise that was rounded from a float, or drawn on a coarser lattice, shows in its odd numbers.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from scipy.special import logsumexp

from hushway.arrays import FloatArray, IntArray
from hushway.auditing.bounds import lower_bound, upper_bound
from hushway.auditing.harness import Check, Finding, Sampler, enough

# The mean of n squares is normal to a good approximation for the n used here; 8 standard errors of
# the normal law have probability 1e-15, which leaves room for the approximation to be wrong by a
# factor of a million before 1e-9 is reached.
_STANDARD_ERRORS = 8


@dataclass(frozen=True, kw_only=True)
class Moments:
    """Variance of a law of mean 0, and its kurtosis E X^4 / (E X^2)^2."""

    variance: float
    kurtosis: float


@dataclass(frozen=True, kw_only=True)
class VarianceCheck(Check):
    """The claim that something noisy of mean 0 has just the variance of its law.

    Attributes:
        law: The moments of the law it should follow.
    """

    law: Moments
    sample: Sampler

    def examine(self, runs: int) -> Finding:
        """Compares the mean square with the law's variance."""
        runs = enough(runs, self.effort)
        seen = float(np.mean(self.sample(runs).astype(np.float64) ** 2))
        ratio = seen / self.law.variance
        slack = _STANDARD_ERRORS * math.sqrt((self.law.kurtosis - 1) / runs)
        return self.finding(
            runs,
            event=f"{self.statistic} has variance {seen:.4g}; its law has {self.law.variance:.4g}",
            passed=abs(ratio - 1) <= slack,
            reason=(
                f"The variance is {ratio:.3f} times what it should be; "
                f"chance explains {1 - slack:.3f} to {1 + slack:.3f}."
            ),
        )


@dataclass(frozen=True, kw_only=True)
class ParityCheck(Check):
    """The claim that noise is a whole number, odd as often as discrete Laplace noise is.

    Attributes:
        sample: Returns 0 for an even number, 1 for an odd one and 2 for one that is not whole.
    """

    scale: Fraction
    sample: Sampler

    def examine(self, runs: int) -> Finding:
        """Compares how often the noise is odd with 2a/(1 + a)^2, by exact bounds."""
        runs = enough(runs, self.effort)
        outcomes = self.sample(runs)
        whole = bool((outcomes < 2).all())  # noqa: PLR2004  the mark of a number that is not whole
        odd = np.array([np.count_nonzero(outcomes == 1)])
        low, high = float(lower_bound(odd, runs)[0]), float(upper_bound(odd, runs)[0])
        ratio = math.exp(-1 / self.scale)
        share = 2 * ratio / (1 + ratio) ** 2
        return self.finding(
            runs,
            event=(
                f"{self.statistic} is odd {100 * odd[0] / runs:.4g}% of the time; "
                f"discrete Laplace noise is odd {100 * share:.4g}% of the time"
            ),
            passed=whole and low <= share <= high,
            reason=(
                f"Chance explains {100 * low:.4g}% to {100 * high:.4g}%."
                if whole
                else "Some noisy counts are not 64-bit whole numbers."
            ),
        )


def laplace_difference(scale: Fraction) -> Moments:
    """Returns the moments of the difference of two independent discrete Laplace numbers.

    E Z^2 = 2a/(1-a)^2 and E Z^4 = 2a(1 + 10a + a^2)/(1-a)^4; cross terms add 6 (E Z^2)^2.
    """
    ratio = math.exp(-1 / scale)
    square = 2 * ratio / (1 - ratio) ** 2
    fourth = 2 * ratio * (1 + 10 * ratio + ratio**2) / (1 - ratio) ** 4
    variance = 2 * square
    return Moments(variance=variance, kurtosis=(2 * fourth + 6 * square**2) / variance**2)


def gaussian(sigma_squared: Fraction, terms: int = 1) -> Moments:
    """Returns the moments of a sum of independent discrete Gaussian numbers, term by term."""
    reach = math.ceil(40 * math.sqrt(sigma_squared))
    values = np.arange(-reach, reach + 1, dtype=np.float64)
    mass = np.exp(-(values**2) / (2 * float(sigma_squared)))
    mass /= mass.sum()
    variance = float(mass @ values**2)
    kurtosis = float(mass @ values**4) / variance**2
    return Moments(variance=terms * variance, kurtosis=3 + (kurtosis - 3) / terms)


@dataclass(frozen=True, kw_only=True)
class ChanceCheck(Check):
    """The claim that an event has a known probability.

    Attributes:
        sample: Returns 1 where it happens and 0 where it does not.
    """

    chance: float
    sample: Sampler

    def examine(self, runs: int) -> Finding:
        """Compares how often it happens with the probability, by exact bounds."""
        runs = enough(runs, self.effort)
        seen = np.array([np.count_nonzero(self.sample(runs))])
        low, high = float(lower_bound(seen, runs)[0]), float(upper_bound(seen, runs)[0])
        return self.finding(
            runs,
            event=(
                f"{self.statistic} {100 * seen[0] / runs:.4g}% of the time; "
                f"its law says {100 * self.chance:.4g}%"
            ),
            passed=low <= self.chance <= high,
            reason=f"Chance explains {100 * low:.4g}% to {100 * high:.4g}%.",
        )


def gaussian_tail(sigma_squared: Fraction, least: float) -> float:
    """Returns the probability that a discrete Gaussian number is at least `least`."""
    reach = math.ceil(40 * math.sqrt(sigma_squared))
    values = np.arange(-reach, reach + 1, dtype=np.float64)
    mass = np.exp(-(values**2) / (2 * float(sigma_squared)))
    return float(mass[values >= least].sum() / mass.sum())


# Exact Rényi divergences: what a measurement loses, computed from its law and not from runs.
#
# A release of rho-zCDP has a Rényi divergence of at most rho times the order, at every order above
# 1, between its outcomes with and without a person (Bun and Steinke 2016). Where the law of an
# outcome is known, that can be computed and compared, to the last digit and in both directions.

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
