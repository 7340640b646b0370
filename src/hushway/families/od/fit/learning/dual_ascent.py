"""Candidates and the rest of a huge table reconciled with measured sums by block dual ascent.

The problem is that of `fit.reconciliation`: each cell gives way as much as it is uncertain, and
none becomes negative. Here one family of sums is met after the other, several times over: one
block of the dual variables at a time. All other cells give way by factors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.learning.factor_model import CellList, FactorModel, Target

_SWEEPS: Final = 12
# The rest of an element never loses more than this share of what it has at once.
_LEAST_FACTOR: Final = 0.2


@dataclass(frozen=True, kw_only=True, eq=False)
class SumTarget:
    """A family of measured sums.

    Attributes:
        shape: What is summed of the other cells.
        element: The element that each candidate lies in.
        counts: What was measured.
        variance: The variance of its noise.
    """

    shape: Target
    element: IntArray
    counts: IntArray
    variance: float


@dataclass(frozen=True, kw_only=True, eq=False)
class OtherCells:
    """All cells that are no candidates.

    Attributes:
        expected: Their factor model; changed in place.
        without: The candidates as cells, and pairs that have no cell.
        spread: The variance of a count over its mean.
    """

    expected: FactorModel
    without: CellList
    spread: float


def ascend_dual(
    mean: FloatArray, variance: FloatArray, rest: OtherCells, sums: Sequence[SumTarget]
) -> FloatArray:
    """Returns reconciled candidates; other cells change in place. The surest sums come last."""
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
