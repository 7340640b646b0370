"""Passes over all cells of a table: the cells that follow from multipliers, and their sums.

Pairs lie in runs along which one family of sums does not change; that one costs one addition a run.
All others are looked up cell by cell, in a buffer that stays in the processor's cache.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.partitions import Partition, UInt32Array, stretches, threads_for
from hushway.numerics.compiled import compiled_for_threads
from hushway.numerics.threads import in_threads

# Runs are no longer than this, so that the buffer of one is a few kilobytes.
_LONGEST: Final = 1024

Part = tuple[IntArray, UInt32Array, IntArray, UInt32Array, IntArray]


@dataclass(frozen=True, kw_only=True, eq=False)
class Layout:
    """Where the elements of some families are, for every cell.

    Attributes:
        size: Number of elements of all families, numbered one family after the other.
        starts: Where each run of pairs begins, and one entry more.
        lead: The class of each run in the family that leads: the one with the fewest runs.
        lead_rows: For each period, the number of its first element in that family.
        columns: For every other family and pair, the class of the pair.
        rows: For every other family and period, the number of its first element.
    """

    size: int
    starts: IntArray
    lead: UInt32Array
    lead_rows: IntArray
    columns: UInt32Array
    rows: IntArray

    @staticmethod
    def of(partitions: Sequence[Partition]) -> "Layout":
        """Returns the layout of some families, at least one."""
        first = np.cumsum([0, *(each.size for each in partitions)])
        changes = [np.flatnonzero(np.diff(each.pair_class)) + 1 for each in partitions]
        leads = min(range(len(partitions)), key=lambda each: len(changes[each]))
        pairs = len(partitions[leads].pair_class)
        cuts = np.concatenate([changes[leads], np.arange(0, pairs, _LONGEST), [pairs]])
        starts = np.unique(cuts)
        rows = np.array(
            [
                start + each.period_class.astype(np.int64) * each.classes
                for start, each in zip(first, partitions, strict=False)
            ]
        )
        columns = np.array([each.pair_class for each in partitions]).astype(np.uint32)
        others = [each for each in range(len(partitions)) if each != leads]
        return Layout(
            size=int(first[-1]),
            starts=starts,
            lead=columns[leads, starts[:-1]],
            lead_rows=rows[leads],
            columns=np.ascontiguousarray(columns[others]),
            rows=np.ascontiguousarray(rows[others]),
        )

    def cells(self, mean: FloatArray, variance: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Returns the cells that follow from multipliers."""
        found = np.empty_like(mean)
        in_threads(
            lambda rows: _cells(
                mean[rows], variance[rows], self.part(rows), multipliers, found[rows]
            ),
            stretches(len(mean)),
            threads_for(mean.size),
        )
        return found

    def evaluate(
        self, mean: FloatArray, variance: FloatArray, multipliers: FloatArray, moving: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Returns sums of cells and of active variances; fills `moving` with the latter by cell."""
        parts = in_threads(
            lambda rows: _evaluate(
                mean[rows], variance[rows], self.part(rows), multipliers, moving[rows]
            ),
            stretches(len(mean)),
            threads_for(mean.size),
        )
        return (
            np.asarray(np.sum([part[0] for part in parts], axis=0)),
            np.asarray(np.sum([part[1] for part in parts], axis=0)),
        )

    def part(self, rows: slice) -> Part:
        """Returns where the cells of some periods are, as compiled code takes it."""
        return (
            self.starts,
            self.lead,
            self.lead_rows[rows],
            self.columns,
            np.ascontiguousarray(self.rows[:, rows]),
        )


@compiled_for_threads
def _add_exactly(
    shift: FloatArray, lost: FloatArray, there: FloatArray, column: UInt32Array
) -> None:
    """Adds multipliers to those of the cells of a run, and keeps what rounding loses.

    Multipliers of families that contradict each other are large, and nearly cancel.
    """
    for place in range(len(column)):
        one, other = shift[place], there[column[place]]
        total = one + other
        back = total - one
        shift[place] = total
        lost[place] += (one - (total - back)) + (other - back)


@compiled_for_threads
def _scatter(sums: FloatArray, column: UInt32Array, values: FloatArray) -> None:
    for place in range(len(column)):
        sums[column[place]] += values[place]


@compiled_for_threads
def _cells_of(
    mean: FloatArray, variance: FloatArray, shift: FloatArray, lost: FloatArray, cells: FloatArray
) -> None:
    for place in range(len(cells)):
        value = mean[place] + variance[place] * (shift[place] + lost[place])
        cells[place] = value if value > 0 else 0.0


@compiled_for_threads
def _cells(
    mean: FloatArray, variance: FloatArray, part: Part, multipliers: FloatArray, found: FloatArray
) -> None:
    starts, lead, lead_rows, columns, rows = part
    shift, lost = np.empty(_LONGEST), np.empty(_LONGEST)
    for row in range(mean.shape[0]):
        for run in range(len(lead)):
            first, last = starts[run], starts[run + 1]
            shift[: last - first] = multipliers[lead_rows[row] + lead[run]]
            lost[: last - first] = 0.0
            for family in range(len(rows)):
                there, column = multipliers[rows[family, row] :], columns[family, first:last]
                _add_exactly(shift, lost, there, column)
            _cells_of(
                mean[row, first:last],
                variance[row, first:last],
                shift,
                lost,
                found[row, first:last],
            )


@compiled_for_threads
def _evaluate(
    mean: FloatArray, variance: FloatArray, part: Part, multipliers: FloatArray, moving: FloatArray
) -> tuple[FloatArray, FloatArray]:
    starts, lead, lead_rows, columns, rows = part
    shift, lost, cells = np.empty(_LONGEST), np.empty(_LONGEST), np.empty(_LONGEST)
    sums, variances = np.zeros(len(multipliers)), np.zeros(len(multipliers))
    for row in range(mean.shape[0]):
        for run in range(len(lead)):
            first, last = starts[run], starts[run + 1]
            here = lead_rows[row] + lead[run]
            shift[: last - first] = multipliers[here]
            lost[: last - first] = 0.0
            for family in range(len(rows)):
                there, column = multipliers[rows[family, row] :], columns[family, first:last]
                _add_exactly(shift, lost, there, column)
            found, active, spread = cells[: last - first], moving[row, first:last], variance[row]
            _cells_of(mean[row, first:last], spread[first:last], shift, lost, found)
            sum_of_run, variance_of_run = 0.0, 0.0
            for place in range(len(found)):
                own = spread[first + place]
                active[place] = own if found[place] > 0 else 0.0
                sum_of_run += found[place]
                variance_of_run += active[place]
            sums[here] += sum_of_run
            variances[here] += variance_of_run
            for family in range(len(rows)):
                base, column = rows[family, row], columns[family, first:last]
                _scatter(sums[base:], column, found)
                _scatter(variances[base:], column, active)
    return sums, variances
