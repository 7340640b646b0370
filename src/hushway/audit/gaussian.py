"""What releases with Gaussian noise claim: an epsilon at the delta of the audits, and a rho."""

import math
from fractions import Fraction

from hushway.audit.harness import Trial, World
from hushway.audit.shift import ShiftCheck, most_of_gaussian
from hushway.privacy.accounting import cap_for, epsilon_of_rho
from hushway.privacy.loss import ZCDPLoss

# Far larger than any release would use: what happens less often than a run in a million cannot be
# audited, and at this delta the claim is decided by events that are seen.
DELTA = Fraction(1, 100)
_CLAIM_DIGITS = 10**4


def rho_of(epsilon: Fraction) -> ZCDPLoss:
    """Returns the rho that a plan would spend for an epsilon at the audits' delta."""
    return cap_for(epsilon, DELTA)


def claim_of(spend: ZCDPLoss) -> Fraction:
    """Returns the epsilon that rho is worth at the audits' delta, as the accountant derives it."""
    return rounded_up(epsilon_of_rho(spend.rho, DELTA))


def rounded_up(epsilon: float) -> Fraction:
    """Returns a claim of at least an epsilon, in few digits."""
    return Fraction(math.ceil(epsilon * _CLAIM_DIGITS), _CLAIM_DIGITS)


def gaussian_trial(
    *,
    name: str,
    statistic: str,
    epsilon: Fraction,
    worlds: tuple[World, World],
    effort: Fraction = Fraction(1),
) -> Trial:
    """Claims what the rho of an epsilon is worth at the audits' delta."""
    return Trial(
        name=name,
        statistic=statistic,
        epsilon=claim_of(rho_of(epsilon)),
        delta=DELTA,
        worlds=worlds,
        effort=effort,
    )


def gaussian_shift(
    *,
    name: str,
    statistic: str,
    epsilon: Fraction,
    worlds: tuple[World, World],
    rhos: Fraction = Fraction(1),
    tight: bool = False,
    effort: Fraction = Fraction(1),
) -> ShiftCheck:
    """Claims that a person moves sums of Gaussian noise as far as the rho of an epsilon allows.

    If the worlds differ by more or less than one person, `rhos` says how many times that rho.
    """
    return ShiftCheck(
        name=name,
        statistic=statistic,
        epsilon=epsilon,
        delta=DELTA,
        worlds=worlds,
        most=most_of_gaussian(rhos * rho_of(epsilon).rho),
        tight=tight,
        effort=effort,
    )
