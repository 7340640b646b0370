"""The database of a ledger: transactions for reading and writing, and errors in plain words."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from hushway.errors import BudgetError, LedgerError

# A connection that is interrupted while it closes raises an error. The libraries also log it with a
# traceback, which would be printed if no handler took it.
for _library in ("sqlalchemy", "psycopg"):
    logging.getLogger(_library).addHandler(logging.NullHandler())


@dataclass
class Store:
    """An open database.

    Engines keep no connection between transactions: a connection that survives a fork would be
    shared by two processes, and a ledger is used far too rarely to miss a pool.

    Attributes:
        name: What to call the ledger in messages; never holds a password.
        reader: Begins transactions that see one moment and write nothing.
        writer: Begins transactions that exclude other writers and outlive a power cut once
            committed.
        creator: Like `writer`, for making the tables.
    """

    name: str
    reader: Engine
    writer: Engine
    creator: Engine
    file: Path | None = None
    closed: bool = False

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Opens a transaction that sees one moment of the ledger."""
        with self._transaction(self.reader) as connection:
            yield connection

    @contextmanager
    def writing(self, *, creating: bool = False) -> Iterator[Connection]:
        """Opens a transaction that is committed at the end, or rolled back if anything fails."""
        with self._transaction(self.creator if creating else self.writer) as connection:
            yield connection

    @contextmanager
    def _transaction(self, engine: Engine) -> Iterator[Connection]:
        if self.closed:
            raise LedgerError(
                f"The ledger {self.name} was closed.", advice="Connect to the ledger again."
            )
        try:
            with engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            # The database's own message may quote rows, so only our explanation of it is shown.
            raise explain(error, self.name) from None

    def close(self) -> None:
        """Ends the use of the store."""
        self.closed = True
        self.writer.dispose()


_RETRY = "Whether it was written shows in the ledger. "

_LOCKED = (
    "is in use by another process and stayed locked for too long",
    _RETRY + "Wait until the other release is done, then try again.",
)
_READ_ONLY = (
    "cannot be written to",
    "Ask for the right to write to it; nothing can be published from a read-only ledger.",
)
_FULL = ("has no room left on its disk", _RETRY + "Free some space, then try again.")
_NOT_A_LEDGER = (
    "is not a ledger of hushway",
    "Name the ledger's own file or database, or a new file for a new ledger.",
)
_DAMAGED = (
    "is damaged",
    "Keep the file as it is, restore a backup beside it and compare the two before spending again.",
)
_OUT_OF_REACH = (
    "cannot be opened",
    "Check that its folder exists and that you may read and write there.",
)
_NO_SERVER = (
    "does not answer or refused the login",
    _RETRY + "Check the host, port, database name, user and password, then try again.",
)
_DISK = ("could not be read or written by its disk", _RETRY + "Check the disk, then try again.")
_CROWDED = ("was interrupted by its server", _RETRY + "Try again in a moment.")
_UNKNOWN = ("could not be used", _RETRY + "Check that the database is healthy, then try again.")

# Beginnings of the names that SQLite gives to its result codes.
_SQLITE = {
    "SQLITE_BUSY": _LOCKED,
    "SQLITE_LOCKED": _LOCKED,
    "SQLITE_READONLY": _READ_ONLY,
    "SQLITE_PERM": _READ_ONLY,
    "SQLITE_AUTH": _READ_ONLY,
    "SQLITE_FULL": _FULL,
    "SQLITE_NOTADB": _NOT_A_LEDGER,
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_CONSTRAINT": _DAMAGED,
    "SQLITE_CANTOPEN": _OUT_OF_REACH,
    "SQLITE_IOERR": _DISK,
    # The tables are looked for when a ledger is opened, so a missing one is the only common plain
    # error.
    "SQLITE_ERROR": _NOT_A_LEDGER,
}

# Beginnings of SQLSTATE, longest first (PostgreSQL manual, appendix A).
_POSTGRESQL = {
    "25006": _READ_ONLY,
    "42501": _READ_ONLY,
    "42P01": _NOT_A_LEDGER,
    "42703": _NOT_A_LEDGER,
    "53100": _FULL,
    "55P03": _LOCKED,
    "57014": _LOCKED,
    "08": _NO_SERVER,
    "23": _DAMAGED,
    "28": _NO_SERVER,
    "3D": _NO_SERVER,
    "40": _CROWDED,
    "53": _CROWDED,
    "57": _CROWDED,
    "58": _DISK,
    "XX": _DAMAGED,
}


def no_ledger(name: str) -> BudgetError:
    """Returns the error of a ledger that nobody has opened an account in yet."""
    return BudgetError(
        f"There is no ledger {name}.", advice="Open an account first: hushway ledger open PLAN"
    )


def explain(error: SQLAlchemyError, name: str) -> LedgerError:
    """Returns one error in words for a steward, without the database's own text."""
    happened, advice = _diagnose(error)
    return LedgerError(f"The ledger {name} {happened}.", advice=advice)


def _diagnose(error: SQLAlchemyError) -> tuple[str, str]:
    complaint = error.orig if isinstance(error, DBAPIError) else None
    code = getattr(complaint, "sqlite_errorname", None)
    if code:
        return _first_match(_SQLITE, code)
    state = getattr(complaint, "sqlstate", None)
    if state:
        return _first_match(_POSTGRESQL, state)
    # psycopg gives no SQLSTATE when there is no conversation at all.
    if type(complaint).__module__.startswith("psycopg"):
        return _NO_SERVER
    return _UNKNOWN


def _first_match(meanings: dict[str, tuple[str, str]], code: str) -> tuple[str, str]:
    return next((words for start, words in meanings.items() if code.startswith(start)), _UNKNOWN)
