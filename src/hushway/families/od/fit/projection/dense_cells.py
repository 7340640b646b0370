"""Noisy cells that are all in memory: one integer for every period and pair of places."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.errors import ReleaseError
from hushway.families.od.fit.projection.problem import GroupedCells, Tails
from hushway.numerics.compiled import compiled

# A rough forecast of what lies above a shift, for tables that are mostly noise.
#
# Noise of the double-exponential kind loses the same share of its tail with every step away from 0.
# A forecast is only used to choose where to look first, so nothing depends on its being right.


@dataclass(frozen=True, kw_only=True, eq=False)
class TailForecast:
    """Exponential tails on both sides of 0.

    Attributes:
        counts: How many are above 0.
        excess: Their sum.
        scale: The distance over which a tail shrinks by a factor of e.
        steps: How many Newton steps from 0 to follow this law: few if showing too many cells is
            cheaper than having to ask again.
    """

    sizes: IntArray
    counts: FloatArray
    excess: FloatArray
    scale: float
    steps: int = 30

    def tails(self, shifts: FloatArray) -> Tails:
        """Returns the number and excess of cells expected above each group's shift."""
        fade = np.exp(-np.abs(shifts) / self.scale)
        below = self.sizes - self.counts
        up = shifts >= 0
        counts = np.where(up, self.counts * fade, self.sizes - below * fade)
        down = self.excess - shifts * self.sizes - below * self.scale * (1 - fade)
        return Tails(counts=counts, excess=np.where(up, self.excess * fade, down))


def noise_forecast(sizes: IntArray, scale: float) -> TailForecast:
    """Returns the forecast for pure noise of a mean absolute value."""
    half = sizes / 2
    return TailForecast(sizes=sizes, counts=half, excess=half * scale, scale=scale)


@runtime_checkable
class Foreseeable(Protocol):
    """A source of cells that can say roughly what it would show, before it shows anything."""

    def forecast(self) -> TailForecast:
        """Returns the forecast."""
        ...


_KEY_BITS = 63
# Two steps leave a tenth of pure noise; sorting that is cheaper than reading everything again.
_STEPS = 2
# The law of a forecast says nothing about groups smaller than this.
_LARGE_GROUP = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class DenseCells:
    """A whole noisy vector; cell t * pairs + p lies in group (class of t, class of p)."""

    values: IntArray
    pair_class: Int32Array
    pair_classes: int
    period_class: Int32Array
    period_classes: int

    def __post_init__(self) -> None:
        """Checks that every cell has a group."""
        fits = (
            len(self.values) == len(self.pair_class) * len(self.period_class)
            and _within(self.pair_class, self.pair_classes)
            and _within(self.period_class, self.period_classes)
        )
        if not fits:
            raise ReleaseError(
                "Cells and classes do not fit together.",
                advice="Give one value per period and pair, and classes counted from 0.",
            )

    @cached_property
    def sizes(self) -> IntArray:
        """Number of cells in each group."""
        periods = np.bincount(self.period_class, minlength=self.period_classes)
        pairs = np.bincount(self.pair_class, minlength=self.pair_classes)
        return np.outer(periods, pairs).ravel().astype(np.int64)

    def forecast(self) -> TailForecast:
        """Returns exact tails above 0, and an exponential law beyond."""
        counts, sums = _positive(
            self.values, self.pair_class, self.period_class, self.pair_classes, len(self.sizes)
        )
        scale = float(sums.sum()) / max(1.0, float(counts.sum()))
        return TailForecast(
            sizes=self.sizes,
            counts=counts.astype(np.float64),
            excess=sums.astype(np.float64),
            scale=max(1.0, scale),
            steps=_STEPS if len(self.values) >= _LARGE_GROUP * len(self.sizes) else 0,
        )

    def above(self, thresholds: IntArray) -> GroupedCells:
        """Returns every cell whose value is at or above its group's threshold."""
        cells, groups, values = _keep_from(
            self.values, self.pair_class, self.period_class, thresholds, self.pair_classes
        )
        start = np.zeros(len(thresholds) + 1, dtype=np.int64)
        np.cumsum(np.bincount(groups, minlength=len(thresholds)), out=start[1:])
        cells, values = _ordered(cells, groups, values)
        return GroupedCells(start=start, cells=cells, values=values)


def _within(codes: Int32Array, classes: int) -> bool:
    return len(codes) == 0 or (int(codes.min()) >= 0 and int(codes.max()) < classes)


def _ordered(cells: IntArray, groups: IntArray, values: IntArray) -> tuple[IntArray, IntArray]:
    """Returns cells and values by group, then descending by value, then by cell."""
    if not len(cells):
        return cells, values
    top = int(values.max())
    value_bits = (top - int(values.min())).bit_length()
    cell_bits = int(cells.max()).bit_length()
    if int(groups.max()).bit_length() + value_bits + cell_bits > _KEY_BITS:
        order = np.lexsort((cells, -values, groups))
        return cells[order], values[order]
    # One sort of plain integers is several times faster than an indirect one by three keys.
    keys = (((groups << value_bits) | (top - values)) << cell_bits) | cells
    keys.sort()
    cells = keys & ((1 << cell_bits) - 1)
    return cells, top - ((keys >> cell_bits) & ((1 << value_bits) - 1))


@compiled
def _positive(
    values: IntArray,
    pair_class: Int32Array,
    period_class: Int32Array,
    pair_classes: int,
    groups: int,
) -> tuple[IntArray, IntArray]:
    """Returns the number and the sum of each group's positive cells."""
    pairs = len(pair_class)
    counts = np.zeros(groups, dtype=np.int64)
    sums = np.zeros(groups, dtype=np.int64)
    for t in range(len(period_class)):
        base = period_class[t] * pair_classes
        for p in range(pairs):
            group = base + pair_class[p]
            value = values[t * pairs + p]
            # Without a branch: half of all cells are positive, unpredictably.
            counts[group] += np.int64(value > 0)
            sums[group] += max(value, 0)
    return counts, sums


@compiled
def _keep_from(
    values: IntArray,
    pair_class: Int32Array,
    period_class: Int32Array,
    lowest: IntArray,
    pair_classes: int,
) -> tuple[IntArray, IntArray, IntArray]:
    """Returns the cells at or above their group's lowest value, their groups and values."""
    pairs = len(pair_class)
    room = min(len(values), pairs + len(values) // 8) + 1
    cells = np.empty(room, dtype=np.int64)
    kept = 0
    each = np.zeros(len(period_class), dtype=np.int64)
    for t in range(len(period_class)):
        if kept + pairs >= room:
            room = min(len(values), 2 * room + pairs) + 1
            more = np.empty(room, dtype=np.int64)
            for taken in range(kept):
                more[taken] = cells[taken]
            cells = more
        base = period_class[t] * pair_classes
        before = kept
        for p in range(pairs):
            # Without a branch: a cell that does not pass is overwritten by the next one.
            cells[kept] = t * pairs + p
            kept += int(values[t * pairs + p] >= lowest[base + pair_class[p]])
        each[t] = kept - before
    groups = np.empty(kept, dtype=np.int64)
    shown = np.empty(kept, dtype=np.int64)
    i = 0
    for t in range(len(period_class)):
        base = period_class[t] * pair_classes
        for _ in range(each[t]):
            groups[i] = base + pair_class[cells[i] - t * pairs]
            shown[i] = values[cells[i]]
            i += 1
    return cells[:kept], groups, shown
