"""The distance between a fit and the best one, and a truthful bound on it.

For multipliers y the fit is max(0, value - shift). Its duality gap is half the sum of weight times
residual squared, exactly, and the objective is 1-strongly convex in the cells: the fit is within
the square root of that sum. Everything is evaluated in double-double, sums of integers are exact,
and what rounding may still hide is added.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.errors import ReleaseError
from hushway.families.od.fit.projection.problem import DualProblem, GroupedCells, Tails
from hushway.numerics.compiled import compiled
from hushway.numerics.double_double import add, dot, exact_sum, of_integer, over, times

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
    """Returns the cells of some groups; no other group may have any."""
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


# An operation in double-double errs by less than this share of its operands' sizes.
_ERROR = 2.0**-100
# The last step, from double-double to the double that is returned.
_LAST_ROUNDING = 2.0**-52
# Square roots and sums of doubles in the bound itself.
_UPWARDS = 1 + 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Multipliers:
    """One double-double multiplier per element."""

    high: FloatArray
    low: FloatArray

    def moved(self, by: FloatArray) -> "Multipliers":
        """Returns the multipliers with something added."""
        high, low = _moved(self.high, self.low, by)
        return Multipliers(high=high, low=low)


@dataclass(frozen=True, kw_only=True, eq=False)
class Certified:
    """A fit with its certificate.

    Attributes:
        shifts: The shift of each group, high and low part.
        counts: Active cells of each group.
        totals: The fitted total of each group.
        element_totals: The fitted total of each element.
        residual: The gradient of the dual.
        bound: The Euclidean distance of all cells from the best fit is at most this.
        gap: Distance between a shift and the nearest value that was seen.
    """

    multipliers: Multipliers
    shifts: tuple[FloatArray, FloatArray]
    counts: FloatArray
    totals: FloatArray
    element_totals: FloatArray
    residual: FloatArray
    bound: float
    gap: float


def certify(system: DualProblem, cells: OrderedCells, multipliers: Multipliers) -> Certified:
    """Evaluates a fit and bounds its distance from the best one."""
    high, low, counts, totals, element_totals, residual, size, gap = _evaluate(
        system.elements,
        system.counts,
        system.weights,
        multipliers.high,
        multipliers.low,
        cells.start,
        cells.values,
        cells.sums,
        cells.place,
    )
    worst = np.abs(residual) + size * (_ERROR * (len(counts) + 16))
    return Certified(
        multipliers=multipliers,
        shifts=(high, low),
        counts=counts,
        totals=totals,
        element_totals=element_totals,
        residual=residual,
        bound=system.bound(worst) * _UPWARDS,
        gap=gap,
    )


def fitted(cells: OrderedCells, certified: Certified) -> tuple[IntArray, FloatArray]:
    """Returns the places of the active cells and their fitted values."""
    return _fitted(
        cells.start, cells.values, certified.counts, certified.shifts[0], certified.shifts[1]
    )


def rounding_of(values: FloatArray) -> float:
    """Returns how far rounding may have moved fitted values, in the Euclidean norm."""
    return float(np.sqrt(dot(values, values))) * _LAST_ROUNDING * _UPWARDS


@compiled
def _moved(high: FloatArray, low: FloatArray, by: FloatArray) -> tuple[FloatArray, FloatArray]:
    new_high = np.empty_like(high)
    new_low = np.empty_like(low)
    for e in range(len(high)):
        new_high[e], new_low[e] = add(high[e], low[e], by[e], 0.0)
    return new_high, new_low


@compiled
def _evaluate(  # noqa: PLR0913, PLR0917 - compiled code takes arrays, not objects
    elements: Int32Array,
    targets: FloatArray,
    weights: FloatArray,
    y_high: FloatArray,
    y_low: FloatArray,
    start: IntArray,
    values: IntArray,
    sums: IntArray,
    place: IntArray,
) -> tuple[
    FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, float
]:
    """Returns shifts (high, low), counts, totals, totals of elements, residual, sizes and gap.

    Sizes are, for each element, the sum of the sizes of everything that entered its residual.
    """
    groups, margins = elements.shape
    size = len(targets)
    shift_high = np.empty(groups)
    shift_low = np.empty(groups)
    counts = np.empty(groups)
    totals = np.empty(groups)
    total_high = np.zeros(size)
    total_low = np.zeros(size)
    sizes = np.zeros(size)
    gap = np.inf
    for g in range(groups):
        high, low, weight = 0.0, 0.0, 0.0
        for i in range(margins):
            e = elements[g, i]
            high, low = add(high, low, y_high[e], y_low[e])
            weight += abs(y_high[e])
        first = start[g]
        last = start[g + 1]
        end = place_of(values, first, last, place[g], high)
        # The low part decides only if a value equals the high part.
        while end > first and (values[end - 1] - high) - low <= 0:
            end -= 1
        while end < last and (values[end] - high) - low > 0:
            end += 1
        place[g] = end
        count = float(end - first)
        if end > first:
            gap = min(gap, (values[end - 1] - high) - low)
        if end < last:
            gap = min(gap, -((values[end] - high) - low))
        all_high, all_low = of_integer(sums[end] - sums[first])
        off_high, off_low = times(high, low, -count)
        part_high, part_low = add(all_high, all_low, off_high, off_low)
        shift_high[g], shift_low[g], counts[g], totals[g] = high, low, count, part_high
        entered = abs(all_high) + count * weight
        for i in range(margins):
            e = elements[g, i]
            total_high[e], total_low[e] = add(total_high[e], total_low[e], part_high, part_low)
            sizes[e] += entered
    residual = np.empty(size)
    for e in range(size):
        high, low = over(y_high[e], y_low[e], weights[e])
        sizes[e] += abs(high) + abs(targets[e])
        high, low = add(high, low, targets[e], 0.0)
        high, low = add(high, low, -total_high[e], -total_low[e])
        residual[e] = high
    return shift_high, shift_low, counts, totals, total_high, residual, sizes, gap


@compiled
def _fitted(
    start: IntArray,
    values: IntArray,
    counts: FloatArray,
    shift_high: FloatArray,
    shift_low: FloatArray,
) -> tuple[IntArray, FloatArray]:
    places = np.empty(int(counts.sum()), dtype=np.int64)
    found = np.empty(len(places))
    used = 0
    for g in range(len(counts)):
        for place in range(start[g], start[g] + int(counts[g])):
            high, low = exact_sum(float(values[place]), -shift_high[g])
            places[used] = place
            found[used] = high + (low - shift_low[g])
            used += 1
    return places, found
