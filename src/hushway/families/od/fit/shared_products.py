"""Products of what errors of cells have in common, sum by sum, in compiled code."""

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.numerics.compiled import compiled


@compiled
def by_sum(sums: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Returns all cells, those of one sum after those of another, and where each sum begins."""
    starts = np.zeros(size + 1, dtype=np.int64)
    for one in sums:
        starts[one + 1] += 1
    starts = np.cumsum(starts)
    free, order = starts.copy(), np.empty(len(sums), dtype=np.int64)
    for cell in range(len(sums)):
        order[free[sums[cell]]] = cell
        free[sums[cell]] += 1
    return order, starts


@compiled
def products(
    order: IntArray, starts: IntArray, group: Int32Array, own: FloatArray, roots: FloatArray
) -> FloatArray:
    """Adds up products of all two different cells that are in the same sum and group."""
    found, inside = np.zeros(len(starts) - 1), np.zeros(len(roots))
    for one in range(len(found)):
        for cell in order[starts[one] : starts[one + 1]]:
            weight = own[cell] * roots[group[cell]]
            inside[group[cell]] += weight
            found[one] -= weight**2
        for cell in order[starts[one] : starts[one + 1]]:
            found[one] += inside[group[cell]] ** 2
            inside[group[cell]] = 0.0
    return found
