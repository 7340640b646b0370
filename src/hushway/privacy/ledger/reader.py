"""What a ledger answers without writing: accounts, statements, checks, days that are taken."""

from collections.abc import Sequence
from datetime import date
from types import TracebackType
from typing import Self

from hushway.errors import BudgetError
from hushway.privacy.ledger.book import Book
from hushway.privacy.ledger.entries import (
    Account,
    AccountKey,
    Entry,
    EntryKind,
    Unpublished,
    is_sealed,
)
from hushway.privacy.ledger.inspection import cautions, findings, older, walk
from hushway.privacy.ledger.memory import Seen, lost_entries, recalled
from hushway.privacy.ledger.names import normal_name
from hushway.privacy.ledger.people import (
    PeopleLost,
    account_of,
    damaged,
    entry_of,
    groups,
    lost_by,
    unpublished_among,
)
from hushway.privacy.ledger.schema import AccountRow, EntryRow
from hushway.privacy.ledger.store import Store
from hushway.privacy.ledger.window import Window
from hushway.privacy.ledger.witness import Witness, binds_files, contradictions


class LedgerReader:
    """The side of a ledger that spends nothing."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._store.name!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the use of the ledger."""
        self._store.close()

    def account(self, key: AccountKey) -> Account:
        """Returns an account as it stands.

        Raises:
            BudgetError: There is no such account.
            LedgerError: The ledger is out of reach or damaged.
        """
        with self._store.reading() as connection:
            book = Book(connection)
            row = existing(book.account(key), key)
            if not book.agrees_with_head(row):
                raise damaged(f"Account {key}")
            return account_of(row)

    def accounts(self) -> list[Account]:
        """Returns all accounts in the order in which they were opened.

        Raises:
            LedgerError: The ledger is out of reach or damaged.
        """
        with self._store.reading() as connection:
            return [account_of(row) for row in Book(connection).accounts()]

    def obstacle(self, key: AccountKey, window: Window) -> str | None:
        """Returns why an account could not spend on some days, or None if nothing is in the way.

        Only days are looked at, and whether the ledger has lost entries; whether the account is
        open and has enough left is not asked.

        Raises:
            LedgerError: The ledger is out of reach or damaged.
        """
        seen = self._seen()
        with self._store.reading() as connection:
            book = Book(connection)
            found = lost_entries(seen, book.entries()) or obstacle(book, key, window)
        return None if found is None else f"{found} {found.advice}"

    def entries(self, key: AccountKey | None = None) -> list[Entry]:
        """Returns the entries of one account, or of all, in order and without any secret.

        Raises:
            BudgetError: There is no such account.
            LedgerError: The ledger is out of reach or damaged.
        """
        with self._store.reading() as connection:
            return _entries(Book(connection), key)

    def unpublished(self) -> list[Unpublished]:
        """Returns the releases that were charged for and never published.

        Raises:
            LedgerError: The ledger is out of reach or damaged.
        """
        return unpublished_among(self.entries())

    def lost(
        self, *, first_day: date | None = None, last_day: date | None = None
    ) -> list[PeopleLost]:
        """Returns what one person may have lost, for every group of people.

        Data sets that nobody declared anything about come last, each by itself.

        Args:
            first_day: First day of the span; None for no beginning.
            last_day: Last day of the span; None for no end.

        Raises:
            LedgerError: The ledger is out of reach or damaged.
        """
        with self._store.reading() as connection:
            book = Book(connection)
            accounts = [account_of(row) for row in book.accounts()]
            entries = _entries(book)
            people = groups(book.declarations(), (account.key.dataset for account in accounts))
        return [
            lost_by(group, accounts, entries, first_day=first_day, last_day=last_day)
            for group in people
        ]

    def secret(self, release: str) -> str:
        """Returns the secret that a release was reserved with.

        Raises:
            BudgetError: The release was never reserved.
            LedgerError: The ledger is out of reach, or the entry was edited.
        """
        release = normal_name("release id", release)
        with self._store.reading() as connection:
            book = Book(connection)
            entry = reserved(book.reserved(release), release)
            account = next((row for row in book.accounts() if row.number == entry.account), None)
            if account is None or not is_sealed(account, entry):
                raise damaged("An entry")
            return entry.secret

    def check(self) -> list[str]:
        """Walks every chain and returns what is wrong, in words; nothing when the ledger is sound.

        It finds edits, not forgeries: whoever can write to the database can also write a whole new
        chain. The hashes on published certificates are what such a chain cannot match: `witness`.
        A ledger that has lost entries which this user has seen is not sound either.

        Raises:
            LedgerError: The ledger is out of reach or damaged.
        """
        seen = self._seen()
        with self._store.reading() as connection:
            book = Book(connection)
            entries = book.entries()
            found = findings(book.whole(), book.accounts(), entries, book.declarations())
        return [*found, *older(seen, entries)]

    def refuse_restored(self) -> None:
        """Makes sure that the ledger holds all entries of it that this user has seen.

        Raises:
            LedgerError: It was restored from an older copy, and nobody has said what was lost.
        """
        seen = self._seen()
        with self._store.reading() as connection:
            entries = Book(connection).entries()
        if (refusal := lost_entries(seen, entries)) is not None:
            raise refusal

    def cautions(self) -> list[str]:
        """Returns what is worth knowing before the ledger is trusted, in words.

        Who else may write to it, whether this user has seen a newer one, whether clocks are off.

        Raises:
            LedgerError: The ledger is out of reach or damaged.
        """
        seen = self._seen()
        with self._store.reading() as connection:
            book = Book(connection)
            accounts, entries = book.accounts(), book.entries()
        return cautions(file=self._store.file, seen=seen, accounts=accounts, entries=entries)

    def witness(self, witness: Witness) -> list[str]:
        """Returns everything in which the ledger contradicts a certificate, in words.

        Raises:
            BudgetError: The release id is none that a ledger would take.
            LedgerError: The ledger is out of reach or damaged.
        """
        with self._store.reading() as connection:
            return contradictions(Book(connection), witness)

    def binds_files(self, release: str) -> bool:
        """Whether the ledger notes the very files of a release, and not its certificate alone.

        Raises:
            BudgetError: The release id is none that a ledger would take.
            LedgerError: The ledger is out of reach or damaged.
        """
        with self._store.reading() as connection:
            return binds_files(Book(connection).settled(normal_name("release id", release)))

    def _seen(self) -> Seen:
        """Returns what this user has seen: asked for first, since others write meanwhile."""
        with self._store.reading() as connection:
            return recalled(Book(connection).first_entry())


