"""What audited code claims, as the numbers that audits compare."""

import math
from fractions import Fraction

from hushway.audit.noise import DELTA
from hushway.privacy.accounting import cap_for, epsilon_of_rho
from hushway.privacy.loss import ZCDPLoss

_CLAIM_DIGITS = 10**4


def rho_of(epsilon: Fraction) -> ZCDPLoss:
    """Returns the rho that a plan would spend for an epsilon at the audits' delta."""
    return cap_for(epsilon, DELTA)


def claim_of(spend: ZCDPLoss) -> Fraction:
    """Returns the epsilon that rho is worth at the audits' delta, as the accountant derives it."""
    return Fraction(math.ceil(epsilon_of_rho(spend.rho, DELTA) * _CLAIM_DIGITS), _CLAIM_DIGITS)
