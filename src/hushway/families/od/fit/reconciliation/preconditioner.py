"""The coarse level of a two-level preconditioner: aggregates of sums, solved for exactly.

Raising all origins of a period and lowering all its destinations by as much changes no cell, and
only the noise of the sums resists it; conjugate gradients would take long to find out. Two families
share such a direction for everything that neither tells apart: the classes of the one that are
connected by classes of the other. One family is the host, and all others share their aggregates
with it, so that the matrix among all of them follows from the sums of the host alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.families.od.fit.partitions import Partition
from hushway.numerics.compiled import compiled
from hushway.numerics.double_double import dot

# Multiplications in one factorisation: about a twentieth of a second.
_MOST_WORK: Final = 3e7


@dataclass(frozen=True, kw_only=True, eq=False)
class Envelope:
    """The Cholesky factor of a small matrix that is mostly empty far from the diagonal.

    The matrix is a diagonal, and for every thing out of many a weight on all pairs of the places
    that it is at. Kept are the first column and the start of each row, and what lies between it and
    the diagonal: elimination fills in nothing else. All on one thread, so that results never depend
    on their number.
    """

    first: IntArray
    start: IntArray
    entries: FloatArray

    def solve(self, right: FloatArray) -> FloatArray:
        """Returns the solution for one right-hand side."""
        return _solve(self.first, self.start, self.entries, right)


@dataclass(frozen=True, kw_only=True, eq=False)
class Aggregates:
    """Which sums move together, and the matrix among the aggregates.

    Attributes:
        aggregate: The aggregate of every element of every family, one family after the other.
        places: For each family, the aggregate that the host's elements belong to there.
        host: Where the elements of the host are.
        first: The first entry of each row of the matrix.
    """

    aggregate: IntArray
    places: tuple[IntArray, ...]
    host: slice
    first: IntArray

    def factor(self, least: FloatArray, active: FloatArray) -> Envelope:
        """Factors the matrix, given what resists each element and its active variance."""
        return factored(self._sums(least), self.places, active[self.host], self.first)

    def moved(self, factor: Envelope, left: FloatArray) -> FloatArray:
        """Returns how far every element moves with its aggregate."""
        return factor.solve(self._sums(left))[self.aggregate]

    def _sums(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(self.aggregate, values, len(self.first)), dtype=np.float64)


def aggregates_of(partitions: Sequence[Partition]) -> Aggregates | None:
    """Returns the aggregates of families that cross, or None if one family is all there is.

    The host is the family with the most aggregates, as long as their matrix is quickly factored.
    """
    ties = {
        (one, other): _Tie.between(partitions[one], partitions[other])
        for one in range(len(partitions))
        for other in range(one + 1, len(partitions))
    }
    best: Aggregates | None = None
    for host in range(len(partitions)):
        found = _hosted(partitions, ties, host)
        width = np.arange(len(found.first)) - found.first + 1
        if float(np.sum(width.astype(np.float64) ** 2)) > _MOST_WORK:
            continue
        if best is None or len(found.first) > len(best.first):
            best = found
    return best if len(partitions) > 1 else None


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tie:
    """What two families do not tell apart, as classes of the periods and pairs of both."""

    periods: tuple[IntArray, IntArray]
    pairs: tuple[IntArray, IntArray]

    @staticmethod
    def between(one: Partition, other: Partition) -> "_Tie":
        return _Tie(
            periods=_tied(one.period_class, one.periods, other.period_class, other.periods),
            pairs=_tied(one.pair_class, one.classes, other.pair_class, other.classes),
        )

    def of(self, side: int) -> tuple[IntArray, IntArray]:
        """Returns the classes of one side: of its classes of periods and of pairs."""
        return self.periods[side], self.pairs[side]


def _hosted(
    partitions: Sequence[Partition], ties: dict[tuple[int, int], _Tie], host: int
) -> Aggregates:
    labels, seen = [], []
    for family, partition in enumerate(partitions):
        if family == host:
            mine = [
                ties[min(host, other), max(host, other)].of(int(host > other))
                for other in range(len(partitions))
                if other != host
            ]
            period = _together([one for one, _ in mine], partition.periods)
            pair = _together([two for _, two in mine], partition.classes)
            labels.append((period, pair))
            seen.append((period, pair))
        else:
            tie = ties[min(host, family), max(host, family)]
            labels.append(tie.of(int(family > host)))
            seen.append(tie.of(int(host > family)))
    counts = [
        tuple(int(max(own.max(), other.max())) + 1 for own, other in zip(mine, theirs, strict=True))
        for mine, theirs in zip(labels, seen, strict=True)
    ]
    # Aggregates of the same period come together, those of all periods last: then rows are short.
    order = np.lexsort(
        (
            np.concatenate([np.repeat(np.arange(rows), columns) for rows, columns in counts]),
            np.concatenate([np.full(rows * columns, rows == 1) for rows, columns in counts]),
        )
    )
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    first = np.cumsum([0, *(rows * columns for rows, columns in counts)])
    ends = np.cumsum([0, *(each.size for each in partitions)])

    def numbered(classes: tuple[IntArray, IntArray], family: int) -> IntArray:
        period, pair = classes
        place = (period[:, None] * counts[family][1] + pair[None, :]).ravel()
        return np.asarray(number[first[family] + place])

    places = tuple(numbered(classes, family) for family, classes in enumerate(seen))
    return Aggregates(
        aggregate=np.concatenate([numbered(each, family) for family, each in enumerate(labels)]),
        places=places,
        host=slice(int(ends[host]), int(ends[host + 1])),
        first=first_columns(len(number), places),
    )


def _together(numberings: Sequence[IntArray], size: int) -> IntArray:
    """Numbers things by all numberings at once."""
    found = np.zeros(size, dtype=np.int64)
    for numbering in numberings:
        _, found = np.unique(found * (int(numbering.max()) + 1) + numbering, return_inverse=True)
    return found


def _tied(one: Int32Array, ones: int, other: Int32Array, others: int) -> tuple[IntArray, IntArray]:
    """Returns classes of the classes of two numberings: those tied to each other are one."""
    _, tied = np.unique(_roots(one, other, ones, others), return_inverse=True)
    return tied[:ones], tied[ones:]


@compiled
def _roots(one: Int32Array, other: Int32Array, ones: int, others: int) -> IntArray:
    """Finds connected components (union-find) of classes that share a thing."""
    above = np.arange(ones + others)
    for thing in range(len(one)):
        a, b = np.int64(one[thing]), np.int64(ones + other[thing])
        while above[a] != a:
            above[a] = above[above[a]]
            a = above[a]
        while above[b] != b:
            above[b] = above[above[b]]
            b = above[b]
        above[max(a, b)] = min(a, b)
    for place in range(len(above)):
        above[place] = above[above[place]]
    return above


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
