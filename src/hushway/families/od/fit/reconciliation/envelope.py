"""Cholesky factors of small matrices that are mostly empty far from the diagonal: envelopes.

A matrix here is a diagonal, and for every thing out of many a weight on all pairs of the places
that it is at. Only what lies between the first entry of a row and the diagonal is kept: elimination
fills in nothing else. All on one thread, so that results never depend on their number.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.numerics.compiled import compiled
from hushway.numerics.double_double import dot


@dataclass(frozen=True, kw_only=True, eq=False)
class Envelope:
    """The factor row by row: the first column and the start of each row, and its entries."""

    first: IntArray
    start: IntArray
    entries: FloatArray

    def solve(self, right: FloatArray) -> FloatArray:
        """Returns the solution for one right-hand side."""
        return _solve(self.first, self.start, self.entries, right)


def first_columns(size: int, places: Sequence[IntArray]) -> IntArray:
    """Returns the first column with an entry in each row; `places` number the same things."""
    first = np.arange(size)
    if places:
        least = np.minimum.reduce(list(places))
        for each in places:
            np.minimum.at(first, each, least)
    return first


def factored(
    diagonal: FloatArray,
    places: Sequence[IntArray],
    weights: FloatArray,
    first: IntArray | None = None,
) -> Envelope:
    """Factors a matrix: a diagonal, and the weight of each thing on all pairs of its places."""
    if first is None:
        first = first_columns(len(diagonal), places)
    start = np.concatenate([[0], np.cumsum(np.arange(len(first)) - first + 1)])
    stacked = np.array(places, dtype=np.int64).reshape(len(places), len(weights))
    entries = _assembled(first, start, diagonal, stacked, weights)
    _factor(first, start, entries)
    return Envelope(first=first, start=start, entries=entries)


@compiled
def _assembled(
    first: IntArray, start: IntArray, diagonal: FloatArray, places: IntArray, weights: FloatArray
) -> FloatArray:
    entries = np.zeros(start[-1])
    for row in range(len(diagonal)):
        entries[start[row + 1] - 1] = diagonal[row]
    for thing in range(places.shape[1]):
        if weights[thing] != 0.0:
            for i in range(len(places)):
                row = places[i, thing]
                for j in range(len(places)):
                    column = places[j, thing]
                    if column <= row:
                        entries[start[row] + column - first[row]] += weights[thing]
    return entries


@compiled
def _factor(first: IntArray, start: IntArray, entries: FloatArray) -> None:
    for i in range(len(first)):
        row = entries[start[i] : start[i + 1]]
        for j in range(first[i], i):
            other = entries[start[j] : start[j + 1]]
            begin = max(first[i], first[j])
            known = dot(row[begin - first[i] : j - first[i]], other[begin - first[j] : -1])
            row[j - first[i]] = (row[j - first[i]] - known) / other[-1]
        rest = row[-1] - dot(row[:-1], row[:-1])
        # Rounding may leave nothing of a pivot; then that unknown is left as it is.
        row[-1] = np.sqrt(rest) if rest > 0.0 else np.inf


@compiled
def _solve(first: IntArray, start: IntArray, entries: FloatArray, right: FloatArray) -> FloatArray:
    found = right.copy()
    for i in range(len(first)):
        row = entries[start[i] : start[i + 1]]
        found[i] = (found[i] - dot(row[:-1], found[first[i] : i])) / row[-1]
    for i in range(len(first) - 1, -1, -1):
        row = entries[start[i] : start[i + 1]]
        found[i] /= row[-1]
        for j in range(first[i], i):
            found[j] -= row[j - first[i]] * found[i]
    return found
