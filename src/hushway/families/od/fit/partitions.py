"""Partitions of a table's cells, and fast sums over them.

Cells lie in rows (periods) and columns (pairs of places). An element of a partition is a class of
periods times a class of pairs, as with every feature of a table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, Int32Array
from hushway.numerics.compiled import compiled_for_threads
from hushway.numerics.threads import in_threads, processors

# Rows are added up in this many stretches, so that the number of threads never shows.
_STRETCHES: Final = 8
# Adding up fewer cells than this takes less time than starting threads.
_WORTH_A_THREAD: Final = 1 << 16


@dataclass(frozen=True, kw_only=True, eq=False)
class Partition:
    """Which element each cell lies in: class of its period times `classes`, plus that of its pair.

    Attributes:
        period_class: The class of each period.
        pair_class: The class of each pair.
        periods: Number of classes of periods.
        classes: Number of classes of pairs.
    """

    period_class: Int32Array
    pair_class: Int32Array
    periods: int
    classes: int

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.periods * self.classes

    @property
    def most_cells(self) -> int:
        """The most cells that an element has."""
        periods = np.bincount(self.period_class, minlength=1)
        return int(periods.max()) * int(np.bincount(self.pair_class, minlength=1).max())

    def sums(self, table: FloatArray) -> FloatArray:
        """Adds up a table over every element."""
        parts = in_threads(
            lambda rows: _sums(
                table[rows], self.period_class[rows], self.pair_class, self.classes, self.size
            ),
            stretches(len(table)),
            threads_for(table.size),
        )
        return np.asarray(np.sum(parts, axis=0))

    def multiply(self, table: FloatArray, factors: FloatArray) -> None:
        """Multiplies every cell by the factor of its element, in place."""
        in_threads(
            lambda rows: _multiply(
                table[rows], self.period_class[rows], self.pair_class, self.classes, factors
            ),
            stretches(len(table)),
            threads_for(table.size),
        )


def threads_for(cells: int) -> int:
    """Returns how many threads should work on so many cells."""
    return processors() if cells >= _WORTH_A_THREAD else 1


def stretches(rows: int) -> Sequence[slice]:
    """Cuts rows into a few stretches of about the same length."""
    marks = np.linspace(0, rows, min(rows, _STRETCHES) + 1).astype(int)
    return [slice(int(first), int(last)) for first, last in pairwise(marks)]


@compiled_for_threads
def _sums(
    table: FloatArray, period_class: Int32Array, pair_class: Int32Array, classes: int, size: int
) -> FloatArray:
    sums = np.zeros(size)
    for row in range(table.shape[0]):
        base = period_class[row] * classes
        for column in range(table.shape[1]):
            sums[base + pair_class[column]] += table[row, column]
    return sums


@compiled_for_threads
def _multiply(
    table: FloatArray,
    period_class: Int32Array,
    pair_class: Int32Array,
    classes: int,
    factors: FloatArray,
) -> None:
    for row in range(table.shape[0]):
        base = period_class[row] * classes
        for column in range(table.shape[1]):
            table[row, column] *= factors[base + pair_class[column]]
