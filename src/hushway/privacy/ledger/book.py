"""The rows of a ledger within one transaction: find, lock, append.

Nothing here updates or deletes an entry.
"""

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, Select, select
from sqlalchemy.exc import IntegrityError

from hushway.errors import BudgetError, LedgerError
from hushway.privacy.ledger.chain import GENESIS, is_sealed, seal, seal_people
from hushway.privacy.ledger.entries import (
    SETTLING,
    AccountKey,
    EntryKind,
    amount_from_text,
    amount_to_text,
    damaged,
    limit_to_text,
)
from hushway.privacy.ledger.schema import (
    AccountRow,
    EntryRow,
    LedgerRow,
    PeopleRow,
    account_table,
    entry_table,
    ledger_table,
    now_text,
    people_table,
)
from hushway.privacy.ledger.span import Span


class CollisionError(LedgerError):
    """Two rows claim the same place: another process was faster, or the ledger was edited."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """What a new entry says, before it has a place in the chain."""

    kind: EntryKind
    release: str = ""
    amount: Fraction = Fraction(0)
    purpose: str = ""
    reference: str = ""
    days: str = ""
    secret: str = ""


@dataclass(frozen=True)
class Book:
    """The ledger's rows as one open transaction sees them."""

    connection: Connection

    def accounts(self) -> list[AccountRow]:
        """Returns all accounts in the order in which they were opened."""
        return self._accounts(select(account_table).order_by(account_table.c.number))

    def account(self, key: AccountKey) -> AccountRow | None:
        """Returns the account of a key."""
        return next(iter(self._accounts(_of_key(key))), None)

    def accounts_of(self, dataset: str) -> list[AccountRow]:
        """Returns the accounts of a data set in the order in which they were opened."""
        return self._accounts(_of_dataset(dataset))

    def whole(self) -> LedgerRow:
        """Returns what the ledger remembers of itself."""
        return LedgerRow(**self.connection.execute(select(ledger_table)).mappings().one())

    def entries(self, *accounts: int) -> list[EntryRow]:
        """Returns the entries of some accounts, or of all if none is named, in order."""
        query = select(entry_table).order_by(entry_table.c.account, entry_table.c.number)
        return self._entries(
            query.where(entry_table.c.account.in_(accounts)) if accounts else query
        )

    def first_entry(self) -> EntryRow | None:
        """Returns the entry that a ledger begins with, which tells it from all others."""
        query = select(entry_table).order_by(entry_table.c.account, entry_table.c.number)
        return next(iter(self._entries(query.limit(1))), None)

    def declarations(self) -> list[PeopleRow]:
        """Returns what was declared about people, in order."""
        query = select(people_table).order_by(people_table.c.number)
        return [PeopleRow(**row) for row in self.connection.execute(query).mappings()]

    def reserved(self, release: str) -> EntryRow | None:
        """Returns the entry that reserved a release."""
        return self._of_release(release, (EntryKind.RESERVE,))

    def settled(self, release: str) -> EntryRow | None:
        """Returns the entry that published or abandoned a release."""
        return self._of_release(release, SETTLING)

    def lock_account(self, key: AccountKey) -> AccountRow | None:
        """Returns the account of a key, kept from other writers until the transaction ends.

        The other accounts of the data set are kept from them too, all in the order of their
        numbers. Accounts are opened one after the other, so of two that are charged at once the
        later one's writer sees, and waits for, the earlier one: neither can overlook the days that
        the other takes.
        """
        rows = self._accounts(_of_dataset(key.dataset).with_for_update())
        row = next((row for row in rows if (row.unit, row.period) == (key.unit, key.period)), None)
        if row is not None:
            self._refuse_edited(row)
        return row

    def lock_account_of(self, entry: EntryRow) -> AccountRow:
        """Returns the account of an entry, kept from other writers until the transaction ends."""
        query = select(account_table).where(account_table.c.number == entry.account)
        row = next(iter(self._accounts(query.with_for_update())), None)
        if row is None:
            raise damaged("An account")
        self._refuse_edited(row)
        return row

    def agrees_with_head(self, account: AccountRow) -> bool:
        """Whether the last entry seals what the account row says: key, limit and what was spent.

        This one comparison keeps an edited limit or sum from being shown or spent; the full walk is
        `check`.
        """
        query = (
            select(entry_table)
            .where(entry_table.c.account == account.number)
            .order_by(entry_table.c.number.desc())
            .limit(1)
        )
        head = next(iter(self._entries(query)), None)
        return (
            head is not None
            and (head.number, head.spent, head.hash)
            == (account.entries, account.spent, account.head)
            and is_sealed(account, head)
        )

    def lock_whole(self) -> None:
        """Keeps others from opening accounts and declaring people until the transaction ends."""
        self.connection.execute(select(ledger_table).with_for_update()).one()

    def open_account(self, account: AccountRow) -> AccountRow:
        """Writes a new account and its first entry; the whole must be locked."""
        row = replace(account, number=self.whole().accounts + 1)
        self.connection.execute(ledger_table.update().values(accounts=row.number))
        try:
            self.connection.execute(account_table.insert().values(asdict(row)))
        except IntegrityError:
            raise _collision() from None
        # Two ledgers that are opened in one second, on the same terms, are told apart by it.
        self.append(row, Line(kind=EntryKind.OPEN, reference=secrets.token_hex(16)))
        return row

    def append(self, account: AccountRow, line: Line) -> EntryRow:
        """Adds an entry at the end of an account that this transaction has locked."""
        spent = amount_to_text(amount_from_text(account.spent) + line.amount)
        draft = EntryRow(
            account=account.number,
            number=account.entries + 1,
            kind=line.kind.value,
            release=line.release,
            amount=amount_to_text(line.amount),
            spent=spent,
            purpose=line.purpose,
            reference=line.reference,
            at=account.opened_at if line.kind is EntryKind.OPEN else now_text(),
            days=line.days,
            secret=line.secret,
            previous_hash=account.head,
            hash="",
        )
        entry = replace(draft, hash=seal(account, draft))
        try:
            self.connection.execute(entry_table.insert().values(asdict(entry)))
        except IntegrityError:
            raise _collision() from None
        self.connection.execute(
            account_table.update()
            .where(account_table.c.number == account.number)
            .values(spent=entry.spent, entries=entry.number, head=entry.hash)
        )
        return entry

    def declare(self, people: str, datasets: str) -> PeopleRow:
        """Adds a declaration about people; the whole must be locked."""
        whole = self.whole()
        draft = PeopleRow(
            number=whole.declarations + 1,
            people=people,
            datasets=datasets,
            at=now_text(),
            previous_hash=whole.people_head,
            hash="",
        )
        row = replace(draft, hash=seal_people(draft))
        try:
            self.connection.execute(people_table.insert().values(asdict(row)))
        except IntegrityError:
            raise _collision() from None
        self.connection.execute(
            ledger_table.update().values(declarations=row.number, people_head=row.hash)
        )
        return row

    def _refuse_edited(self, row: AccountRow) -> None:
        if not self.agrees_with_head(row):
            raise damaged(f"Account {row.label}")

    def _of_release(self, release: str, kinds: Sequence[EntryKind]) -> EntryRow | None:
        names = [kind.value for kind in kinds]
        query = select(entry_table).where(
            entry_table.c.release == release, entry_table.c.kind.in_(names)
        )
        return next(iter(self._entries(query)), None)

    def _accounts(self, query: Select[Any]) -> list[AccountRow]:
        return [AccountRow(**row) for row in self.connection.execute(query).mappings()]

    def _entries(self, query: Select[Any]) -> list[EntryRow]:
        return [EntryRow(**row) for row in self.connection.execute(query).mappings()]


