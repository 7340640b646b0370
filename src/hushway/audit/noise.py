"""Audits of the noise alone: the stage that everything else rests on, at a million runs."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from hushway.audit.finding import Finding, Progress, quiet
from hushway.audit.harness import Examination, Trial, World
from hushway.audit.hunt import EPSILONS, checked_claims, examine_all
from hushway.audit.law import VarianceCheck, gaussian
from hushway.privacy.accounting import best_epsilon, cap_for, epsilon_of_rho
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event, noise_for
from hushway.privacy.loss import PureLoss, ZCDPLoss
from hushway.privacy.noise.law import NoiseLaw
from hushway.privacy.randomness import os_source


def rho_of(epsilon: Fraction) -> ZCDPLoss:
    """Returns the rho that a plan would spend for an epsilon at the audits' delta."""
    return cap_for(epsilon, DELTA)


def claim_of(spend: ZCDPLoss) -> Fraction:
    """Returns the epsilon that rho is worth at the audits' delta, as the accountant derives it."""
    return Fraction(math.ceil(epsilon_of_rho(spend.rho, DELTA) * _CLAIM_DIGITS), _CLAIM_DIGITS)


# Far larger than any release would use: what happens less often than a run in a million cannot be
# audited, and at this delta the claim is decided by events that are seen.
DELTA = Fraction(1, 100)
# Noise of this scale is no longer drawn from one table.
_WIDE = 2048
_CLAIM_DIGITS = 10**4


def audit_noise(
    *, runs: int, epsilons: Sequence[Fraction | int] = EPSILONS, progress: Progress | None = None
) -> list[Finding]:
    """Audits discrete Laplace and discrete Gaussian noise, narrow and wide.

    Args:
        runs: Runs on each side of every audit.
        epsilons: The claims to audit; Gaussian noise claims them with a delta of 1/100.
        progress: Told what is being audited.

    Raises:
        AuditError: There are too few runs for one of the epsilons.
    """
    claims = checked_claims(runs, epsilons)
    builders = [partial(audit, epsilon) for epsilon in claims for audit in AUDITS]
    return examine_all(builders, runs, progress or quiet)


def narrow_laplace(epsilon: Fraction) -> Examination:
    """Laplace noise for a person who moves a count by 1."""
    return _laplace("discrete Laplace noise", epsilon, _at_most(1))


def wide_laplace(epsilon: Fraction) -> Examination:
    """Laplace noise too wide for one table."""
    moved = math.ceil(_WIDE * epsilon)
    return _laplace("wide discrete Laplace noise", epsilon, _at_most(moved))


def narrow_gaussian(epsilon: Fraction) -> Examination:
    """Gaussian noise for a person who moves a count by 1."""
    return _gaussian("discrete Gaussian noise", epsilon, _at_most(1))


def wide_gaussian(epsilon: Fraction) -> Examination:
    """Gaussian noise too wide for one table."""
    return _gaussian("wide discrete Gaussian noise", epsilon, _at_most(_wide_for(epsilon)))


def narrow_gaussian_variance(epsilon: Fraction) -> Examination:
    """Gaussian noise must not be wider than it needs to be either."""
    return _gaussian_variance("spread of discrete Gaussian noise", epsilon, _at_most(1))


def wide_gaussian_variance(epsilon: Fraction) -> Examination:
    """Wide Gaussian noise must not be wider than it needs to be either."""
    bound = _at_most(_wide_for(epsilon))
    return _gaussian_variance("spread of wide discrete Gaussian noise", epsilon, bound)


AUDITS: tuple[Callable[[Fraction], Examination], ...] = (
    narrow_laplace,
    wide_laplace,
    narrow_gaussian,
    wide_gaussian,
    narrow_gaussian_variance,
    wide_gaussian_variance,
)


def _laplace(name: str, epsilon: Fraction, bound: Bound) -> Trial:
    law = noise_for(PureLoss(epsilon), bound)
    return Trial(
        name=name,
        statistic="the noisy count",
        epsilon=epsilon,
        worlds=_worlds(law, bound),
        tight=True,
    )


def _gaussian(name: str, epsilon: Fraction, bound: Bound) -> Trial:
    """Claims what the accountant derives for noise that was calibrated to (epsilon, delta)."""
    spend = cap_for(epsilon, DELTA)
    event = counting_event("audit", 1, spend, bound)
    claim = best_epsilon([event], DELTA).epsilon
    return Trial(
        name=name,
        statistic="the noisy count",
        epsilon=Fraction(math.ceil(claim * _CLAIM_DIGITS), _CLAIM_DIGITS),
        delta=DELTA,
        worlds=_worlds(noise_for(spend, bound), bound),
    )


def _gaussian_variance(name: str, epsilon: Fraction, bound: Bound) -> VarianceCheck:
    spend = cap_for(epsilon, DELTA)
    law = noise_for(spend, bound)
    return VarianceCheck(
        name=name,
        statistic="the noise",
        epsilon=epsilon,
        delta=DELTA,
        law=gaussian(_sigma_squared(spend, bound)),
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


def _sigma_squared(spend: ZCDPLoss, bound: Bound) -> Fraction:
    return bound.l2_squared / (2 * spend.rho)


def _wide_for(epsilon: Fraction) -> int:
    """Returns a move whose Gaussian noise has a sigma of at least `_WIDE`."""
    return math.ceil(_WIDE * math.sqrt(2 * cap_for(epsilon, DELTA).rho))
