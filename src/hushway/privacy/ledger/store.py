"""Where a ledger lives, and the two kinds of transaction on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from hushway.errors import LedgerError
from hushway.privacy.ledger.troubles import explain


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
        file: Where it lies, if it is a file.
        closed: Whether the ledger was closed.
    """

    name: str
    reader: Engine
    writer: Engine
    creator: Engine
    file: Path | None = None
    closed: bool = False

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Opens a transaction that sees one moment of the ledger.

        Raises:
            LedgerError: The ledger is out of reach or damaged.
        """
        with self._transaction(self.reader) as connection:
            yield connection

    @contextmanager
    def writing(self, *, creating: bool = False) -> Iterator[Connection]:
        """Opens a transaction that is committed at the end, or rolled back if anything fails.

        Raises:
            LedgerError: The ledger is out of reach, damaged, full, read-only or locked for too
                long.
        """
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
            # The database's own words may quote rows; only our reading of them leaves this line.
            raise explain(error, self.name) from None

    def close(self) -> None:
        """Ends the use of the store."""
        self.closed = True
        self.writer.dispose()
