"""Partitions of a table's cells, and fast sums over them.

Cells lie in rows (periods) and columns (pairs of places). An element of a partition is a class of
periods times a class of pairs, as with every feature of a table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import FloatArray, Int32Array
from hushway.families.od.public.features import Feature
from hushway.numerics.compiled import compiled_for_threads
from hushway.numerics.threads import in_threads, processors

# Rows are added up in this many stretches, so that the number of threads never shows.
_STRETCHES: Final = 8
# Adding up fewer cells than this takes less time than starting threads.
_WORTH_A_THREAD: Final = 1 << 16
# No sum counts as less than this, so that nothing is divided by 0.
_LEAST: Final = 1e-300
# Compiled code that looks things up by unsigned numbers need not ask whether they are negative.
UInt32Array = NDArray[np.uint32]


@dataclass(frozen=True, kw_only=True, eq=False)
class Partition:
    """Which element each cell lies in: class of its period times `classes`, plus that of its pair.

    Attributes:
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

    @cached_property
    def columns(self) -> UInt32Array:
        """The class of each pair, as compiled code takes it."""
        return self.pair_class.astype(np.uint32)

    def sums(self, table: FloatArray) -> FloatArray:
        """Adds up a table over every element."""
        parts = in_threads(
            lambda rows: _sums(
                table[rows], self.period_class[rows], self.columns, self.classes, self.size
            ),
            stretches(len(table)),
            threads_for(table.size),
        )
        return np.asarray(np.sum(parts, axis=0))

    def multiply(self, table: FloatArray, factors: FloatArray) -> None:
        """Multiplies every cell by the factor of its element, in place."""
        in_threads(
            lambda rows: _multiply(
                table[rows], self.period_class[rows], self.columns, self.classes, factors
            ),
            stretches(len(table)),
            threads_for(table.size),
        )


def fit_to_sums(
    table: FloatArray, targets: Sequence[tuple[Partition, FloatArray]], sweeps: int
) -> None:
    """Scales a table, in place, to the sums of one partition after the other, several times over.

    Iterative proportional fitting (raking). Where every partition tells all periods apart, each
    period is fitted by itself and stays in the processor's cache; the result is the same to the
    last bit.
    """
    if not all(partition.periods == len(table) for partition, _ in targets):
        for _ in range(sweeps):
            for partition, target in targets:
                found = partition.sums(table)
                partition.multiply(table, target / np.maximum(found, _LEAST))
        return
    turns = [
        (partition.columns, target.reshape(-1, partition.classes)[partition.period_class])
        for partition, target in targets
    ]

    def work(rows: slice) -> None:
        for row in range(rows.start, rows.stop):
            # Every factor but the first is taken along with the sums of the next one.
            factors, before = np.ones(1), np.zeros_like(turns[0][0])
            for columns, target in sweeps * turns:
                factors = _fit_row(table[row], (before, factors), columns, target[row])
                before = columns
            _multiply_row(table[row], before, factors)

    if turns:
        in_threads(work, stretches(len(table)), threads_for(table.size))


def threads_for(cells: int) -> int:
    """Returns how many threads should work on so many cells."""
    return processors() if cells >= _WORTH_A_THREAD else 1


def stretches(rows: int) -> Sequence[slice]:
    """Cuts rows into a few stretches of about the same length."""
    marks = np.linspace(0, rows, min(rows, _STRETCHES) + 1).astype(int)
    return [slice(int(first), int(last)) for first, last in pairwise(marks)]


@compiled_for_threads
def _fit_row(
    values: FloatArray,
    before: tuple[UInt32Array, FloatArray],
    columns: UInt32Array,
    target: FloatArray,
) -> FloatArray:
    """Multiplies a row by the factors from before, and returns those that lead to a target."""
    classes, factors = before
    sums = np.zeros(len(target))
    for column in range(len(columns)):
        values[column] *= factors[classes[column]]
        sums[columns[column]] += values[column]
    return target / np.maximum(sums, _LEAST)


@compiled_for_threads
def _multiply_row(values: FloatArray, columns: UInt32Array, factors: FloatArray) -> None:
    for column in range(len(columns)):
        values[column] *= factors[columns[column]]


@compiled_for_threads
def _sums(
    table: FloatArray, period_class: Int32Array, columns: UInt32Array, classes: int, size: int
) -> FloatArray:
    sums = np.zeros(size)
    for row in range(table.shape[0]):
        values, own = table[row], sums[period_class[row] * classes :]
        for column in range(len(columns)):
            own[columns[column]] += values[column]
    return sums


@compiled_for_threads
def _multiply(
    table: FloatArray,
    period_class: Int32Array,
    columns: UInt32Array,
    classes: int,
    factors: FloatArray,
) -> None:
    for row in range(table.shape[0]):
        values, own = table[row], factors[period_class[row] * classes :]
        for column in range(len(columns)):
            values[column] *= own[columns[column]]


def partition_of(feature: Feature) -> Partition:
    """Returns the partition of periods times pairs of places that a feature stands for."""
    universe = feature.universe
    periods, pairs = feature.periods, feature.pairs
    return Partition(
        period_class=np.zeros(len(universe.periods), dtype=np.int32)
        if periods is None
        else periods.codes,
        pair_class=np.zeros(universe.pairs, dtype=np.int32) if pairs is None else pairs.codes,
        periods=feature.period_classes,
        classes=feature.pair_classes,
    )


def elements_of(partition: Partition) -> Int32Array:
    """Returns the element of every cell; there are fewer than 2^31."""
    rows = partition.period_class * np.int32(partition.classes)
    return (rows[:, None] + partition.pair_class[None, :]).ravel()
