"""Whole numbers of records, rounded so that prefixes and sums over all records keep theirs.

Records stand in the order of their prefixes, and running sums are rounded, so that prefixes are off
by about one record. Sums that run across prefixes would be off by much more, by chance: the errors
of thousands of records add up. So each unit that running sums hand out goes to that one of the few
records since the last unit whose other sums lack most.
"""

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.numerics.compiled import compiled


@compiled
def whole_records(
    weight: FloatArray, sums: tuple[IntArray, IntArray], sizes: tuple[int, int]
) -> IntArray:
    """Returns whole numbers of records, each the floor of its weight or one more.

    Args:
        weight: How many records each one stands for, in the order of prefixes.
        sums: The sums that each belongs to, in two ways to add all of them up.
        sizes: How many sums there are.
    """
    one, other = sums
    counts = np.floor(weight).astype(np.int64)
    lacking = np.zeros(sizes[0]), np.zeros(sizes[1])
    running, first = 0.5, 0
    for at in range(len(weight)):
        rest = weight[at] - counts[at]
        running += rest
        lacking[0][one[at]] += rest
        lacking[1][other[at]] += rest
        if running < 1:
            continue
        best, most = at, -np.inf
        for each in range(first, at + 1):
            lacks = lacking[0][one[each]] + lacking[1][other[each]]
            if weight[each] > counts[each] and lacks > most:
                best, most = each, lacks
        counts[best] += 1
        lacking[0][one[best]] -= 1
        lacking[1][other[best]] -= 1
        running -= 1
        first = at + 1
    return counts
