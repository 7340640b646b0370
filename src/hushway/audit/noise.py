"""Audits of the noise alone: the stage that everything else rests on, at a million runs."""

import math
from collections.abc import Callable
from fractions import Fraction

from hushway.audit.harness import Examination, Trial, World
from hushway.audit.law import VarianceCheck, gaussian
from hushway.audit.shift import DELTA, rounded_up
from hushway.audit.suite import Audit, Suite
from hushway.privacy.accounting import best_epsilon, budget_limit_for
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event, noise_for
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.privacy.randomness import os_source

Noise = Callable[[Loss, Bound], NoiseLaw]
"""Chooses the noise that fits a spend, given how far a person moves a count."""

# Noise of this scale is no longer drawn from one table.
_WIDE = 2048


def narrow_laplace(noise: Noise, epsilon: Fraction) -> Examination:
    """Laplace noise for a person who moves a count by 1."""
    return _laplace(noise, "discrete Laplace noise", epsilon, _at_most(1))


def wide_laplace(noise: Noise, epsilon: Fraction) -> Examination:
    """Laplace noise too wide for one table."""
    moved = math.ceil(_WIDE * epsilon)
    return _laplace(noise, "wide discrete Laplace noise", epsilon, _at_most(moved))


def narrow_gaussian(noise: Noise, epsilon: Fraction) -> Examination:
    """Gaussian noise for a person who moves a count by 1."""
    return _gaussian(noise, "discrete Gaussian noise", epsilon, _at_most(1))


def wide_gaussian(noise: Noise, epsilon: Fraction) -> Examination:
    """Gaussian noise too wide for one table."""
    return _gaussian(noise, "wide discrete Gaussian noise", epsilon, _at_most(_wide_for(epsilon)))


def narrow_gaussian_variance(noise: Noise, epsilon: Fraction) -> Examination:
    """Gaussian noise must not be wider than it needs to be either."""
    return _gaussian_variance(noise, "spread of discrete Gaussian noise", epsilon, _at_most(1))


def wide_gaussian_variance(noise: Noise, epsilon: Fraction) -> Examination:
    """Wide Gaussian noise must not be wider than it needs to be either."""
    bound = _at_most(_wide_for(epsilon))
    return _gaussian_variance(noise, "spread of wide discrete Gaussian noise", epsilon, bound)


_AUDITS: tuple[Audit[Noise], ...] = (
    narrow_laplace,
    wide_laplace,
    narrow_gaussian,
    wide_gaussian,
    narrow_gaussian_variance,
    wide_gaussian_variance,
)

SUITE = Suite(real=noise_for, audits=_AUDITS)


def _laplace(noise: Noise, name: str, epsilon: Fraction, bound: Bound) -> Trial:
    law = noise(PureLoss(epsilon), bound)
    return Trial(
        name=name,
        statistic="the noisy count",
        epsilon=epsilon,
        worlds=_worlds(law, bound),
        tight=True,
    )


def _gaussian(noise: Noise, name: str, epsilon: Fraction, bound: Bound) -> Trial:
    """Claims what the accountant derives for noise that was calibrated to (epsilon, delta)."""
    spend = budget_limit_for(epsilon, DELTA)
    event = counting_event("audit", 1, spend, bound)
    claim = best_epsilon([event], DELTA).epsilon
    return Trial(
        name=name,
        statistic="the noisy count",
        epsilon=rounded_up(claim),
        delta=DELTA,
        worlds=_worlds(noise(spend, bound), bound),
    )


def _gaussian_variance(noise: Noise, name: str, epsilon: Fraction, bound: Bound) -> VarianceCheck:
    spend = budget_limit_for(epsilon, DELTA)
    law = noise(spend, bound)
    return VarianceCheck(
        name=name,
        statistic="the noise",
        epsilon=epsilon,
        delta=DELTA,
        law=gaussian(bound.l2_squared / (2 * spend.rho)),
        sample=lambda runs: law.draw(os_source(), runs),
    )


def _worlds(law: NoiseLaw, bound: Bound) -> tuple[World, World]:
    source = os_source()
    return (
        World(words="the person", sample=lambda runs: bound.each + law.draw(source, runs)),
        World(words="nobody", sample=lambda runs: law.draw(source, runs)),
    )


def _at_most(moved: int) -> Bound:
    return Bound(cells=1, each=moved, total=moved)


def _wide_for(epsilon: Fraction) -> int:
    """Returns a move whose Gaussian noise has a sigma of at least `_WIDE`."""
    return math.ceil(_WIDE * math.sqrt(2 * budget_limit_for(epsilon, DELTA).rho))
