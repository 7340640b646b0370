"""What a count of runs proves about a probability, and how many runs a proof needs.

Every bound is one-sided and wrong with probability `ALPHA` at most (Clopper and Pearson 1934: exact
for binomial counts, no normal approximation). A finding uses four of them, a lower and an upper one
in each direction, so a suite of N findings cries wolf with probability 4e-9 * N at most: below one
in a million for up to 250 findings.
"""

import math
from fractions import Fraction

import numpy as np
from scipy.special import betainccinv, betaincinv, ndtri

from hushway.arrays import FloatArray, IntArray

ALPHA = 1e-9
# Over-noising is a bug too: a single stage has to show this share of what it claims.
SHARE_TO_SHOW = 0.8


def lower_bound(successes: IntArray, runs: int) -> FloatArray:
    """Returns what the probability of a success is at least, for each count of successes."""
    hit = successes > 0
    count = np.where(hit, successes, 1)
    return np.where(hit, betaincinv(count, runs - count + 1, ALPHA), 0.0)


def upper_bound(successes: IntArray, runs: int) -> FloatArray:
    """Returns what the probability of a success is at most, for each count of successes."""
    missed = successes < runs
    count = np.where(missed, successes, 0)
    return np.where(missed, betainccinv(count + 1, runs - count, ALPHA), 1.0)


def epsilon_shown(likely: IntArray, rare: IntArray, runs: int, delta: Fraction) -> FloatArray:
    """Returns the epsilon that counts of one event, out of `runs` on each side, prove; at least 0.

    (epsilon, delta)-DP means P(likely) <= exp(epsilon) P(rare) + delta for every event.
    """
    above = np.maximum(lower_bound(likely, runs) - float(delta), 0.0)
    with np.errstate(divide="ignore"):
        shown: FloatArray = np.log(above) - np.log(upper_bound(rare, runs))
    return np.maximum(shown, 0.0, out=shown)


def runs_needed(epsilon: Fraction, likely: float = 0.5) -> int:
    """Returns a number of runs with which a correct stage shows its share of the claim.

    Discrete Laplace noise has an event of probability at least 1/2 in one world and exp(-epsilon)
    times that in the other; several measurements together have a rarer one. The answer is large
    enough for both counts to lie as far on the wrong side as happens once in 1/`ALPHA` audits, so a
    finding of too much noise is not bad luck either.

    Args:
        epsilon: The claim.
        likely: The probability of the event in the world where it is more likely.
    """
    half, rare = 1000, likely * math.exp(-epsilon)
    while _shown_at_worst(likely, rare, half) < SHARE_TO_SHOW * epsilon:
        half += half // 8
    return 2 * half


def _shown_at_worst(likely: float, rare: float, runs: int) -> float:
    spread = -float(ndtri(ALPHA))
    low = runs * likely - spread * math.sqrt(runs * likely * (1 - likely))
    high = runs * rare + spread * math.sqrt(runs * rare * (1 - rare))
    counts = np.array([math.floor(low)]), np.array([math.ceil(high)])
    return float(epsilon_shown(*counts, runs, Fraction(0))[0])
