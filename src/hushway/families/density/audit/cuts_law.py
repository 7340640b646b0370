"""The claim that cuts are drawn by the exponential mechanism, at a rate that was paid for.

Three things are compared: the rate that a release states with what rho pays for; the exact Rényi
divergence of all cuts, at that rate, with rho; and the cuts of many releases with their chances.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import chdtrc, logsumexp

from hushway.arrays import FloatArray, IntArray
from hushway.audit.divergence import ORDERS, SLACK, of_choices
from hushway.audit.finding import Finding
from hushway.audit.harness import World, enough
from hushway.privacy.bound import Bound

# Three powers of ten below the 1e-9 of other checks, for the tail of a law that is approximate.
_LEAST_CHANCE = 1e-12
# Draws that a bin should hold, below which neighbouring cuts are put together.
_FEWEST = 50
# Rounding the scores moves each series by so much beyond what a person does.
_ROUNDING = 2


@dataclass(frozen=True, kw_only=True)
class CutsCheck:
    """What is known of cuts.

    Attributes:
        name: What is audited.
        epsilon: The claimed epsilon.
        delta: The claimed delta.
        rho: What is paid for.
        bound: How far a person moves all series.
        worlds: The two neighbouring inputs; a run has how many cosines each series keeps.
        scores: The exact scores of all cuts in both, one row a series.
        rate: Makes a release and returns the rate that it says it has chosen by.
        effort: How many times the runs that are asked for it takes.
    """

    name: str
    epsilon: Fraction
    delta: Fraction
    rho: Fraction
    bound: Bound
    worlds: tuple[World, World]
    scores: tuple[FloatArray, FloatArray]
    rate: Callable[[], Fraction]
    effort: Fraction = Fraction(1)

    def examine(self, runs: int) -> Finding:
        """Compares rate, divergence and draws with what they should be."""
        runs = enough(runs, self.effort)
        rate = float(self.rate())
        laws = one, other = [_log_chances(scores, rate) for scores in self.scores]
        paid = math.sqrt(2 * self.rho) / _spread(self.bound)
        divergence = max(
            of_choices(one, other, order) / (order * float(self.rho)) for order in ORDERS
        )
        fit = min(
            _fit(world.sample(runs), law) for world, law in zip(self.worlds, laws, strict=True)
        )
        if max(rate / paid, divergence) > 1 + SLACK:
            reason = "The stated rate loses more than was paid for."
        elif fit < _LEAST_CHANCE:
            reason = "The cuts are not drawn by the exponential mechanism at the stated rate."
        else:
            reason = ""
        return Finding(
            name=self.name,
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            epsilon_lower=0.0,
            runs=runs,
            event=(
                f"the rate is {rate / paid:.4f} of what rho pays for, the cuts diverge by "
                f"{divergence:.4f} of what it allows, and cuts drawn by their chances would lie as "
                f"far from these with probability {fit:.2g}"
            ),
            passed=not reason,
            reason=reason or "Rate, divergence and draws are as they should be.",
        )


def _spread(bound: Bound) -> float:
    """Returns how far a person moves the scores of all series, in the Euclidean norm."""
    return math.sqrt(bound.l2_squared) + _ROUNDING * math.sqrt(bound.cells)


def _log_chances(scores: FloatArray, rate: float) -> FloatArray:
    weights = -rate * scores
    chances: FloatArray = weights - logsumexp(weights, axis=1, keepdims=True)
    return chances


def _fit(kept: IntArray, law: FloatArray) -> float:
    """Returns how likely cuts are to lie as far from their chances, by a chi-square test.

    Args:
        kept: How many cosines each series keeps, one row a run.
        law: Logarithms of the chances to keep one, two, ..., one row a series.
    """
    distance, freedom = 0.0, 0
    for cuts, chances in zip(kept.T, np.exp(law), strict=True):
        expected = len(cuts) * chances
        seen = np.bincount(cuts - 1, minlength=len(chances)).astype(np.float64)
        starts = _bins(expected)
        sums, found = (np.add.reduceat(column, starts) for column in (expected, seen))
        distance += float(((found - sums) ** 2 / sums).sum())
        freedom += len(sums) - 1
    return float(chdtrc(freedom, distance)) if freedom else 1.0


def _bins(expected: FloatArray) -> list[int]:
    """Returns where bins begin that hold enough draws each; what is left joins the last."""
    starts, held, rest = [0], 0.0, float(expected.sum())
    for place, number in enumerate(expected[:-1].tolist()):
        held, rest = held + number, rest - number
        if held >= _FEWEST and rest >= _FEWEST:
            starts.append(place + 1)
            held = 0.0
    return starts
