"""What so many runs can prove at most, and which mistakes they would have found.

An audit that passes says that nothing was found. How much that is worth follows from the number of
runs alone, so it can be said of every audit, and beforehand.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from scipy.special import bdtrik

from hushway.auditing.bounds import epsilon_shown

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
