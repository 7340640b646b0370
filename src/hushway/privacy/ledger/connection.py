"""Opens the store at a path or an address, and makes true copies of one in SQLite."""

import os
import sqlite3
import threading
import time
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, NullPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from hushway.errors import LedgerError
from hushway.privacy.ledger.book import Book
from hushway.privacy.ledger.filesystem import refuse_second_name, refuse_unsound_disk
from hushway.privacy.ledger.schema import TABLES, ledger_table
from hushway.privacy.ledger.store import Store, no_ledger

_ADVICE = "Give a file such as ledger.db, or an address such as postgresql://user@host/database."
_SQLITE = ("sqlite", "sqlite+pysqlite")
_POSTGRESQL = ("postgres", "postgresql", "postgresql+psycopg")


def open_store(url: str | Path, *, create: bool = True) -> Store:
    """Opens the store at a path, a sqlite:/// address or a postgresql:// address.

    A SQLite address takes two options: `mode=ro` to look only, `timeout` in seconds to wait for a
    lock.
    """
    if isinstance(url, Path) or "://" not in url:
        return open_file(_checked(str(url)), create=create)
    address = _parsed(url)
    if address.drivername in _SQLITE:
        return _open_sqlite(address, create=create)
    if address.drivername in _POSTGRESQL:
        return open_database(address)
    raise LedgerError("A ledger lives in SQLite or in PostgreSQL.", advice=_ADVICE)


def _open_sqlite(address: URL, *, create: bool) -> Store:
    options = dict(address.query)
    mode = options.pop("mode", "rw")
    timeout = str(options.pop("timeout", "60"))
    if (
        options
        or address.host
        or mode not in ("ro", "rw")
        or not timeout.replace(".", "", 1).isdigit()
    ):
        raise LedgerError("The address of the SQLite ledger cannot be understood.", advice=_ADVICE)
    path = _checked(address.database or "")
    return open_file(path, timeout_s=float(timeout), read_only=mode == "ro", create=create)


def _checked(path: str) -> Path:
    if not path or path == ":memory:" or "\0" in path:
        raise LedgerError(
            "A ledger needs a file: one in memory would forget what was spent.", advice=_ADVICE
        )
    return Path(path)


def _parsed(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        # The address may hold a password, so it is not repeated.
        raise LedgerError(
            "The address of the ledger cannot be understood.", advice=_ADVICE
        ) from None


# With what SQLite adds to it for its log.
_LONGEST_NAME = 255 - len("-journal")
_CONNECT_TIMEOUT_S = 10
# Any number would do, as long as every hushway uses the same one.
_CREATION_LOCK = 7_483_710_452
# The server's own settings stand unless they would let a ledger wait for ever or forget a commit.
_DURABLE = (
    "SELECT set_config('lock_timeout', '60s', true) WHERE current_setting('lock_timeout') = '0'",
    """SELECT set_config('synchronous_commit', 'on', true)
    WHERE current_setting('synchronous_commit') = 'off'""",
)
_CREATION = f"SELECT pg_advisory_xact_lock({_CREATION_LOCK})"


def open_database(url: URL) -> Store:
    """Opens a ledger in a database."""
    name = f"{url.host or 'local'}/{url.database or ''}"
    defaults = {"connect_timeout": _CONNECT_TIMEOUT_S, "client_encoding": "utf8"}
    try:
        engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            connect_args={k: v for k, v in defaults.items() if k not in url.query},
            poolclass=NullPool,
            hide_parameters=True,
        )
    except ImportError:
        raise LedgerError(
            "A ledger in PostgreSQL needs a driver that is not installed.",
            advice='Install it: pip install "hushway[postgres]"',
        ) from None
    # Under READ COMMITTED a writer that waited for the account row sees what the one before it
    # wrote.
    writer = engine.execution_options(isolation_level="READ COMMITTED")
    creator = writer.execution_options(hushway_creates=True)
    event.listen(engine, "begin", _begin)
    return Store(
        name=name,
        # Several SELECTs must see one moment, or a check would find fault with a ledger in use.
        reader=engine.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True, hushway_reads=True
        ),
        writer=writer,
        creator=creator,
    )


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("hushway_reads"):
        return
    for statement in _DURABLE:
        connection.exec_driver_sql(statement)
    if options.get("hushway_creates"):
        # CREATE TABLE IF NOT EXISTS is not safe when two sessions run it at once; a lock is.
        connection.exec_driver_sql(_CREATION)


_BUSY_TIMEOUT_S = 60.0
_PAUSE_S = 0.01

_creation = threading.Lock()