def existing(row: AccountRow | None, key: AccountKey) -> AccountRow:
    """Returns the account of a key.

    Raises:
        BudgetError: There is none.
    """
    if row is None:
        raise BudgetError(
            f"There is no account {key}.",
            advice="Open it once, with a budget limit, by `hushway ledger open`.",
        )
    return row


def reserved(row: EntryRow | None, release: str) -> EntryRow:
    """Returns the entry that reserved a release.

    Raises:
        BudgetError: There is none.
    """
    if row is None:
        raise BudgetError(
            f"Release {release} was never reserved in this ledger.",
            advice="Name a release that `hushway ledger show` lists.",
        )
    return row


def _entries(book: Book, key: AccountKey | None = None) -> list[Entry]:
    rows = book.accounts() if key is None else [existing(book.account(key), key)]
    return [
        entry_of(account_of(row).key, entry) for row in rows for entry in book.entries(row.number)
    ]


def obstacle(book: Book, key: AccountKey, window: Window) -> BudgetError | None:
    """Returns why an account must not spend on some days: another one of the data set has.

    Privacy:
        Losses add up within one account only. Two accounts that spend on the same rows would be two
        limits over the same people, so the second is refused, whatever unit or period it names.

    Raises:
        LedgerError: Another account of the data set was edited.
    """
    holders = [
        (account, held)
        for account, windows in _others(book, key)
        if (held := [other for other in windows if window.overlaps(other)])
    ]
    if not holders:
        return None
    listed = ", and ".join(f"account {account.key} for {_days(held)}" for account, held in holders)
    return BudgetError(
        f"Account {key} cannot spend on {window}: data set {key.dataset} was charged to {listed}.",
        advice=_advice(key, [account for account, _ in holders]),
    )


def _others(book: Book, key: AccountKey) -> list[tuple[Account, list[Window]]]:
    """Returns the other accounts of a data set with the windows that were charged to them."""
    # Read after the accounts were locked: one may have been opened, and charged, while we waited.
    rows = [
        row
        for row in book.accounts_of(key.dataset)
        if (row.unit, row.period) != (key.unit, key.period)
    ]
    chains: dict[int, list[EntryRow]] = {row.number: [] for row in rows}
    for entry in book.entries(*chains) if chains else ():
        chains[entry.account].append(entry)
    return [(account_of(row), _windows(row, chains[row.number])) for row in rows]


def _windows(account: AccountRow, chain: Sequence[EntryRow]) -> list[Window]:
    # An entry that was taken out or changed would give its days back.
    if next(walk(account, chain), None) is not None:
        raise damaged(f"Account {account.label}")
    days = [entry.days for entry in chain if entry.kind == EntryKind.RESERVE]
    return [Window.from_text(text) for text in days]


def _days(windows: Sequence[Window]) -> str:
    if any(window == Window.always() for window in windows):
        return str(Window.always())
    days = sorted({(window.first_day, window.last_day): str(window) for window in windows}.items())
    return ", ".join(text for _, text in days)


def _advice(key: AccountKey, holders: Sequence[Account]) -> str:
    if len(holders) > 1:
        return (
            "Nothing was spent. No account can spend on days of several accounts; release the days "
            "of each by themselves, from the account that holds them."
        )
    (holder,) = holders
    if holder.key.unit == key.unit:
        return (
            f'Nothing was spent. Name period = "{holder.key.period}" in the plan, so that the '
            "account that holds these days spends, or choose other days."
        )
    return (
        f"Nothing was spent. These days cannot be released for two kinds of unit, because losses "
        f'of one kind say nothing about the other: name unit = "{holder.key.unit}" and '
        f'period = "{holder.key.period}" in the plan, or choose other days.'
    )