def new_account(
    key: AccountKey,
    *,
    measure: str,
    budget_limit: Fraction,
    delta: Fraction | None,
    span: Span | None,
) -> AccountRow:
    """Returns the row of an account that has spent nothing and has no number yet."""
    return AccountRow(
        number=0,
        dataset=key.dataset,
        unit=key.unit.value,
        period=key.period,
        measure=measure,
        cap=limit_to_text(budget_limit, span),
        delta="" if delta is None else amount_to_text(delta),
        opened_at=now_text(),
        spent="0",
        entries=0,
        head=GENESIS,
    )


def _of_key(key: AccountKey) -> Select[Any]:
    columns = account_table.c
    return select(account_table).where(
        columns.dataset == key.dataset, columns.unit == key.unit.value, columns.period == key.period
    )


def _of_dataset(dataset: str) -> Select[Any]:
    columns = account_table.c
    return select(account_table).where(columns.dataset == dataset).order_by(columns.number)


def _collision() -> CollisionError:
    return CollisionError(
        "Two entries of the ledger claim the same place.",
        advice="Nothing was spent. Check the ledger before spending again.",
    )


def existing(row: AccountRow | None, key: AccountKey) -> AccountRow:
    """Returns the account of a key; refuses one that is not open."""
    if row is not None:
        return row
    raise BudgetError(
        f"There is no account {key}.",
        advice="Open it once, with a budget limit, by `hushway ledger open`.",
    )


def reserved(row: EntryRow | None, release: str) -> EntryRow:
    """Returns the entry that reserved a release; refuses one that was never reserved."""
    if row is not None:
        return row
    raise BudgetError(
        f"Release {release} was never reserved in this ledger.",
        advice="Name a release that `hushway ledger show` lists.",
    )
