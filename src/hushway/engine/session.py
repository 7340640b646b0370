"""A DuckDB of our own: in memory, with limits, with a private folder, and silent about rows."""

import contextlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread
from typing import Any, TypeVar

import duckdb
import ibis
import numpy as np
import pyarrow as pa
from ibis.backends.duckdb import Backend
from ibis.common.exceptions import IbisError
from numpy.typing import NDArray

from hushway.errors import DataError
from hushway.numerics.private_folder import hold_private, move_away
from hushway.numerics.threads import processors
from hushway.progress import ShareProgress

# Where rows go that do not fit into memory: a private folder for each run, gone with the run.
#
# A run holds its folder for as long as its process lives. It takes the folder away when it ends, in
# whatever way that can be noticed; after a kill or a power failure the next run takes it away, for
# nobody holds it any more. What lies in it is encrypted if DuckDB can do that: with a key that only
# the memory of the dead process knew.

# Loading what encrypts also brings ways into the network, which nobody needs here.
_NO_NETWORK = "SET disabled_filesystems = 'HTTPFileSystem,S3FileSystem,HuggingFaceFileSystem'"
_LIBRARY = "duckdb_extension_httpfs"


@contextlib.contextmanager
def spill_folder(parent: Path | str | None) -> Iterator[Path]:
    """Makes a folder for one run, which only this user can read, and removes it afterwards.

    Args:
        parent: Where to make it; the system's place for temporary files if None.

    Raises:
        DataError: There is no such place, or others could change what is in it.
    """
    try:
        place = Path(tempfile.gettempdir() if parent is None else parent)
        if not place.is_dir():
            raise NotADirectoryError
        runs = place / f"hushway-rows-{os.geteuid()}"
        folder = runs / f"{os.getpid()}-{secrets.token_hex(8)}"
        handle = hold_private(folder)
    except OSError:
        raise DataError(
            "There is no folder for temporary files, it cannot be written to, or others could "
            "change what is in it.",
            advice="Set temp_folder to a folder with free space that only you may write to.",
        ) from None
    try:
        _sweep(runs)
        yield folder
    finally:
        # DuckDB may still write to it while an error is on its way.
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)
        with contextlib.suppress(OSError):
            runs.rmdir()


def _sweep(runs: Path) -> None:
    """Takes away the folders of runs that are no more."""
    for path in runs.iterdir():
        # Held by a living run, already gone, or not ours: nothing to do about it.
        with contextlib.suppress(OSError):
            aside = runs / f"gone-{secrets.token_hex(8)}"
            if move_away(path, aside):
                shutil.rmtree(aside, ignore_errors=True)


def encrypt_spills(connection: duckdb.DuckDBPyConnection) -> None:
    """Lets a DuckDB encrypt what it writes to its temporary folder.

    Raises:
        DataError: The library that encrypts is missing, or is not that of this DuckDB.
    """
    library = _encryption_library()
    if library is not None:
        try:
            connection.execute(f"LOAD '{str(library).replace(chr(39), chr(39) * 2)}'")
            connection.execute("SET temp_file_encryption = true")
            connection.execute(_NO_NETWORK)
        except duckdb.Error:
            pass
        else:
            return
    raise DataError(
        "Rows that do not fit into memory cannot be encrypted: DuckDB's library for that is "
        "missing, or belongs to another version.",
        advice=f'Install it: pip install "{_LIBRARY.replace("_", "-")}=={duckdb.__version__}"; or '
        "set encrypt_spills = false, and keep temp_folder on an encrypted disk.",
    )


def can_encrypt_spills() -> bool:
    """Whether the library that encrypts is there, for this very DuckDB."""
    return _encryption_library() is not None


@cache
def _encryption_library() -> Path | None:
    found = find_spec(_LIBRARY)
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "extensions" / f"v{duckdb.__version__}"
    library = folder / "httpfs.duckdb_extension"
    return library if library.is_file() else None


T = TypeVar("T")

_POLL_S = 0.2
# DuckDB would take "-" for a limit without end.
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT])(i?)B", re.ASCII)
# What DuckDB itself advises for each thread.
_LEAST_MEGABYTES = 125
# Those that DuckDB does not take when it opens.
_LATER_SETTINGS = (
    # Without it `row_number() = 1` becomes an aggregate that can fill the disk.
    "disabled_optimizers = 'top_n_window_elimination'",
    # Progress is counted only with the bar, and the bar is drawn only if allowed.
    "enable_progress_bar_print = false",
    "enable_progress_bar = true",
)


# What can be wrong with a row of a CSV file and stays within its line.
_ROW_ERRORS = {"MISSING COLUMNS", "TOO MANY COLUMNS", "INVALID ENCODING"}


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """How much of this machine the counting may use.

    Attributes:
        memory_limit: Most memory, such as "4GB"; what does not fit goes to disk.
        threads: Most threads; all cores if None.
        temp_folder: Where rows that do not fit go while counting; the system's place if None. They
            go into a folder of their own that only this user can read and that is removed.
        encrypt_spills: Whether such rows are encrypted.
        max_temp: Most disk.
        batch_rows: How many rows the engine hands over at a time. It has no say in what is counted.
    """

    memory_limit: str = "4GB"
    threads: int | None = None
    temp_folder: Path | str | None = None
    encrypt_spills: bool = False
    max_temp: str = "100GB"
    batch_rows: int = 1_000_000


@contextmanager
def duckdb_session(settings: EngineSettings) -> Iterator[Backend]:
    """Opens a DuckDB for one piece of work.

    Raises:
        DataError: The settings cannot be met, or a CSV file that was read has an open quote.
    """
    with spill_folder(settings.temp_folder) as folder:
        backend = _connect(settings, str(folder))
        try:
            if settings.encrypt_spills:
                encrypt_spills(backend.con)
            yield backend
            _refuse_open_quotes(backend.con)
        finally:
            backend.disconnect()


