"""A DuckDB of our own: in memory, with limits, with a private folder, and silent about rows."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Final, TypeVar

import duckdb
import ibis
import numpy as np
import pyarrow as pa
from ibis.backends.duckdb import Backend
from ibis.common.exceptions import IbisError
from numpy.typing import NDArray

from hushway.engine.csv_lines import CsvStream, DamagedFileError
from hushway.engine.session import Ask, Keeping, Part, Reading, Tally
from hushway.engine.settings import SIZE, EngineSettings, not_understood
from hushway.engine.spilling import encrypt_spills, spill_folder, spills_are_encrypted
from hushway.errors import DataError
from hushway.numerics.threads import usual_threads
from hushway.progress import ShareProgress, watched
from hushway.tables.layout import Layout, Source, layout_of

T = TypeVar("T")

_POLL_S = 0.2
# Those that DuckDB does not take when it opens.
_LATER_SETTINGS = (
    # Without it `row_number() = 1` becomes an aggregate that can fill the disk.
    "disabled_optimizers = 'top_n_window_elimination'",
    # Progress is counted only with the bar, and the bar is drawn only if allowed.
    "enable_progress_bar_print = false",
    "enable_progress_bar = true",
)
_GIVEN = "given_rows"
# How an error of the CSV reader comes back out of DuckDB, with the file's name.
_DAMAGED = re.compile(rf"\b{DamagedFileError.__name__}: (.+)")


class EmbeddedSession:
    """A session of an embedded DuckDB. A `hushway.engine.session.Session`."""

    def __init__(self, backend: Backend, settings: EngineSettings) -> None:
        self.backend = backend
        self.settings = settings
        # The name of rows that stand for those of files, if there are such.
        self.given: str | None = None
        # Rows are numbered from here on, so that those of other files have other numbers.
        self.first_number = 0
        self._csv_streams: list[CsvStream] = []

    def layout(self, source: Source) -> Layout:
        """Returns where the rows of a source are and which columns they have; no row is read."""
        return layout_of(source)

    def rows(self, reading: Reading) -> ibis.Table:
        """Returns all rows, to be looked at by expressions."""
        read = reading.read(self, reading.layout)
        return read if reading.shape is None else reading.shape(self, read)

    def count(self, reading: Reading, part: Part[T], progress: ShareProgress | None = None) -> T:
        """Returns what is counted of all people: one part."""
        return part.count(self, self.rows(reading), progress)

    def keep(
        self, reading: Reading, keeping: Keeping[Any, Any], progress: ShareProgress | None = None
    ) -> Ask:
        """Keeps something of all people in memory, beyond this session."""
        kept = keeping.keep(self, self.rows(reading), progress)
        return partial(keeping.answer, kept)

    def run(
        self, expression: ibis.Table, progress: ShareProgress | None = None
    ) -> dict[str, NDArray[Any]]:
        """Runs an expression and returns its columns."""
        query, connection = self.backend.compile(expression), self.backend.con
        with self._watched(progress):
            columns = quietly(lambda: connection.execute(query).fetchnumpy())
        # A column with nulls comes masked; no caller asks for one.
        return {name: np.asarray(values) for name, values in columns.items()}

    def store(
        self, name: str, expression: ibis.Table, progress: ShareProgress | None = None
    ) -> ibis.Table:
        """Runs an expression and keeps its rows in the engine, under a name, until it closes."""
        query, connection = self.backend.compile(expression), self.backend.con
        with self._watched(progress):
            quietly(lambda: connection.execute(f"CREATE TEMP TABLE {name} AS {query}"))
        return self.table(name)

    def fetch(self, expression: ibis.Table) -> pa.Table:
        """Runs an expression with few rows and returns them."""
        query, connection = self.backend.compile(expression), self.backend.con
        return quietly(lambda: connection.execute(query).to_arrow_table())

    def stream(
        self, expression: ibis.Table, progress: ShareProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Runs an expression and hands out its rows in batches, while it runs."""
        yield from self.stream_by(self.settings.batch_rows, expression, progress)

    def stream_by(
        self, rows: int, expression: ibis.Table, progress: ShareProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Runs an expression and hands out so many of its rows at a time."""
        query, connection = self.backend.compile(expression), self.backend.con
        with self._watched(progress):
            reader = quietly(lambda: connection.execute(query).to_arrow_reader(rows))
            while (batch := quietly(lambda: next(reader, None))) is not None:
                yield batch

    def tally(
        self, expression: ibis.Table, tally: Tally, progress: ShareProgress | None = None
    ) -> dict[str, int]:
        """Runs an expression and returns the sums of what is found in each batch of its rows."""
        found: Counter[str] = Counter()
        for batch in self.stream(expression, progress):
            found.update(tally(batch))
        return found

    def load(self, name: str, table: pa.Table) -> ibis.Table:
        """Puts a table that is in memory into the engine."""
        return self._copied(name, table)

    def give(self, batches: pa.RecordBatchReader) -> None:
        """Puts rows into the engine that stand for those of the files, instead of earlier ones."""
        self.given = _GIVEN
        quietly(lambda: self.backend.con.execute(f"DROP TABLE IF EXISTS {_GIVEN}"))
        self._copied(_GIVEN, batches)

    def give_more(self, batch: pa.RecordBatch) -> None:
        """Puts more rows beside those that were given."""
        connection = self.backend.con

        def add() -> None:
            connection.register(f"{_GIVEN}_arrow", pa.Table.from_batches([batch]))
            connection.execute(f"INSERT INTO {_GIVEN} FROM {_GIVEN}_arrow")
            connection.unregister(f"{_GIVEN}_arrow")

        quietly(add)

    def give_view(self, query: str) -> None:
        """Lets rows that a query of our own gives stand for those of the files."""
        self.given = _GIVEN
        quietly(lambda: self.backend.con.execute(f"CREATE TEMP VIEW {_GIVEN} AS {query}"))

    def give_once(self, batches: pa.RecordBatchReader) -> None:
        """Lets rows stand for those of the files that can be read once, and are not copied."""
        self.given = _GIVEN
        quietly(lambda: self.backend.con.register(_GIVEN, batches))

    @property
    def given_rows(self) -> ibis.Table:
        """The rows that stand for those of the files."""
        return self.backend.table(_GIVEN)

    def table(self, name: str) -> ibis.Table:
        """Returns a table that was stored or loaded."""
        return self.backend.table(name)

    def sql(self, query: str) -> ibis.Table:
        """Returns what a query of our own gives."""
        return quietly(lambda: self.backend.sql(query))

    def malformed_rows(self) -> int:
        """Returns how many rows of CSV files were dropped because their fields cannot be told."""
        return sum(stream.malformed for stream in self._csv_streams)

    def csv_rows(self, layout: Layout) -> str:
        """Returns the name of a table with the rows of CSV files, to be read by queries."""
        stream = quietly(lambda: CsvStream(layout, usual_threads(self.settings.threads)))
        name = f"csv_rows_{len(self._csv_streams)}"
        self._csv_streams.append(stream)
        self.backend.con.register(name, stream)
        return name

    def _copied(self, name: str, rows: pa.Table | pa.RecordBatchReader) -> ibis.Table:
        connection = self.backend.con

        def copy() -> ibis.Table:
            # Copied into DuckDB's own memory: its joins then know how small the table is.
            connection.register(f"{name}_arrow", rows)
            connection.execute(f"CREATE TABLE {name} AS FROM {name}_arrow")
            connection.unregister(f"{name}_arrow")
            return self.backend.table(name)

        return quietly(copy)

    def _watched(self, progress: ShareProgress | None) -> AbstractContextManager[None]:
        return watched(progress, self._share_done, _POLL_S)

    def _share_done(self) -> float:
        """Returns how far a query is; DuckDB does not know how long a stream of rows is."""
        counted: float = self.backend.con.query_progress() / 100
        return min(max(0.0, counted, *(stream.share for stream in self._csv_streams)), 1.0)


@contextmanager
def embedded_session(settings: EngineSettings) -> Iterator[EmbeddedSession]:
    """Opens a DuckDB for one piece of work."""
    with spill_folder(settings.temp_folder) as folder:
        backend = _connect(settings, str(folder))
        try:
            if spills_are_encrypted(settings.encrypt_spills):
                encrypt_spills(backend.con)
            yield EmbeddedSession(backend, settings)
        finally:
            backend.disconnect()


def _connect(settings: EngineSettings, folder: str) -> Backend:
    config: dict[str, Any] = {
        "memory_limit": settings.memory_limit,
        "temp_directory": folder,
        "preserve_insertion_order": False,
        **NO_FOREIGN_CODE,
    }
    if settings.threads is not None:
        config["threads"] = settings.threads
    sizes = (settings.memory_limit, settings.max_temp)
    if settings.batch_rows >= 1 and all(SIZE.fullmatch(size) for size in sizes):
        try:
            backend = ibis.duckdb.connect(**config)  # noqa: TID251  the one place
            # Given at the opening, DuckDB 1.5 shows this limit and does not keep it.
            limit = f"max_temp_directory_size = '{settings.max_temp}'"
            for setting in (limit, *_LATER_SETTINGS):
                backend.con.execute(f"SET {setting}")
        except duckdb.Error:
            pass
        else:
            return backend
    raise not_understood()


def quietly(work: Callable[[], T]) -> T:
    """Does work on rows and keeps what the engine says about them to itself.

    Privacy:
        An error of the engine often quotes a row, so none gets out: neither its text, nor itself as
        the cause or context of ours.
    """
    try:
        return work()
    except (duckdb.Error, IbisError, pa.ArrowException, OSError) as error:
        trouble = _translated(error)
    raise trouble


def _translated(error: Exception) -> DataError:
    text = str(error).casefold()
    # In a stream of batches errors of the engine come as errors of Arrow, with the same text.
    full = "out of memory" in text or "no space left" in text
    if isinstance(error, duckdb.OutOfMemoryException) or full:
        return DataError(
            "There is not enough memory or disk space to count the rows.",
            advice="Raise memory_limit, or set temp_folder to a folder with more free space.",
        )
    damaged = _DAMAGED.search(str(error))
    if damaged is not None:
        return DataError(
            f"The compressed file {damaged[1]} is damaged or not whole.",
            advice="Copy or compress it again, and test it with gzip -t.",
        )
    if isinstance(error, duckdb.InterruptException):
        return DataError("The counting was interrupted.", advice="Start again.")
    if "utf-8" in text or "utf8" in text or "unicode" in text:
        return DataError(
            "The rows cannot be read: they are not UTF-8.", advice="Save the files as UTF-8."
        )
    return DataError(
        "The rows cannot be read: a file is damaged, or it has changed while it was read.",
        advice="Check that every file is whole, and start again.",
    )


# For every DuckDB that sees rows. An extension sees all of them, so none is fetched, none is loaded
# because a query happens to need it, and those of communities and strangers are refused. What is
# left is LOAD of an extension that DuckDB's own makers have signed; only `spilling` does that.
NO_FOREIGN_CODE: Final = {
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
