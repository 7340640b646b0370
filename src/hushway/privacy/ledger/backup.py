"""A true copy of a ledger in SQLite.

Copying the file is not enough: what was committed lately may be in the log beside it, for as long
as anybody has the ledger open.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from hushway.errors import LedgerError
from hushway.privacy.ledger.book import Book
from hushway.privacy.ledger.connection import open_file
from hushway.privacy.ledger.schema import TABLES
from hushway.privacy.ledger.store import Store


def back_up(store: Store, target: Path) -> None:
    """Writes everything that was committed into a new file that only its owner may read.

    Raises:
        LedgerError: The ledger is not in SQLite, the target exists, or the copy failed; then
            nothing is left at the target.
    """
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
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise LedgerError(
            f"{target} exists; a backup never replaces a file.", advice="Name a new file."
        ) from None
    except OSError:
        raise LedgerError(
            f"The backup {target} cannot be created.",
            advice="Check that its folder exists and that you may write there.",
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