def refuse_little_memory(limit: str, threads: int | None) -> None:
    """Refuses a limit with which counting would fail, which would show only after spending.

    Raises:
        DataError: It is too little for so many threads, or not a size.
    """
    found = _SIZE.fullmatch(limit)
    needed = (threads or processors()) * _LEAST_MEGABYTES
    if found is None:
        raise _not_understood()
    number, unit, binary = float(found[1]), found[2], found[3] == "i"
    megabytes = number * (1024 if binary else 1000) ** ("KMGT".index(unit) + 1) / 1e6
    if megabytes < needed:
        raise DataError(
            f"The engine needs at least {_LEAST_MEGABYTES} MB of memory for each thread.",
            advice=f'Set memory_limit = "{needed}MB" or more, or fewer threads.',
        )


def _not_understood() -> DataError:
    return DataError(
        "The engine does not understand its settings.",
        advice='Give sizes such as "4GB" and at least one thread.',
    )


def has_rejects(connection: Any) -> bool:
    """Whether rows of CSV files were dropped because they cannot be read."""
    return "reject_errors" in connection.execute("SHOW TABLES").fetchnumpy()["name"]


def _refuse_open_quotes(connection: Any) -> None:
    """Refuses what was read from a CSV file with a quote that is not closed.

    Privacy:
        A row with too many or too few fields, or with bytes that are not UTF-8, ends where its line
        ends, so dropping it touches nobody else. An open quote takes other people's rows with it.

    Raises:
        DataError: There was one.
    """
    if not has_rejects(connection):
        return
    kinds = connection.execute("SELECT DISTINCT CAST(error_type AS VARCHAR) FROM reject_errors")
    if not {kind for (kind,) in kinds.fetchall()} <= _ROW_ERRORS:
        raise DataError(
            "The rows cannot be read: in a CSV file a quote is not closed, or a line is far too "
            "long.",
            advice="Write quotes inside a quoted field twice, and close every quoted field.",
        )


def _connect(settings: EngineSettings, folder: str) -> Backend:
    config: dict[str, Any] = {
        "memory_limit": settings.memory_limit,
        "temp_directory": folder,
        "preserve_insertion_order": False,
        # Nothing is fetched from anywhere while private rows are open.
        "autoinstall_known_extensions": False,
    }
    if settings.threads is not None:
        config["threads"] = settings.threads
    sizes = (settings.memory_limit, settings.max_temp)
    if settings.batch_rows >= 1 and all(_SIZE.fullmatch(size) for size in sizes):
        try:
            backend = ibis.duckdb.connect(**config)
            # Given at the opening, DuckDB 1.5 shows this limit and does not keep it.
            limit = f"max_temp_directory_size = '{settings.max_temp}'"
            for setting in (limit, *_LATER_SETTINGS):
                backend.con.execute(f"SET {setting}")
        except duckdb.Error:
            pass
        else:
            return backend
    raise _not_understood()


def run(
    backend: Backend, expression: ibis.Table, progress: ShareProgress | None = None
) -> dict[str, NDArray[Any]]:
    """Runs an expression and returns its columns.

    Raises:
        DataError: The rows cannot be read, or memory or disk ran out.
    """
    query = backend.compile(expression)
    with _watched(backend.con, progress):
        columns = quietly(lambda: backend.con.execute(query).fetchnumpy())
    # A column with nulls comes masked; no caller asks for one.
    return {name: np.asarray(values) for name, values in columns.items()}


def store(
    backend: Backend, name: str, expression: ibis.Table, progress: ShareProgress | None = None
) -> ibis.Table:
    """Runs an expression and keeps its rows in the engine, under a name, until it closes.

    Raises:
        DataError: The rows cannot be read, or memory or disk ran out.
    """
    query = backend.compile(expression)
    with _watched(backend.con, progress):
        quietly(lambda: backend.con.execute(f"CREATE TEMP TABLE {name} AS {query}"))
    return backend.table(name)


def stream(
    backend: Backend, expression: ibis.Table, rows: int, progress: ShareProgress | None = None
) -> Iterator[pa.RecordBatch]:
    """Runs an expression and hands out its rows in batches, while it runs.

    Raises:
        DataError: The rows cannot be read, or memory or disk ran out.
    """
    query = backend.compile(expression)
    with _watched(backend.con, progress):
        reader = quietly(lambda: backend.con.execute(query).to_arrow_reader(rows))
        while (batch := quietly(lambda: next(reader, None))) is not None:
            yield batch


def quietly(work: Callable[[], T]) -> T:
    """Does work on rows and keeps what the engine says about them to itself.

    Privacy:
        An error of the engine often quotes a row, so none gets out: neither its text, nor itself as
        the cause or context of ours.

    Raises:
        DataError: The rows cannot be read, or memory or disk ran out.
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
    if isinstance(error, duckdb.InterruptException):
        return DataError("The counting was interrupted.", advice="Start again.")
    if "utf-8" in text or "utf8" in text or "unicode" in text:
        return DataError(
            "The rows cannot be read: they are not UTF-8.", advice="Save the files as UTF-8."
        )
    return DataError(
        "The rows cannot be read: a file is damaged, or its lines do not all end alike.",
        advice="Check that every file is whole, and that lines end in LF or in CRLF throughout.",
    )


@contextmanager
def _watched(connection: Any, progress: ShareProgress | None) -> Iterator[None]:
    """Tells how far a query is, from 0 to 1, while it runs."""
    if progress is None:
        yield
        return
    done = Event()

    def watch() -> None:
        while not done.wait(_POLL_S):
            progress(min(max(connection.query_progress() / 100, 0.0), 1.0))

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
