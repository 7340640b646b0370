"""The tables, and how they come into being when many processes open a new ledger at once."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    inspect,
    select,
)
from sqlalchemy.schema import Constraint

from hushway.errors import LedgerError
from hushway.privacy.ledger.store import Store, no_ledger

VERSION = 2

# Rows of the database, as raw as they are stored. The hash chain covers the stored text itself, so
# rows are kept apart from the values that are read out of them. Amounts are exact fractions and
# times are ISO 8601: both as text, because no database type keeps them as written.


@dataclass(frozen=True, kw_only=True)
class LedgerRow:
    """The only row of its table: how many accounts and declarations there must be elsewhere."""

    version: int
    accounts: int
    declarations: int
    people_head: str


@dataclass(frozen=True, kw_only=True)
class AccountRow:
    """An account: its terms, which never change, and its current state."""

    number: int
    dataset: str
    unit: str
    period: str
    measure: str
    cap: str
    delta: str
    opened_at: str
    spent: str
    entries: int
    head: str

    @property
    def label(self) -> str:
        """The key as readers know it, whatever state the row is in."""
        return f"{self.dataset} / {self.unit} / {self.period}"


@dataclass(frozen=True, kw_only=True)
class EntryRow:
    """An entry of an account."""

    account: int
    number: int
    kind: str
    release: str
    amount: str
    spent: str
    purpose: str
    reference: str
    at: str
    days: str
    secret: str
    previous_hash: str
    hash: str


@dataclass(frozen=True, kw_only=True)
class PeopleRow:
    """Data sets that were declared to hold the same people: a chain of its own."""

    number: int
    people: str
    datasets: str
    at: str
    previous_hash: str
    hash: str


_metadata = MetaData()
_TYPES = {int: Integer, str: Text}


def _table(name: str, row: type, *constraints: Constraint) -> Table:
    columns: Iterator[Column[Any]] = (
        Column(field.name, _TYPES[field.type], nullable=False, autoincrement=False)
        for field in fields(row)
        if isinstance(field.type, type)
    )
    return Table(name, _metadata, *columns, *constraints)


ledger_table = _table("hushway_ledger", LedgerRow, PrimaryKeyConstraint("version"))
account_table = _table(
    "hushway_account",
    AccountRow,
    PrimaryKeyConstraint("number"),
    UniqueConstraint("dataset", "unit", "period", name="hushway_one_account_per_key"),
)
entry_table = _table(
    "hushway_entry",
    EntryRow,
    PrimaryKeyConstraint("account", "number"),
    ForeignKeyConstraint(["account"], ["hushway_account.number"]),
)
people_table = _table("hushway_people", PeopleRow, PrimaryKeyConstraint("number"))

TABLES = tuple(table.name for table in _metadata.sorted_tables)

# A release is reserved once and settled once in the whole ledger, also when two accounts race for
# it. Both databases take these statements; SQLAlchemy's partial indexes would load both dialects.
_ONCE = (
    "CREATE UNIQUE INDEX hushway_reserved_once ON hushway_entry (release) WHERE kind = 'reserve'",
    """CREATE UNIQUE INDEX hushway_settled_once ON hushway_entry (release)
    WHERE kind IN ('publish', 'abandon')""",
)


def prepare(store: Store, *, create: bool) -> None:
    """Makes sure that a store holds a ledger of this version; creates one in an empty store."""
    # Reading first lets an auditor open a ledger without the right to write.
    with store.reading() as connection:
        exists = _is_ledger(store, connection)
    if not exists and not create:
        raise no_ledger(store.name)
    if not exists:
        with store.writing(creating=True) as connection:
            if not _is_ledger(store, connection):
                _metadata.create_all(connection, checkfirst=False)
                for index in _ONCE:
                    connection.exec_driver_sql(index)
                connection.execute(
                    ledger_table.insert().values(
                        version=VERSION, accounts=0, declarations=0, people_head=""
                    )
                )


def _is_ledger(store: Store, connection: Connection) -> bool:
    """Whether the tables are there; False when there is room for a new ledger."""
    if not inspect(connection).has_table(ledger_table.name):
        return False
    versions = connection.execute(select(ledger_table.c.version)).scalars().all()
    if list(versions) == [1]:
        raise LedgerError(
            f"The ledger {store.name} is of version 1: its entries do not say which days they "
            "cover, so nobody can tell which account must spend on a day.",
            advice="Keep it for the record, and start a new ledger with budget limits that are "
            "smaller by what was spent.",
        )
    if list(versions) != [VERSION]:
        raise LedgerError(
            f"The ledger {store.name} is not of version {VERSION}, the one this hushway writes.",
            advice="Use the hushway version that opened the ledger.",
        )
    return True


def now_text() -> str:
    """Returns the present moment as it is stored.

    To the second: finer times would tell how long the counting took, and that depends on the rows.
    """
    return datetime.now(UTC).isoformat(timespec="seconds")
