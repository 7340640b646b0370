"""The tables, and how they come into being when many processes open a new ledger at once."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    inspect,
    select,
)

from hushway.errors import LedgerError
from hushway.privacy.ledger.store import Store, no_ledger

VERSION = 2

_metadata = MetaData()

# One row. The numbers of accounts and of declarations are kept so that none can vanish unseen.
ledger_table = Table(
    "hushway_ledger",
    _metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("accounts", Integer, nullable=False),
    Column("declarations", Integer, nullable=False),
    Column("people_head", Text, nullable=False),
)

# Amounts are exact fractions and times are ISO 8601: both as text, because no database type keeps
# them as written.
account_table = Table(
    "hushway_account",
    _metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("dataset", Text, nullable=False),
    Column("unit", Text, nullable=False),
    Column("period", Text, nullable=False),
    Column("measure", Text, nullable=False),
    Column("cap", Text, nullable=False),
    Column("delta", Text, nullable=False),
    Column("opened_at", Text, nullable=False),
    Column("spent", Text, nullable=False),
    Column("entries", Integer, nullable=False),
    Column("head", Text, nullable=False),
    UniqueConstraint("dataset", "unit", "period", name="hushway_one_account_per_key"),
)

entry_table = Table(
    "hushway_entry",
    _metadata,
    Column("account", Integer, ForeignKey("hushway_account.number"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("release", Text, nullable=False),
    Column("amount", Text, nullable=False),
    Column("spent", Text, nullable=False),
    Column("purpose", Text, nullable=False),
    Column("reference", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("days", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("previous_hash", Text, nullable=False),
    Column("hash", Text, nullable=False),
)

# Which data sets hold the same people, as the steward declared: a chain of its own.
people_table = Table(
    "hushway_people",
    _metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("people", Text, nullable=False),
    Column("datasets", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("previous_hash", Text, nullable=False),
    Column("hash", Text, nullable=False),
)

TABLES = tuple(table.name for table in _metadata.sorted_tables)

# A release is reserved once and settled once in the whole ledger, also when two accounts race for
# it. Both databases speak these words; SQLAlchemy's own partial indexes would load both dialects.
_ONCE = (
    "CREATE UNIQUE INDEX hushway_reserved_once ON hushway_entry (release) WHERE kind = 'reserve'",
    """CREATE UNIQUE INDEX hushway_settled_once ON hushway_entry (release)
    WHERE kind IN ('publish', 'abandon')""",
)


def prepare(store: Store, *, create: bool) -> None:
    """Makes sure that the store holds a ledger of this version, and creates one in an empty store.

    Raises:
        BudgetError: The store is empty, and no ledger is to be created.
        LedgerError: The store holds something else, or cannot be used.
    """
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
            "smaller by "
            "what was spent.",
        )
    if list(versions) != [VERSION]:
        raise LedgerError(
            f"The ledger {store.name} is not of version {VERSION}, the one this hushway writes.",
            advice="Use the hushway version that opened the ledger.",
        )
    return True


# Rows of the database, as raw as they are stored.
#
# The hash chain covers the stored text itself, so rows are kept apart from the values that are read
# out of them.


@dataclass(frozen=True, kw_only=True)
class AccountRow:
    """One row of the account table: the terms, which never change, and where the account stands."""

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
    """One row of the entry table."""

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
    """One row of the people table: data sets that were declared to hold the same people."""

    number: int
    people: str
    datasets: str
    at: str
    previous_hash: str
    hash: str


@dataclass(frozen=True, kw_only=True)
class LedgerRow:
    """The one row of the ledger table: how many rows there must be elsewhere."""

    version: int
    accounts: int
    declarations: int
    people_head: str


def now_text() -> str:
    """Returns the present moment as it is stored.

    To the second: finer times would tell how long the counting took, and that depends on the rows.
    """
    return datetime.now(UTC).isoformat(timespec="seconds")
