"""Whole counts for a fitted prefix tree: every node its own floor or ceiling, all at once.

A node's value is shared out among its children and the sequences that end at it. From the top down,
its whole count is shared out in the same way: everyone gets at least the floor of their real share,
and the largest remainders get one more. The floors of the shares add up to no more than the floor
of the node, and their ceilings to no less than its ceiling. So there is always enough, and nobody
gets more than a ceiling.

Real values are first cut to a fixed point, so that sums are exact: a tree that is consistent but
for the errors of floats becomes one that is so without exception.
"""

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.sequences.fit.tree_active_set import (
    children_of,
    refuse_misplaced,
    refuse_unlike,
)
from hushway.numerics.compiled import compiled

_FRACTION_BITS = 30
_ONE = 1 << _FRACTION_BITS
_HALF = _ONE >> 1
# Values in fixed point have to fit into 63 bits.
_MOST = 2.0**32
# Children may exceed their parent by the errors of floats: this share of it, or of 1 if it is less.
_EXCESS = 1e-9


def round_prefixes(parent: IntArray, values: FloatArray) -> IntArray:
    """Returns whole counts: none is negative, none is below the sum of its children.

    Every count is the floor or the ceiling of its value, those without a parent the nearest of the
    two; and so is the number of sequences that end at a node, `ends`. A value counts as whole if it
    is less than 1e-9 above a whole number. Children with equal remainders are rounded up evenly
    along their order, beginning at another one in each node.

    Args:
        parent: The node above each node, -1 for none; parents stand before their children.
        values: A consistent tree, but for the errors of floats.

    Privacy:
        Everything here is computed from noisy counts: post-processing, which costs nothing.

    Raises:
        ReleaseError: The tree is not consistent, or a value is not a number or 2^32 or more.
    """
    refuse_misplaced(parent)
    refuse_unlike(parent, values)
    # Written so that a value that is not a number is refused too.
    if len(values) and not 0 <= values.min() <= values.max() < _MOST:
        raise ReleaseError(
            "A value of the prefix tree cannot be rounded to a count.",
            advice="Give values from 0 to 2^32 - 1.",
        )
    start, children = children_of(parent)
    fixed, excess = _in_fixed_point(parent, values)
    if excess > _EXCESS:
        raise ReleaseError(
            "The children of a node of the prefix tree exceed it.",
            advice="Make the tree consistent before it is rounded.",
        )
    return _shared_out(parent, start, children, fixed)


def ends(parent: IntArray, counts: IntArray) -> IntArray:
    """Returns how many sequences end at each node: its count without those of its children."""
    refuse_misplaced(parent)
    refuse_unlike(parent, counts)
    return _without_children(parent, counts)


@compiled
def _without_children(parent: IntArray, counts: IntArray) -> IntArray:
    left = counts.copy()
    for v in range(len(parent)):
        if parent[v] >= 0:
            left[parent[v]] -= counts[v]
    return left


@compiled
def _in_fixed_point(parent: IntArray, values: FloatArray) -> tuple[IntArray, float]:
    """Returns values in fixed point, and the largest share by which children exceed a parent."""
    fixed = np.zeros(len(parent), dtype=np.int64)
    below = np.zeros(len(parent))
    excess = 0.0
    for v in range(len(parent) - 1, -1, -1):
        excess = max(excess, (below[v] - values[v]) / max(1.0, values[v]))
        # Cut, not rounded, so that many small children do not add up to more than their parent.
        fixed[v] = max(int(values[v] * _ONE), fixed[v])
        if parent[v] >= 0:
            fixed[parent[v]] += fixed[v]
            below[parent[v]] += values[v]
    return fixed, excess


@compiled
def _shared_out(parent: IntArray, start: IntArray, children: IntArray, fixed: IntArray) -> IntArray:
    """Rounds from the top down; each node shares its count out among its children."""
    counts = fixed >> _FRACTION_BITS
    for v in range(len(parent)):
        if parent[v] < 0:
            counts[v] = (fixed[v] + _HALF) >> _FRACTION_BITS
        if start[v] < start[v + 1]:
            _share(v, children[start[v] : start[v + 1]], fixed, counts)
    return counts


@compiled
def _share(v: int, children: IntArray, fixed: IntArray, counts: IntArray) -> None:
    """Rounds up the children of a node with the largest remainders; their counts are floors yet."""
    ending, left, fractional = fixed[v], counts[v], 0
    for child in children:
        ending -= fixed[child]
        left -= counts[child]
        fractional += (fixed[child] & (_ONE - 1)) > 0
    left -= ending >> _FRACTION_BITS
    ending &= _ONE - 1
    if left <= 0:
        return
    if left < fractional + (ending > 0):
        # Those who end come last among equals.
        larger = 0
        for child in children:
            remainder = fixed[child] & (_ONE - 1)
            larger += remainder > 0 and remainder >= ending
        up = left - 1 if larger < left else left
        if up > 0:
            _raise_largest(v, children, fixed, counts, up)
    else:
        for child in children:
            counts[child] += (fixed[child] & (_ONE - 1)) > 0


@compiled
def _raise_largest(v: int, children: IntArray, fixed: IntArray, counts: IntArray, up: int) -> None:
    """Rounds up the children with the largest remainders; equal ones evenly along their order."""
    remainders = fixed[children] & (_ONE - 1)
    least = _largest(remainders, up)
    ties = 0
    for remainder in remainders:
        ties += remainder == least
        up -= remainder > least
    place = v % ties * up
    for child in children:
        remainder = fixed[child] & (_ONE - 1)
        if remainder > least:
            counts[child] += 1
        elif remainder == least:
            counts[child] += (place + up) // ties - place // ties
            place += up


@compiled
def _largest(numbers: IntArray, rank: int) -> int:
    """Returns the number of a rank, 1 for the largest; the order of the numbers is changed."""
    first, last = 0, len(numbers) - 1
    wanted = rank - 1
    while first < last:
        pivot = numbers[(first + last) // 2]
        left, right = first, last
        while left <= right:
            while numbers[left] > pivot:
                left += 1
            while numbers[right] < pivot:
                right -= 1
            if left <= right:
                numbers[left], numbers[right] = numbers[right], numbers[left]
                left += 1
                right -= 1
        if wanted <= right:
            last = right
        elif wanted >= left:
            first = left
        else:
            break
    return int(numbers[wanted])


# Whole numbers of records, rounded so that prefixes and sums over all records keep theirs.
#
# Records stand in the order of their prefixes, and running sums are rounded, so that prefixes are
# off by about one record. Sums that run across prefixes would be off by much more, by chance: the
# errors of thousands of records add up. So each unit that running sums hand out goes to that one of
# the few records since the last unit whose other sums lack most.


@compiled
def whole_records(
    weight: FloatArray, sums: tuple[IntArray, IntArray], sizes: tuple[int, int]
) -> IntArray:
    """Returns whole numbers of records, each the floor of its weight or one more.

    Args:
        weight: How many records each one stands for, in the order of prefixes.
        sums: The sums that each belongs to, in two ways to add all of them up.
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
