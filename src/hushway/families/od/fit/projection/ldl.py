"""A sparse L D L^T factorisation for one pattern and many matrices.

The matrix belongs to a system: element e meets element f where a group lies in both. The pattern
and the elimination tree are found once; a factorisation then only runs through numbers. The
up-looking algorithm is that of Davis (2005), with a floor under the pivots.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.families.od.fit.projection.problem import DualProblem
from hushway.numerics.compiled import compiled


@dataclass(frozen=True, kw_only=True, eq=False)
class Pattern:
    """Where the upper triangle has entries, and where its factor will have them.

    Attributes:
        column: Where the entries of each column begin.
        entry: For each group, the entries to which it contributes.
        parent: The elimination tree.
        factor_column: Where the entries of each column of the factor begin.
    """

    column: Int32Array
    rows: Int32Array
    entry: Int32Array
    parent: Int32Array
    factor_column: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Factor:
    """A factor: unit lower triangle by columns, from `column` to `end`, and the pivots."""

    column: IntArray
    end: IntArray
    rows: Int32Array
    entries: FloatArray
    pivots: FloatArray

    def solve(self, right: FloatArray) -> FloatArray:
        """Returns the solution for one right-hand side."""
        return _solve(self.column, self.end, self.rows, self.entries, self.pivots, right)


def pattern_of(system: DualProblem, *, most_work: float) -> Pattern | None:
    """Returns the pattern of a system, or nothing if factors would take too much work."""
    size = len(system.counts)
    column, rows, entry = _upper(system.elements, size)
    parent, heights, work = _eliminate(column, rows, most_work)
    if work > most_work:
        return None
    factor_column = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(heights, out=factor_column[1:])
    return Pattern(
        column=column, rows=rows, entry=entry, parent=parent, factor_column=factor_column
    )


def factor_of(
    pattern: Pattern, elements: Int32Array, counts: FloatArray, least: FloatArray
) -> Factor:
    """Factors diag(least) + the sum over groups of count times the outer product of its elements.

    No pivot can be below `least`, except through rounding, which is corrected.
    """
    values, diagonal = _assemble(elements, pattern.entry, len(pattern.rows), counts, least)
    rows, entries, pivots, end = _factor(
        pattern.column, pattern.rows, values, diagonal, least, pattern.parent, pattern.factor_column
    )
    return Factor(column=pattern.factor_column, end=end, rows=rows, entries=entries, pivots=pivots)


@compiled
def _upper(elements: Int32Array, size: int) -> tuple[Int32Array, Int32Array, Int32Array]:
    """Lists the entries of each column without repetition, and which ones a group adds to."""
    groups, margins = elements.shape
    pairs = margins * (margins - 1) // 2
    column = np.zeros(size + 1, dtype=np.int32)
    rows = np.empty(groups * pairs, dtype=np.int32)
    entry = np.empty((groups, pairs), dtype=np.int32)
    seen_by = np.full(size, -1, dtype=np.int32)
    seen_at = np.empty(size, dtype=np.int32)
    used = 0
    pair = 0
    for j in range(1, margins):
        place = np.zeros(size + 1, dtype=np.int32)
        for g in range(groups):
            place[elements[g, j] + 1] += 1
        for e in range(size):
            place[e + 1] += place[e]
        order = np.empty(groups, dtype=np.int32)
        for g in range(groups):
            order[place[elements[g, j]]] = g
            place[elements[g, j]] += 1
        for at in range(groups):
            g = order[at]
            e = elements[g, j]
            for i in range(j):
                row = elements[g, i]
                if seen_by[row] != e:
                    seen_by[row] = e
                    seen_at[row] = used
                    rows[used] = row
                    column[e + 1] += 1
                    used += 1
                entry[g, pair + i] = seen_at[row]
        pair += j
    for e in range(size):
        column[e + 1] += column[e]
    return column, rows[:used].copy(), entry


@compiled
def _eliminate(
    column: Int32Array, rows: Int32Array, most_work: float
) -> tuple[Int32Array, IntArray, float]:
    """Returns the elimination tree, entries per column of the factor and the work of factoring."""
    size = len(column) - 1
    parent = np.full(size, -1, dtype=np.int32)
    heights = np.zeros(size, dtype=np.int64)
    seen_by = np.full(size, -1, dtype=np.int32)
    work = 0.0
    for k in range(size):
        seen_by[k] = k
        for p in range(column[k], column[k + 1]):
            i = rows[p]
            while seen_by[i] != k:
                if parent[i] == -1:
                    parent[i] = k
                heights[i] += 1
                work += heights[i]
                seen_by[i] = k
                i = parent[i]
        if work > most_work:
            break
    return parent, heights, work


@compiled
def _assemble(
    elements: Int32Array, entry: Int32Array, entries: int, counts: FloatArray, least: FloatArray
) -> tuple[FloatArray, FloatArray]:
    groups, margins = elements.shape
    values = np.zeros(entries)
    diagonal = least.copy()
    for g in range(groups):
        count = counts[g]
        if count > 0:
            for i in range(margins):
                diagonal[elements[g, i]] += count
            for pair in range(entry.shape[1]):
                values[entry[g, pair]] += count
    return values, diagonal


@compiled
def _factor(  # noqa: PLR0917 - compiled code takes arrays, not objects
    column: Int32Array,
    rows: Int32Array,
    values: FloatArray,
    diagonal: FloatArray,
    least: FloatArray,
    parent: Int32Array,
    factor_column: IntArray,
) -> tuple[Int32Array, FloatArray, FloatArray, IntArray]:
    size = len(diagonal)
    factor_rows = np.empty(factor_column[size], dtype=np.int32)
    entries = np.empty(factor_column[size])
    pivots = np.empty(size)
    end = factor_column[:size].copy()
    dense = np.zeros(size)
    path = np.empty(size, dtype=np.int32)
    seen_by = np.full(size, -1, dtype=np.int32)
    for k in range(size):
        top = size
        seen_by[k] = k
        for p in range(column[k], column[k + 1]):
            # Most pairs of elements share no active cell at the end: their zeros cost nothing.
            if values[p] == 0.0:
                continue
            i = rows[p]
            dense[i] += values[p]
            length = 0
            while seen_by[i] != k:
                path[length] = i
                length += 1
                seen_by[i] = k
                i = parent[i]
            while length > 0:
                length -= 1
                top -= 1
                path[top] = path[length]
        pivot = diagonal[k]
        for q in range(top, size):
            i = path[q]
            entry = dense[i]
            if entry == 0.0:
                continue
            dense[i] = 0.0
            for p in range(factor_column[i], end[i]):
                dense[factor_rows[p]] -= entries[p] * entry
            scaled = entry / pivots[i]
            pivot -= scaled * entry
            factor_rows[end[i]] = k
            entries[end[i]] = scaled
            end[i] += 1
        pivots[k] = max(pivot, least[k])
    return factor_rows, entries, pivots, end


@compiled
def _solve(  # noqa: PLR0917 - compiled code takes arrays, not objects
    column: IntArray,
    end: IntArray,
    rows: Int32Array,
    entries: FloatArray,
    pivots: FloatArray,
    right: FloatArray,
) -> FloatArray:
    found = right.copy()
    size = len(found)
    for k in range(size):
        for p in range(column[k], end[k]):
            found[rows[p]] -= entries[p] * found[k]
    for k in range(size):
        found[k] /= pivots[k]
    for k in range(size - 1, -1, -1):
        for p in range(column[k], end[k]):
            found[k] -= entries[p] * found[rows[p]]
    return found