def open_file(
    path: Path, *, timeout_s: float = _BUSY_TIMEOUT_S, read_only: bool = False, create: bool = True
) -> Store:
    """Opens a ledger file, and creates an empty one where there is none, if it may."""
    name = str(path)
    # A later change of the working folder must not lead to another file.
    path = path.absolute()
    if not create and not os.path.exists(path):  # noqa: PTH110  has an answer to any name
        raise no_ledger(name)
    if not read_only:
        refuse_unsound_disk(path, name)
        _create_private(path, name)
    refuse_second_name(path, name)
    uri = f"{path.as_uri()}?mode={'ro' if read_only else 'rw'}"
    engine = create_engine(
        "sqlite://",
        creator=partial(_connect, path, uri, timeout_s, name),
        poolclass=NullPool,
        hide_parameters=True,
    )
    event.listen(engine, "begin", _begin_sqlite)
    writer = engine.execution_options(hushway_begin="BEGIN IMMEDIATE")
    return Store(name=name, reader=engine, writer=writer, creator=writer, file=path)


def _begin_sqlite(connection: Connection) -> None:
    # A deferred transaction that turns into a writer fails at once when another process wrote in
    # between; taking the write lock first is what makes "check the limit, then append" one step.
    connection.exec_driver_sql(connection.get_execution_options().get("hushway_begin", "BEGIN"))


def _connect(path: Path, uri: str, timeout_s: float, name: str) -> sqlite3.Connection:
    # Again for every transaction: a second name may be given to a ledger that is in use.
    refuse_second_name(path, name)
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
        if os.path.exists(path):  # noqa: PTH110  has an answer to any name
            return
        with suppress(FileExistsError):
            _new_private_file(path, f"The ledger {name}")


def _new_private_file(path: Path, what: str) -> None:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise
    except OSError:
        raise _not_created(what) from None


def _not_created(what: str) -> LedgerError:
    return LedgerError(
        f"{what} cannot be created.",
        advice="Check that its folder exists and that you may write there.",
    )


def refuse_creation(url: str | Path) -> None:
    """Refuses a place where no ledger file could be made; makes none."""
    if isinstance(url, str) and "://" in url:
        address = _parsed(url)
        if address.drivername not in _SQLITE:
            return
        url = address.database or ""
    path = _checked(str(url)).absolute()
    too_long = len(os.fsencode(path.name)) > _LONGEST_NAME
    if too_long or not os.access(path.parent, os.W_OK | os.X_OK) or path.parent.is_file():
        raise _not_created(f"The ledger {url}")


# A true copy of a ledger in SQLite.
#
# Copying the file is not enough: what was committed lately may be in the log beside it, for as long
# as anybody has the ledger open.


def back_up(store: Store, target: Path) -> None:
    """Writes everything that was committed into a new file that only its owner may read."""
    if store.reader.dialect.name != "sqlite":
        tables = " ".join(f"--table={name}" for name in TABLES)
        raise LedgerError(
            "Only a ledger in SQLite is copied this way.",
            advice=f"Let the server make a true copy: pg_dump {tables} DATABASE > ledger.sql",
        )
    _create(target)
    try:
        with store.reading() as connection:
            rows = _everything(connection)
            # The same transaction: the copy holds what was just read, whoever writes meanwhile.
            _copy(connection, target)
        _compare(target, rows)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _create(target: Path) -> None:
    try:
        _new_private_file(target, f"The backup {target}")
    except FileExistsError:
        raise LedgerError(
            f"{target} exists; a backup never replaces a file.", advice="Name a new file."
        ) from None


def _copy(connection: Connection, target: Path) -> None:
    source = connection.connection.driver_connection
    if not isinstance(source, sqlite3.Connection):
        raise _failed(target)
    try:
        with closing(sqlite3.connect(target, isolation_level=None)) as copy:
            copy.execute("PRAGMA synchronous = FULL")
            copy.execute("PRAGMA fullfsync = ON")
            source.backup(copy)
    except sqlite3.Error:
        raise _failed(target) from None


def _compare(target: Path, rows: tuple[Any, ...]) -> None:
    copied = open_file(target)
    with copied.reading() as connection:
        same = _everything(connection) == rows
    copied.close()
    if not same:
        raise _failed(target)


def _everything(connection: Connection) -> tuple[Any, ...]:
    book = Book(connection)
    return book.whole(), book.accounts(), book.entries(), book.declarations()


def _failed(target: Path) -> LedgerError:
    return LedgerError(
        f"The backup {target} could not be written.",
        advice="Check that its disk has room and is healthy, then try again with a new name.",
    )
