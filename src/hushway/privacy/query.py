"""Queries over public cells, and the protocol of engines that count them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from hushway.arrays import IntArray, whole_below
from hushway.errors import PrivacyError
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.public_facts import public_facts

# No sum of weights may overflow: it would come out small, and so would the bound.
_LARGEST_SUM = 1 << 62
# So many sums are added up in place; beyond, only those that are not 0.
_FEW_ELEMENTS = 1 << 16


class Cells(Protocol):
    """A public, gapless numbering 0 .. size-1 of the cells that records may fall into."""

    @property
    def name(self) -> str:
        """What one cell stands for."""

    @property
    def size(self) -> int:
        """Number of cells."""

    @property
    def digest(self) -> str:
        """A digest of the public facts that the cells are made of."""


class Partition(Cells, Protocol):
    """Public cells that are unions of finer ones: every base cell lies in exactly one element."""

    def of(self, cells: IntArray) -> IntArray:
        """Returns the element of each base cell."""


@public_facts
@dataclass(frozen=True, kw_only=True)
class Query:
    """A declarative question: how many records of the bounded units fall into each public cell."""

    name: str
    cells: Cells


@public_facts
@dataclass(frozen=True, kw_only=True)
class WeightedQuery:
    """Sums of a query's counts with public whole weights, such as totals by zone.

    Attributes:
        rows: For each weight, the cell of the sum it goes into.
        columns: For each weight, the cell of the base it applies to.
        weights: The weights, all positive; one for each pair of a row and a column.
    """

    name: str
    base: Query
    cells: Cells
    rows: IntArray
    columns: IntArray
    weights: IntArray

    def __post_init__(self) -> None:
        inside = (
            self.rows.dtype == self.columns.dtype == self.weights.dtype == np.int64
            and len(self.rows) == len(self.columns) == len(self.weights) > 0
            and self.rows.min() >= 0
            and self.rows.max() < self.cells.size
            and self.columns.min() >= 0
            and self.columns.max() < self.base.cells.size
            and self.weights.min() > 0
            and int(self.weights.max()) * len(self.weights) <= _LARGEST_SUM
        )
        if not inside:
            raise PrivacyError(
                "The weights of a query do not fit its cells.",
                advice="Give positive whole weights with rows and columns inside the cells.",
            )
        if _repeats(self.rows, self.columns):
            # Two weights of one pair add up, which the bound below would not see.
            raise PrivacyError(
                "A query has two weights for the same pair of cells.",
                advice="Add them up to one weight.",
            )

    def bound(self, base: Bound) -> Bound:
        """Returns how far a unit can move the sums, given how far it can move the base.

        Privacy:
            A unit adds at most `base.l1` records; each adds at most the largest weight to any one
            sum and at most its column's sum of weights to all of them, spread over at most its
            column's number of weights.
        """
        _, column = np.unique(self.columns, return_inverse=True)
        sums = np.zeros(column.max() + 1, dtype=np.int64)
        np.add.at(sums, column, self.weights)
        return Bound(
            cells=base.cells * int(np.bincount(column).max()),
            each=base.l1 * int(self.weights.max()),
            total=base.l1 * int(sums.max()),
        )

    def apply(self, counts: "ExactCounts") -> "ExactCounts":
        """Returns the exact sums. Called by the curator only."""
        position = np.searchsorted(counts.cells, self.columns)
        position = np.minimum(position, max(len(counts.cells) - 1, 0))
        hit = (
            counts.cells[position] == self.columns
            if len(counts.cells)
            else np.zeros(len(self.columns), dtype=np.bool_)
        )
        rows, inverse = np.unique(self.rows[hit], return_inverse=True)
        sums = np.zeros(len(rows), dtype=np.int64)
        np.add.at(sums, inverse, self.weights[hit] * counts.values[position[hit]])
        return ExactCounts(cells=rows, values=sums)


def _repeats(rows: IntArray, columns: IntArray) -> bool:
    order = np.lexsort((columns, rows))
    same = (np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0)
    return bool(same.any())


@public_facts
@dataclass(frozen=True, kw_only=True)
class PartitionQuery:
    """How many records fall into each element of a public partition of a query's cells."""

    name: str
    base: Query
    cells: Partition

    def __post_init__(self) -> None:
        # A partition of another universe mostly shows at the ends, which are public.
        ends = np.array([0, self.base.cells.size - 1], dtype=np.int64)
        self._elements(ends)

    def bound(self, base: Bound) -> Bound:
        """Returns how far a unit can move the elements, given how far it can move the base.

        Privacy:
            A record falls into exactly one element, so a unit adds at most `base.l1` in all, and
            all of that may go into one element.
        """
        return Bound(cells=min(base.cells, self.cells.size), each=base.l1, total=base.l1)

    def apply(self, counts: "ExactCounts") -> "ExactCounts":
        """Returns the exact sums. Called by the curator only."""
        # A copy: the counts stay the engine's, whatever the partition does with its argument.
        inside = self._elements(counts.cells.copy())
        if self.cells.size <= _FEW_ELEMENTS + len(inside):
            sums = np.zeros(self.cells.size, dtype=np.int64)
            np.add.at(sums, inside, counts.values)
            elements = np.flatnonzero(sums)
            return ExactCounts(cells=elements, values=sums[elements])
        elements, inverse = np.unique(inside, return_inverse=True)
        sums = np.zeros(len(elements), dtype=np.int64)
        np.add.at(sums, inverse, counts.values)
        return ExactCounts(cells=elements, values=sums)

    def _elements(self, cells: IntArray) -> IntArray:
        try:
            elements = self.cells.of(cells)
            inside = whole_below(elements, len(cells), self.cells.size)
        except LookupError:  # its message would name an index, and cells may be occupied ones
            inside = False
        if not inside:
            raise PrivacyError(
                "A partition does not say in which of its elements each cell lies.",
                advice="Build the partition from the universe that is counted.",
            )
        return elements


