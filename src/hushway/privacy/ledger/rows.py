"""Rows of the database, as raw as they are stored.

The hash chain covers the stored text itself, so rows are kept apart from the values that are read
out of them.
"""

from dataclasses import dataclass
from datetime import UTC, datetime


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
