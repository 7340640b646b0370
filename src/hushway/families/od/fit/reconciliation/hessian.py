"""Products of the dual's Hessian with a direction: only active cells move the sums.

Of a table that is mostly noise nine cells in ten end at 0. Then only the others are listed, and a
pass over the list takes a tenth of the time.
"""

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.partitions import UInt32Array, stretches, threads_for
from hushway.families.od.fit.reconciliation.cell_passes import Layout, Part
from hushway.numerics.compiled import compiled_for_threads
from hushway.numerics.threads import in_threads

# A list takes less time than a table if at most one in so many cells moves.
_FEW: Final = 4
# Fewer listed cells than this are one stretch.
_SHORT: Final = 1 << 18


class Hessian(Protocol):
    """The Hessian of the dual without the noise of the sums."""

    def times(self, direction: FloatArray) -> FloatArray:
        """Returns how the sums change along a direction."""
        ...


def active_hessian(layout: Layout, moving: FloatArray) -> Hessian:
    """Returns the Hessian as a table or a list, whichever is faster; 0 marks inactive cells."""
    counts = in_threads(
        lambda rows: int(np.count_nonzero(moving[rows])),
        stretches(len(moving)),
        threads_for(moving.size),
    )
    if _FEW * sum(counts) > moving.size:
        return _DenseHessian(layout=layout, moving=moving)
    cuts = stretches(len(moving)) if sum(counts) >= _SHORT else [slice(0, len(moving))]
    listed = in_threads(
        lambda rows: _List.of(layout.part(rows), moving[rows]), cuts, threads_for(moving.size)
    )
    return _SparseHessian(lists=tuple(listed))


@dataclass(frozen=True, kw_only=True, eq=False)
class _DenseHessian:
    layout: Layout
    moving: FloatArray

    def times(self, direction: FloatArray) -> FloatArray:
        parts = in_threads(
            lambda rows: _follow(self.moving[rows], self.layout.part(rows), direction),
            stretches(len(self.moving)),
            threads_for(self.moving.size),
        )
        return np.asarray(np.sum(parts, axis=0))


@dataclass(frozen=True, kw_only=True, eq=False)
class _List:
    """Active cells of some periods: where each run of pairs begins, their pairs and variances."""

    part: Part
    starts: IntArray
    places: UInt32Array
    variance: FloatArray

    @staticmethod
    def of(part: Part, moving: FloatArray) -> "_List":
        starts, places, variance = _listed(moving, part)
        return _List(part=part, starts=starts, places=places, variance=variance)


@dataclass(frozen=True, kw_only=True, eq=False)
class _SparseHessian:
    lists: tuple[_List, ...]

    def times(self, direction: FloatArray) -> FloatArray:
        parts = in_threads(
            lambda one: _follow_list(one.part, one.starts, one.places, one.variance, direction),
            self.lists,
            threads_for(sum(len(one.places) for one in self.lists)),
        )
        return parts[0] if len(parts) == 1 else np.asarray(np.sum(parts, axis=0))


@compiled_for_threads
def _listed(moving: FloatArray, part: Part) -> tuple[IntArray, UInt32Array, FloatArray]:
    runs, lead = part[0], part[1]
    count = np.count_nonzero(moving)
    starts = np.zeros(len(moving) * len(lead) + 1, dtype=np.int64)
    places, variance = np.empty(count + 1, dtype=np.uint32), np.empty(count + 1)
    found = 0
    for row in range(len(moving)):
        for run in range(len(lead)):
            for place in range(runs[run], runs[run + 1]):
                # Without a branch: a cell that does not move is overwritten by the next one.
                own = moving[row, place]
                places[found], variance[found] = place, own
                found += own != 0.0
            starts[row * len(lead) + run + 1] = found
    return starts, places[:found], variance[:found]


@compiled_for_threads
def _follow_list(
    part: Part, starts: IntArray, places: UInt32Array, variance: FloatArray, direction: FloatArray
) -> FloatArray:
    _, lead, lead_rows, columns, rows = part
    change = np.zeros(len(direction))
    for row in range(len(lead_rows)):
        for run in range(len(lead)):
            here = lead_rows[row] + lead[run]
            total = 0.0
            for listed in range(starts[row * len(lead) + run], starts[row * len(lead) + run + 1]):
                place, move = places[listed], direction[here]
                for family in range(len(rows)):
                    move += direction[rows[family, row] + columns[family, place]]
                move *= variance[listed]
                total += move
                for family in range(len(rows)):
                    change[rows[family, row] + columns[family, place]] += move
            change[here] += total
    return change


@compiled_for_threads
def _follow(moving: FloatArray, part: Part, direction: FloatArray) -> FloatArray:
    starts, lead, lead_rows, columns, rows = part
    change = np.zeros(len(direction))
    buffer = np.empty(moving.shape[1])
    for row in range(moving.shape[0]):
        for run in range(len(lead)):
            first, last = starts[run], starts[run + 1]
            here = lead_rows[row] + lead[run]
            moved, active = buffer[: last - first], moving[row, first:last]
            moved[:] = direction[here]
            for family in range(len(rows) - 1):
                there, column = direction[rows[family, row] :], columns[family, first:last]
                for place in range(len(column)):
                    moved[place] += there[column[place]]
            if len(rows):
                base, column = rows[-1, row], columns[-1, first:last]
                change[here] += _move(active, direction[base:], column, moved, change[base:])
            else:
                change[here] += direction[here] * active.sum()
            for family in range(len(rows) - 1):
                there, column = change[rows[family, row] :], columns[family, first:last]
                for place in range(len(column)):
                    there[column[place]] += moved[place]
    return change


@compiled_for_threads
def _move(
    active: FloatArray,
    there: FloatArray,
    column: UInt32Array,
    moved: FloatArray,
    change: FloatArray,
) -> float:
    """Moves the cells of a run, with one family in the same loop, and returns their sum."""
    total = 0.0
    for place in range(len(column)):
        moved[place] = active[place] * (moved[place] + there[column[place]])
        change[column[place]] += moved[place]
        total += moved[place]
    return total
