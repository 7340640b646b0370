"""What a count of runs proves about a probability, and how many runs a proof needs.

Every bound is one-sided and wrong with probability `ALPHA` at most (Clopper and Pearson 1934: exact
for binomial counts, no normal approximation). A finding uses four of them, a lower and an upper one
in each direction, so a suite of N findings cries wolf with probability 4e-9 * N at most: below one
in a million for up to 250 findings.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from scipy.special import bdtrik, betainccinv, betaincinv, ndtri

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


# What so many runs can prove at most, and which mistakes they would have found.
#
# An audit that passes says that nothing was found. How much that is worth follows from the number
# of runs alone, so it can be said of every audit, and beforehand.

# How surely a mistake is found that counts as one that would have been.
FOUND_WITH: Final = 0.99
# Larger losses than any audit can prove.
_BEYOND = 40.0
_STEPS = 50


@dataclass(frozen=True, kw_only=True)
class Power:
    """What an audit of a claim could have seen.

    Attributes:
        epsilon_provable: The largest epsilon that so many runs can prove, by an event that always
            happens in one world and never in the other.
        epsilon_detected: A loss of so much or more fails the audit with probability 99%, if an
            event shows it that happens in half of the runs, as that of one noisy count does. None
            if no loss does.
    """

    epsilon_provable: float
    epsilon_detected: float | None


def power_of(runs: int, epsilon: Fraction, delta: Fraction = Fraction(0)) -> Power:
    """Returns the power of so many runs on each side, half of which count the event."""
    half = runs // 2
    return Power(
        epsilon_provable=_shown(half, 0, half, delta),
        epsilon_detected=_detected(half, float(epsilon), delta),
    )


def power_in_words(runs: int, epsilons: Sequence[Fraction]) -> str:
    """Says what audits of ordinary effort can see with so many runs, claim by claim."""
    found = {epsilon: power_of(runs, epsilon) for epsilon in epsilons}
    most = min(power.epsilon_provable for power in found.values())
    claims = "; ".join(_claim(epsilon, power) for epsilon, power in found.items())
    return (
        f"{runs:,} runs can prove a loss of {most:.2f} at most. With probability "
        f"{FOUND_WITH:.0%} they find a single measurement that loses too much: {claims}. "
        "Mistakes that show more rarely need more runs."
    )


def _claim(epsilon: Fraction, power: Power) -> str:
    claimed = f"where ε {float(epsilon):g} is claimed"
    if power.epsilon_detected is None:
        return f"{claimed}, none"
    return f"{claimed}, {power.epsilon_detected:.2f} or more"


def _detected(half: int, claim: float, delta: Fraction) -> float | None:
    """Returns the smallest loss that is likely to be proved to lie above the claim."""
    if _likely_shown(half, _BEYOND, delta) <= claim:
        return None
    low, high = claim, _BEYOND
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _likely_shown(half, middle, delta) > claim:
            high = middle
        else:
            low = middle
    return high


def _likely_shown(half: int, loss: float, delta: Fraction) -> float:
    """Returns what is proved, but for one case in a hundred, of code that loses so much."""
    tail = (1 - FOUND_WITH) / 2
    likely = math.floor(_quantile(tail, half, 0.5))
    rare = math.ceil(_quantile(1 - tail, half, (0.5 - float(delta)) * math.exp(-loss)))
    return _shown(likely, rare, half, delta)


def _quantile(share: float, runs: int, chance: float) -> float:
    """Returns a quantile of a binomial law, which is 0 if nothing happens nearly always."""
    if (1 - chance) ** runs >= share:
        return 0.0
    return float(bdtrik(share, runs, chance))


def _shown(likely: int, rare: int, half: int, delta: Fraction) -> float:
    return float(epsilon_shown(np.array([likely]), np.array([rare]), half, delta)[0])
