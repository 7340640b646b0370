"""Ledgers in one SQLite file."""

import os
import sqlite3
import threading
import time
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, NullPool, create_engine, event

from hushway.errors import LedgerError
from hushway.privacy.ledger.schema import ledger_table
from hushway.privacy.ledger.store import Store
from hushway.privacy.ledger.troubles import no_ledger

_BUSY_TIMEOUT_S = 60.0
_PAUSE_S = 0.01

_creation = threading.Lock()


def open_file(
    path: Path,
    *,
    timeout_s: float = _BUSY_TIMEOUT_S,
    read_only: bool = False,
    create: bool = True,
) -> Store:
    """Opens a ledger file, and creates an empty one where there is none, if it may.

    Raises:
        BudgetError: There is no file, and none is to be created.
        LedgerError: There is no file and none can be created.
    """
    name = str(path)
    # A later change of the working folder must not lead to another file.
    path = path.absolute()
    if not create and not path.exists():
        raise no_ledger(name)
    if not read_only:
        _create_private(path, name)
    uri = f"{path.as_uri()}?mode={'ro' if read_only else 'rw'}"
    engine = create_engine(
        "sqlite://",
        creator=partial(_connect, uri, timeout_s, name),
        poolclass=NullPool,
        hide_parameters=True,
    )
    event.listen(engine, "begin", _begin)
    writer = engine.execution_options(hushway_begin="BEGIN IMMEDIATE")
    return Store(name=name, reader=engine, writer=writer, creator=writer, file=path)


def _begin(connection: Connection) -> None:
    # A deferred transaction that turns into a writer fails at once when another process wrote in
    # between; taking the write lock first is what makes "check the cap, then append" one step.
    connection.exec_driver_sql(connection.get_execution_options().get("hushway_begin", "BEGIN"))


def _connect(uri: str, timeout_s: float, name: str) -> sqlite3.Connection:
    # isolation_level None keeps Python's sqlite3 from beginning and committing on its own.
    connection = sqlite3.connect(
        uri, uri=True, timeout=timeout_s, isolation_level=None, check_same_thread=False
    )
    try:
        _write_ahead(connection, timeout_s, name)
        # FULL makes a commit wait for the disk, also in WAL mode; fullfsync does the same on macOS.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")
        # A checkpoint beside a commit can lose committed entries in SQLite 3.7.0 to 3.51.2 (its
        # "WAL-reset bug"). Without automatic checkpoints only the last connection to close makes
        # one, and SQLite gives it the file for itself.
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection, timeout_s: float, name: str) -> None:
    """Switches a ledger to write-ahead logging, which stays switched on in the file."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            _refuse_strangers(connection, name)
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            break
        except sqlite3.OperationalError as error:
            # SQLite does not wait on its own while it switches; several first openers meet here.
            busy = getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")
            if not busy or time.monotonic() > deadline:
                raise
        time.sleep(_PAUSE_S)
    if mode != "wal":
        raise LedgerError(
            f"The ledger {name} cannot be kept safely where it is.",
            advice="Put the file on a local disk, or keep the ledger in PostgreSQL.",
        )


def _refuse_strangers(connection: sqlite3.Connection, name: str) -> None:
    """Leaves the database of another program as it is, its journal included."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    if tables and (ledger_table.name,) not in tables:
        raise LedgerError(
            f"{name} is a database, but not a ledger of hushway.",
            advice="Name the ledger's own file, or a new file for a new ledger.",
        )


def _create_private(path: Path, name: str) -> None:
    """Creates an empty file that only its owner may read: the secrets of releases will be in it."""
    # Closing any handle on a file drops all of the process's locks on it, so no thread may connect
    # in between.
    with _creation:
        if path.exists():
            return
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return
        except OSError:
            raise LedgerError(
                f"The ledger {name} cannot be created.",
                advice="Check that its folder exists and that you may write there.",
            ) from None
