"""What the counters of all families share: queries that they refuse, and columns that they take."""

from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import DataError, PrivacyError
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import ExactCounts, Query

AnyCells = TypeVar("AnyCells")


class BoundedCounter(ABC, Generic[AnyCells]):
    """Answers queries over the cells of one universe. A `hushway.privacy.query.Counter`.

    Privacy:
        The bound and the counts of a query go through the same check of its cells.
    """

    unit: Unit

    @abstractmethod
    def asked(self, query: Query) -> AnyCells:
        """Returns the cells of a query; raises a PrivacyError if this counter has others."""

    @abstractmethod
    def bound_of(self, cells: AnyCells) -> Bound:
        """Returns how far one unit moves the counts of these cells."""

    @abstractmethod
    def counts_of(self, cells: AnyCells) -> ExactCounts:
        """Returns the exact bounded counts of these cells."""

    def bound(self, query: Query) -> Bound:
        """Returns the bound that `count` enforces for this query."""
        return self.bound_of(self.asked(query))

    def count(self, query: Query) -> ExactCounts:
        """Returns the exact bounded counts. Rows are read once, however often this is called."""
        return self.counts_of(self.asked(query))


class Digested(Protocol):
    """Public facts with a digest."""

    @property
    def digest(self) -> str:
        """The digest."""
        ...


def is_same(one: Digested, other: Digested) -> bool:
    """Whether two values state the same public facts."""
    return one is other or one.digest == other.digest


def other_cells(what: str) -> PrivacyError:
    """Returns the error of a query over cells that a counter does not have."""
    return PrivacyError(
        "This engine counts other cells than the query asks for.",
        advice=f"Ask for {what} that the engine was made with.",
    )


def whole_column(column: IntArray, length: int, noun: str) -> IntArray:
    """Returns a column of 64-bit integers; raises a DataError if it is not one of that length."""
    values = np.asarray(column)
    if values.shape != (length,) or values.dtype.kind not in "iu" or values.dtype == np.uint64:
        raise DataError(
            f"The arrays of {noun} must be one-dimensional, of whole numbers and of one length.",
            advice="Give one array of integers of at most 64 signed bits for each column.",
        )
    return np.ascontiguousarray(values, dtype=np.int64)


def index_column(column: IntArray, length: int, size: int, noun: str) -> IntArray:
    """Returns a column of indexes; raises a DataError unless they are from 0 to below a size."""
    values = whole_column(column, length, noun)
    if length and not 0 <= values.min() <= values.max() < size:
        raise DataError(
            f"An index in the arrays of {noun} is not among the public places or periods.",
            advice="Give indexes of the public places and periods, from 0.",
        )
    return values