AnyQuery = Query | PartitionQuery | WeightedQuery


@dataclass(frozen=True, kw_only=True)
class ExactCounts:
    """Exact counts of the cells that are not empty, on their way from an engine to the curator.

    Attributes:
        cells: Ascending, distinct cell numbers.
        values: The count of each, never 0.
    """

    cells: IntArray
    values: IntArray

    @classmethod
    def of_all(cls, values: IntArray) -> "ExactCounts":
        """Returns what is not 0 of the counts of all cells."""
        cells = np.flatnonzero(values)
        return cls(cells=cells, values=values[cells].astype(np.int64, copy=False))


class Counter(Protocol):
    """What an engine gives: exact counts of units whose contribution it has bounded itself."""

    @property
    def unit(self) -> Unit:
        """Who is protected."""

    def bound(self, query: Query) -> Bound:
        """Returns the bound that `count` enforces for this query."""

    def count(self, query: Query) -> ExactCounts:
        """Returns the exact bounded counts."""


# Below it a float64 holds scores with far more digits than the rounding to whole ones leaves.
_LARGEST_COUNT = 1 << 40


@public_facts
@dataclass(frozen=True, kw_only=True)
class CutQuery:
    """One cut for each of several series of counts.

    To keep k coefficients of the orthonormal cosine transform costs the norm of those cut off and
    sqrt(k) times the noise on each that is kept. The score of k is that cost, in whole numbers.

    Attributes:
        base: The counts: series of one length, one after the other.
        noise: Standard deviation of the noise that kept coefficients will carry: a public number.
    """

    name: str
    base: Query
    length: int
    noise: Fraction

    def __post_init__(self) -> None:
        if self.length < 1 or self.base.cells.size % self.length or self.noise <= 0:
            raise PrivacyError(
                "The counts are not series of one length, or the noise is not positive.",
                advice="Report this as a bug; nothing was measured.",
            )

    @property
    def cells(self) -> Cells:
        """The candidates: as many for each series as it is long."""
        return self.base.cells

    @staticmethod
    def kept(candidate: int) -> int:
        """Returns how many coefficients a candidate keeps: at least the first."""
        return candidate + 1

    def scores(self, counts: IntArray) -> Iterator[IntArray]:
        """Yields the scores of every series. Called by the curator only.

        Privacy:
            The norm of a tail moves by no more than the series does, since the transform is
            orthonormal. Rounding to whole numbers adds at most 1, and floating point far less than
            another 1 for counts below 2^40; larger ones are cut off, which brings two series only
            closer to each other.
        """
        # Half a second to load, and few releases choose coefficients.
        from scipy.fft import dct

        kept = np.arange(1, self.length + 1)
        noise = np.sqrt(kept) * float(self.noise)
        held = np.minimum(counts, _LARGEST_COUNT).reshape(-1, self.length)
        for series in held.astype(np.float64):
            squares = dct(series, norm="ortho") ** 2
            tails = np.cumsum(squares[::-1])[::-1]
            beyond = np.sqrt(np.append(tails[1:], 0.0))
            yield np.rint(beyond + noise).astype(np.int64)


def noise_of(sigma_squared: Fraction) -> Fraction:
    """Returns a standard deviation as a fraction, for a `CutQuery`."""
    return Fraction(math.sqrt(sigma_squared)).limit_denominator(10**6)
