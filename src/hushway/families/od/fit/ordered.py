"""Cells in descending order within their groups: every tail is two lookups away."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.od.fit.problem import GroupedCells, Tails
from hushway.numerics.compiled import compiled

# Beyond this, a value would no longer be exact as a double.
_LARGEST = 1 << 53
# A place that moved further than this is found by halving instead of walking.
_WALK = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class OrderedCells:
    """Some cells of some groups, with their running sums.

    Attributes:
        start: Where each group begins; one entry more than groups.
        values: Noisy values, descending within a group.
        sums: Running sum of all values before each; differences are exact even if it wraps around.
        place: Where the cells above the last shift of each group ended: the next search starts
            there.
    """

    start: IntArray
    values: IntArray
    sums: IntArray
    place: IntArray

    def tails(self, shifts: FloatArray) -> Tails:
        """Returns the number and the excess of the cells above each group's shift."""
        counts, excess = _tails(self.start, self.values, self.sums, self.place, shifts)
        return Tails(counts=counts, excess=excess)


def in_order(cells: GroupedCells, groups: IntArray) -> OrderedCells:
    """Returns the cells of some groups; no other group may have any.

    Raises:
        ReleaseError: A value is too large to be fitted exactly.
    """
    values = cells.values
    if len(values) and max(-int(values.min()), int(values.max())) >= _LARGEST:
        raise ReleaseError(
            "A cell is too large to be fitted exactly.", advice="Keep noisy counts below 2^53."
        )
    sums = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=sums[1:])
    start = np.append(cells.start[groups], len(values))
    return OrderedCells(start=start, values=values, sums=sums, place=start[1:].copy())


@compiled
def place_of(values: IntArray, first: int, end: int, place: int, shift: float) -> int:
    """Returns the place of the first value not above the shift, looking near the last place."""
    for _ in range(_WALK):
        if place < end and values[place] > shift:
            place += 1
        elif place > first and values[place - 1] <= shift:
            place -= 1
        else:
            return place
    while first < end:
        middle = (first + end) // 2
        if values[middle] > shift:
            first = middle + 1
        else:
            end = middle
    return first


@compiled
def _tails(
    start: IntArray, values: IntArray, sums: IntArray, place: IntArray, shifts: FloatArray
) -> tuple[FloatArray, FloatArray]:
    groups = len(start) - 1
    counts = np.empty(groups)
    excess = np.empty(groups)
    for g in range(groups):
        first = start[g]
        end = place_of(values, first, start[g + 1], place[g], shifts[g])
        place[g] = end
        counts[g] = end - first
        excess[g] = (sums[end] - sums[first]) - (end - first) * shifts[g]
    return counts, excess
