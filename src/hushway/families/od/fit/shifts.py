"""The shifts of all groups, from multipliers that are much larger than what they add up to."""

import numpy as np

from hushway.arrays import FloatArray, Int32Array
from hushway.families.od.fit.optimality import Multipliers
from hushway.families.od.fit.system import System
from hushway.numerics.compiled import compiled
from hushway.numerics.doubled import add


def exact_shifts(system: System, multipliers: Multipliers) -> FloatArray:
    """Returns the shift of each group, rounded once."""
    return _shifts(system.elements, multipliers.high, multipliers.low)


@compiled
def _shifts(elements: Int32Array, high: FloatArray, low: FloatArray) -> FloatArray:
    groups, margins = elements.shape
    shifts = np.empty(groups)
    for g in range(groups):
        total, rest = 0.0, 0.0
        for i in range(margins):
            e = elements[g, i]
            total, rest = add(total, rest, high[e], low[e])
        shifts[g] = total
    return shifts
