"""What a ledger answers without writing: accounts, statements, checks, days that are taken."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from types import TracebackType
from typing import Self

from hushway.privacy.ledger.book import Book, existing, reserved
from hushway.privacy.ledger.chain import findings, is_sealed
from hushway.privacy.ledger.charging import obstacle
from hushway.privacy.ledger.entries import (
    Account,
    AccountKey,
    Entry,
    Unpublished,
    account_of,
    damaged,
    entry_of,
    standing,
    unpublished_among,
)
from hushway.privacy.ledger.inspection import Witness, binds_files, cautions, contradictions
from hushway.privacy.ledger.names import normal_name
from hushway.privacy.ledger.people import PeopleLost, groups, lost_by
from hushway.privacy.ledger.recovery import Seen, lost_entries, older, recalled
from hushway.privacy.ledger.schema import AccountRow
from hushway.privacy.ledger.store import Store
from hushway.privacy.ledger.window import Window


class LedgerReader:
    """The side of a ledger that spends nothing.

    Every method raises a `LedgerError` if the ledger is out of reach or damaged.
    """

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

    @contextmanager
    def _reading(self) -> Iterator[Book]:
        with self._store.reading() as connection:
            yield Book(connection)

    def account(self, key: AccountKey, window: Window | None = None) -> Account:
        """Returns an account as it stands.

        Args:
            key: Its key.
            window: Days of a release: of a rolling limit, only spans count that hold one of them.
        """
        with self._reading() as book:
            row = existing(book.account(key), key)
            if not book.agrees_with_head(row):
                raise damaged(f"Account {key}")
            return _standing(book, row, window)

    def accounts(self) -> list[Account]:
        """Returns all accounts in the order in which they were opened."""
        with self._reading() as book:
            return [_standing(book, row) for row in book.accounts()]

    def obstacle(self, key: AccountKey, window: Window) -> str | None:
        """Returns why an account could not spend on some days, or None if nothing is in the way.

        Only days are looked at, and whether the ledger has lost entries; whether the account is
        open and has enough left is not asked.
        """
        seen = self._seen()
        with self._reading() as book:
            found = lost_entries(seen, book.entries()) or obstacle(book, key, window)
        return None if found is None else f"{found} {found.advice}"

    def entries(self, key: AccountKey | None = None) -> list[Entry]:
        """Returns the entries of one account, or of all, in order and without any secret.

        Raises:
            BudgetError: There is no such account.
        """
        with self._reading() as book:
            return _entries(book, key)

    def unpublished(self) -> list[Unpublished]:
        """Returns the releases that were charged for and never published."""
        return unpublished_among(self.entries())

    def lost(
        self, *, first_day: date | None = None, last_day: date | None = None
    ) -> list[PeopleLost]:
        """Returns what one person may have lost, for every group of people.

        Data sets that nobody declared anything about come last, each by itself.

        Args:
            first_day: First day of the span; None for no beginning.
            last_day: Last day of the span; None for no end.
        """
        with self._reading() as book:
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
        with self._reading() as book:
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
        """
        seen = self._seen()
        with self._reading() as book:
            entries = book.entries()
            found = findings(book.whole(), book.accounts(), entries, book.declarations())
        return [*found, *older(seen, entries)]

    def refuse_restored(self) -> None:
        """Makes sure that the ledger holds all entries of it that this user has seen."""
        seen = self._seen()
        with self._reading() as book:
            entries = book.entries()
        if (refusal := lost_entries(seen, entries)) is not None:
            raise refusal

    def cautions(self) -> list[str]:
        """Returns what is worth knowing before the ledger is trusted, in words.

        Who else may write to it, whether this user has seen a newer one, whether clocks are off.
        """
        seen = self._seen()
        with self._reading() as book:
            accounts, entries = book.accounts(), book.entries()
        return cautions(file=self._store.file, seen=seen, accounts=accounts, entries=entries)

    def witness(self, witness: Witness) -> list[str]:
        """Returns everything in which the ledger contradicts a certificate, in words.

        Raises:
            BudgetError: The release id is none that a ledger would take.
        """
        with self._reading() as book:
            return contradictions(book, witness)

    def binds_files(self, release: str) -> bool:
        """Whether the ledger notes the very files of a release, and not its certificate alone.

        Raises:
            BudgetError: The release id is none that a ledger would take.
        """
        with self._reading() as book:
            return binds_files(book.settled(normal_name("release id", release)))

    def _seen(self) -> Seen:
        """Returns what this user has seen: asked for first, since others write meanwhile."""
        with self._reading() as book:
            return recalled(book.first_entry())


def _entries(book: Book, key: AccountKey | None = None) -> list[Entry]:
    rows = book.accounts() if key is None else [existing(book.account(key), key)]
    return [
        entry_of(account_of(row).key, entry) for row in rows for entry in book.entries(row.number)
    ]


def _standing(book: Book, row: AccountRow, window: Window | None = None) -> Account:
    account = account_of(row)
    chain = [] if account.span is None else book.entries(row.number)
    return standing(account, chain, window)
