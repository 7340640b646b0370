"""The one seam between protected rows and those who count them.

An engine reads rows, drops what public lists drop, and brings every person's rows together; that is
all. What counts of a person, and how much, is decided by a `Part`: code of the family, the same for
every engine, which is handed people with all of their rows in a DuckDB of its own. On one machine
all people are one part. On a cluster there are many, and their counts are added up.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import ibis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushway.privacy.query import ExactCounts
from hushway.progress import ShareProgress
from hushway.tables.layout import Layout, Source

if TYPE_CHECKING:
    from hushway.engine.embedded import EmbeddedSession

T = TypeVar("T")
Q_contra = TypeVar("Q_contra", contravariant=True)

# What is counted, by a name, as sums that parts add up to.
Sums = dict[str, ExactCounts]

# Reads rows into a DuckDB one by one: some files of the layout give some of the rows.
Read = Callable[["EmbeddedSession", Layout | None], ibis.Table]
# Makes other rows of rows among which everybody's are whole.
Shape = Callable[["EmbeddedSession", ibis.Table], ibis.Table]
Tally = Callable[[pa.RecordBatch], Mapping[str, int]]


class Loader(Protocol):
    """Takes public tables into an engine."""

    def load(self, name: str, table: pa.Table) -> ibis.Table:
        """Puts a public table that is in memory into the engine."""
        ...


# Gives typed rows of a span of time, from one microsecond to before another.
Between = Callable[[int, int], ibis.Table]
# Counts everybody by one expression: a `cell`, and the sums of each under their names.
InWarehouse = Callable[[Loader, Between], ibis.Table]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How protected rows come into an engine.

    On a cluster its functions run elsewhere, so they are of a kind that can be sent there.

    Privacy:
        `read` looks at one row and at public facts at a time, and `shape` at the rows of one
        owner. So neither can tell how rows were divided.

    Attributes:
        layout: The files and their columns; None if `read` knows them by itself.
        read: Reads rows, and drops or adds to them one by one.
        together: The column of `read` that says whose each row is; None if each is its own.
        shape: Makes rows of all rows of an owner, if there is more to do than reading.
        in_warehouse: All that is counted, as one expression that bounds every person, whoever runs
            it, and that was seen to give the same in several engines; None if there is no such.
        span_us: From when to when, in microseconds since 1970 as rows write them; `read` drops all
            others, so that they need not travel. None if it drops none.
    """

    layout: Layout | None
    read: Read
    together: str | None
    shape: Shape | None = None
    in_warehouse: InWarehouse | None = None
    span_us: tuple[int, int] | None = None


class Part(Protocol[T]):
    """Counts people, all rows of each: the same code in every engine.

    Privacy:
        Whatever bounds a person is in here. It is handed the bounding key and public facts, and
        neither random bits nor a ledger.
    """

    def count(
        self, session: "EmbeddedSession", rows: ibis.Table, progress: ShareProgress | None
    ) -> T:
        """Returns what is counted of some people."""
        ...

    def sums(self, counted: T) -> Sums:
        """Returns it as sums, which those of other people can be added to."""
        ...

    def counted(self, sums: Sums) -> T:
        """Returns what such sums say."""
        ...


class Keeping(Protocol[T, Q_contra]):
    """Keeps something of people, of whom more than one thing is asked."""

    def keep(
        self, session: "EmbeddedSession", rows: ibis.Table, progress: ShareProgress | None
    ) -> T:
        """Returns what is kept of some people."""
        ...

    def packed(self, kept: T) -> Iterator[bytes]:
        """Returns it in pieces, each of which can be asked by itself."""
        ...

    def unpacked(self, piece: bytes) -> T:
        """Returns what is in a piece."""
        ...

    def answer(self, kept: T, question: Q_contra) -> ExactCounts:
        """Returns the exact counts of a question."""
        ...


Ask = Callable[[Any], ExactCounts]


def sums_of_columns(columns: Mapping[str, NDArray[Any]]) -> Sums:
    """Returns the sums of an answer with a column `cell`, and one for each name."""
    order = np.argsort(columns["cell"])
    cells = columns["cell"][order].astype(np.int64)
    return {
        name: ExactCounts(cells=cells, values=values[order].astype(np.int64))
        for name, values in columns.items()
        if name != "cell"
    }


class Session(Loader, Protocol):
    """A session of an engine: expressions in, columns out; people in, counts out.

    All methods raise a DataError if rows cannot be read, or if memory or disk ran out.
    """

    def layout(self, source: Source) -> Layout:
        """Returns where the rows of a source are and which columns they have; no row is read."""
        ...

    def rows(self, reading: Reading) -> ibis.Table:
        """Returns all rows, to be looked at by expressions."""
        ...

    def count(self, reading: Reading, part: Part[T], progress: ShareProgress | None = None) -> T:
        """Returns what is counted of all people."""
        ...

    def keep(
        self, reading: Reading, keeping: Keeping[Any, Any], progress: ShareProgress | None = None
    ) -> Ask:
        """Keeps something of all people, and returns whom to ask about it."""
        ...

    def run(
        self, expression: ibis.Table, progress: ShareProgress | None = None
    ) -> dict[str, NDArray[Any]]:
        """Runs an expression and returns its columns."""
        ...

    def store(
        self, name: str, expression: ibis.Table, progress: ShareProgress | None = None
    ) -> ibis.Table:
        """Runs an expression and keeps its rows in the engine, under a name, until it closes."""
        ...

    def fetch(self, expression: ibis.Table) -> pa.Table:
        """Runs an expression with few rows and returns them."""
        ...

    def tally(
        self, expression: ibis.Table, tally: Tally, progress: ShareProgress | None = None
    ) -> dict[str, int]:
        """Runs an expression and returns the sums of what is found in each batch of its rows."""
        ...

    def table(self, name: str) -> ibis.Table:
        """Returns a table that was stored or loaded."""
        ...

    def malformed_rows(self) -> int:
        """Returns how many rows of CSV files were dropped because their fields cannot be told."""
        ...
