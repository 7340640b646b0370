"""Candidates and the rest of a huge table brought together with measured sums.

As in `fit.joining` each gives way as much as it is uncertain, and no cell becomes negative. Here
one family of sums is met after the other, several times over: the dual of the same problem, one
block of unknowns at a time. What is spread over all other cells gives way by factors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.learning.factored import Factored, SomeCells, Target

_SWEEPS: Final = 12
# The rest of an element never loses more than this share of what it has at once.
_LEAST_FACTOR: Final = 0.2


@dataclass(frozen=True, kw_only=True, eq=False)
class Met:
    """A family of measured sums.

    Attributes:
        shape: What is summed of the rest.
        element: The element that each candidate lies in.
        counts: What was measured.
        variance: The variance of its noise.
    """

    shape: Target
    element: IntArray
    counts: IntArray
    variance: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Rest:
    """All cells that are no candidates.

    Attributes:
        expected: What is expected of them; changed in place.
        without: The candidates as cells, and pairs that have no cell.
        spread: The variance of a count over its mean.
    """

    expected: Factored
    without: SomeCells
    spread: float


def settle(mean: FloatArray, variance: FloatArray, rest: Rest, sums: Sequence[Met]) -> FloatArray:
    """Returns candidates that agree with sums; the rest is changed in place.

    Args:
        mean: The estimate of every candidate.
        variance: How far each gives way.
        rest: All other cells.
        sums: The measured sums, the most certain ones last.
    """
    asked = mean.copy()
    pulled = [np.zeros(len(each.counts)) for each in sums]
    for _ in range(_SWEEPS):
        for number, each in enumerate(sums):
            size = len(each.counts)
            gives = np.where(asked > 0, variance, 0.0)
            trips = np.bincount(each.element, weights=np.maximum(asked, 0.0), minlength=size)
            others = rest.expected.sums(each.shape, rest.without)
            missing = each.counts - trips - others - each.variance * pulled[number]
            change = missing / (
                each.variance
                + np.bincount(each.element, weights=gives, minlength=size)
                + rest.spread * others
            )
            pulled[number] += change
            asked += variance * change[each.element]
            factors = np.maximum(1 + rest.spread * change, _LEAST_FACTOR)
            rest.expected.multiply(each.shape, factors)
    return np.maximum(asked, 0.0)
