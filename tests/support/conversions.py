"""Claims as (epsilon, delta), as certificates print them."""

import math
from fractions import Fraction

from hushway.privacy.accounting import epsilon_by_zcdp
from hushway.privacy.certificate import EpsilonDelta, Terms

DELTA = Fraction(1, 10**6)


def printed_epsilon(terms: Terms) -> Fraction:
    """Returns what all that was charged for costs at `DELTA`, rounded up to millionths."""
    return Fraction(math.ceil(epsilon_by_zcdp(terms.reserved, DELTA) * 10**6), 10**6)


def stated_epsilon(epsilon: Fraction) -> EpsilonDelta:
    """Returns the statement that a release costs an epsilon at `DELTA`."""
    return EpsilonDelta(epsilon=f"{float(epsilon):.6f}", delta=str(DELTA), method="zcdp")
