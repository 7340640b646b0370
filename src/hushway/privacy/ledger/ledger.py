"""The ledger: the one place that knows how much was ever learnt about the people in a data set."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Self

from hushway.errors import BudgetError
from hushway.privacy.ledger.accounts import Account, AccountKey
from hushway.privacy.ledger.amounts import readable
from hushway.privacy.ledger.book import Book, CollisionError, Line, new_account
from hushway.privacy.ledger.chain import is_sealed
from hushway.privacy.ledger.connection import open_store
from hushway.privacy.ledger.entries import Entry, EntryKind, Unpublished
from hushway.privacy.ledger.inspection import findings
from hushway.privacy.ledger.reservation import Reservation, cost_of
from hushway.privacy.ledger.rows import AccountRow, EntryRow
from hushway.privacy.ledger.schema import prepare
from hushway.privacy.ledger.statement import account_of, damaged, entry_of, unpublished_among
from hushway.privacy.ledger.store import Store
from hushway.privacy.ledger.wording import check_name, check_note
from hushway.privacy.loss import Loss, Measure, ZCDPLoss


class Ledger:
    """Accounts with caps, and entries that are appended and never changed.

    Privacy:
        A reservation is spent the moment it is written, in one transaction with the check of the
        cap. Nothing is ever refunded: a crash makes the ledger report more than was learnt, never
        less.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @classmethod
    def connect(cls, url: str | Path) -> Self:
        """Opens the ledger at a path, a sqlite:/// or a postgresql:// address.

        An empty store becomes a new ledger.

        Raises:
            LedgerError: The ledger is out of reach, or is not a ledger.
        """
        store = open_store(url)
        prepare(store)
        return cls(store)

    def __repr__(self) -> str:
        return f"Ledger({self._store.name!r})"

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

    def open_account(self, key: AccountKey, cap: Loss, *, delta: Fraction | None = None) -> Account:
        """Opens an account, once and for all: a cap cannot be changed later.

        Args:
            key: Whose account it is.
            cap: Most that may ever be spent; its currency becomes that of the account.
            delta: The delta that a rho was derived from, for display only.

        Raises:
            BudgetError: The account exists, or the delta makes no sense.
            LedgerError: The ledger is out of reach or damaged.
        """
        _check_delta(cap, delta)
        row = new_account(key, measure=cap.measure.value, cap=cap.amount, delta=delta)
        with self._store.writing() as connection:
            book = Book(connection)
            book.lock_openings()
            if book.account(key) is not None:
                raise BudgetError(
                    f"Account {key} is open already.",
                    advice="See its cap and what is left with `hushway ledger show`.",
                )
            return account_of(book.open_account(row))

    def account(self, key: AccountKey) -> Account:
        """Returns an account as it stands.

        Raises:
            BudgetError: There is no such account.
            LedgerError: The ledger is out of reach or damaged.
        """
        with self._store.reading() as connection:
            book = Book(connection)
            row = _existing(book.account(key), key)
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

    def reserve(
        self,
        key: AccountKey,
        *,
        release: str,
        losses: Sequence[Loss],
        purpose: str,
        secret: str = "",
    ) -> Reservation:
        """Pays for a release, before anything is counted.

        Privacy:
            When this returns, the whole loss is spent and on disk, whatever happens to the release.
            It either takes the whole loss or raises and takes nothing; only when the database is
            lost in the middle of a commit may an error be raised for a loss that was taken.

        Args:
            key: The account that pays.
            release: The id of the release, which the whole ledger accepts only once.
            losses: The loss of every measurement of the release.
            purpose: What the release is for, in words.
            secret: The key that the release bounds contributions with; kept in the ledger, in no
                statement. Its digest is part of a public hash, so it must be too random to guess.

        Raises:
            BudgetError: The account is missing, has not enough left or cannot pay in its currency,
                or the release was reserved before.
            LedgerError: The ledger is out of reach or damaged.
        """
        check_name("release id", release)
        check_note("purpose", purpose)
        check_note("secret", secret)
        try:
            with self._store.writing() as connection:
                book = Book(connection)
                row = _existing(book.lock_account(key), key)
                account = account_of(row)
                amount = _price(losses, account.cap.measure)
                if book.reserved(release) is not None:
                    raise _already_reserved(release)
                _check_cap(account, amount)
                line = Line(
                    kind=EntryKind.RESERVE,
                    release=release,
                    amount=amount,
                    purpose=purpose,
                    secret=secret,
                )
                entry = book.append(row, line)
        except CollisionError:
            # Another account's writer may have reserved the same release since this transaction
            # looked.
            if self._is_reserved(release):
                raise _already_reserved(release) from None
            raise
        return Reservation(
            release=release,
            key=key,
            measure=account.cap.measure,
            amount=amount,
            entry_hash=entry.hash,
        )

    def publish(self, reservation: Reservation | str, *, reference: str) -> Entry:
        """Notes that a reserved release was published.

        Args:
            reservation: The reservation, which accepts no further charge, or the id of its release.
            reference: The digest of the release's certificate.

        Raises:
            BudgetError: The release was never reserved, or is settled already.
            LedgerError: The ledger is out of reach or damaged.
        """
        check_name("reference", reference)
        return self._settle(reservation, Line(kind=EntryKind.PUBLISH, reference=reference))

    def abandon(self, reservation: Reservation | str, *, reason: str) -> Entry:
        """Notes that a reserved release will never be published. Nothing is refunded.

        Args:
            reservation: The reservation, which accepts no further charge, or the id of its release.
            reason: Why, in words.

        Raises:
            BudgetError: The release was never reserved, or is settled already.
            LedgerError: The ledger is out of reach or damaged.
        """
        check_note("reason", reason)
        return self._settle(reservation, Line(kind=EntryKind.ABANDON, purpose=reason))

    def entries(self, key: AccountKey | None = None) -> list[Entry]:
        """Returns the entries of one account, or of all, in order and without any secret.

        Raises:
            BudgetError: There is no such account.
            LedgerError: The ledger is out of reach or damaged.
        """
        with self._store.reading() as connection:
            book = Book(connection)
            rows = book.accounts() if key is None else [_existing(book.account(key), key)]
            return [
                entry_of(account_of(row).key, entry)
                for row in rows
                for entry in book.entries(row.number)
            ]

    def unpublished(self) -> list[Unpublished]:
        """Returns the releases that were paid for and never published.

        Raises:
            LedgerError: The ledger is out of reach or damaged.
        """
        return unpublished_among(self.entries())

    def secret(self, release: str) -> str:
        """Returns the secret that a release was reserved with.

        Raises:
            BudgetError: The release was never reserved.
            LedgerError: The ledger is out of reach, or the entry was edited.
        """
        with self._store.reading() as connection:
            book = Book(connection)
            entry = _reserved(book.reserved(release), release)
            account = next((row for row in book.accounts() if row.number == entry.account), None)
            if account is None or not is_sealed(account, entry):
                raise damaged("An entry")
            return entry.secret

    def check(self) -> list[str]:
        """Walks every chain and returns what is wrong, in words; nothing when the ledger is sound.

        It finds edits, not forgeries: whoever can write to the database can also write a whole new
        chain. The hashes on published certificates are what such a chain cannot match.

        Raises:
            LedgerError: The ledger is out of reach or damaged.
        """
        with self._store.reading() as connection:
            book = Book(connection)
            return findings(book.account_count(), book.accounts(), book.entries())

    def _settle(self, reservation: Reservation | str, line: Line) -> Entry:
        if isinstance(reservation, Reservation):
            reservation.close()
        release = reservation.release if isinstance(reservation, Reservation) else reservation
        with self._store.writing() as connection:
            book = Book(connection)
            row = book.lock_account_of(_reserved(book.reserved(release), release))
            if (end := book.settled(release)) is not None:
                raise BudgetError(
                    f"Release {release} is settled already: {end.kind}.",
                    advice="A release is published or abandoned once; reserve a new one.",
                )
            entry = book.append(row, replace(line, release=release))
            return entry_of(account_of(row).key, entry)

    def _is_reserved(self, release: str) -> bool:
        with self._store.reading() as connection:
            return Book(connection).reserved(release) is not None


def _price(losses: Sequence[Loss], measure: Measure) -> Fraction:
    if not losses:
        raise BudgetError(
            "A release without any loss cannot be reserved.", advice="Measure something first."
        )
    return sum((cost_of(loss, measure) for loss in losses), Fraction(0))


def _check_cap(account: Account, amount: Fraction) -> None:
    if amount <= account.remaining:
        return
    measure = account.cap.measure
    raise BudgetError(
        f"The release asks for {readable(measure, amount)}, but account {account.key} has "
        f"{readable(measure, account.remaining)} left of its cap of "
        f"{readable(measure, account.cap.amount)}.",
        advice="Nothing was spent. Spend less on this release, or wait for the next period; "
        "`hushway price` shows what fits.",
    )


def _check_delta(cap: Loss, delta: Fraction | None) -> None:
    if delta is None:
        return
    if not isinstance(delta, Fraction) or not 0 < delta < 1 or not isinstance(cap, ZCDPLoss):
        raise BudgetError(
            "A delta is an exact fraction between 0 and 1, and belongs to a cap in rho.",
            advice='Give the delta in quotes, such as "1e-6", or leave it out for a pure epsilon.',
        )


def _existing(row: AccountRow | None, key: AccountKey) -> AccountRow:
    if row is None:
        raise BudgetError(
            f"There is no account {key}.",
            advice="Open it once, with a cap, by `hushway ledger open`.",
        )
    return row


def _reserved(row: EntryRow | None, release: str) -> EntryRow:
    if row is None:
        raise BudgetError(
            f"Release {release} was never reserved in this ledger.",
            advice="Name a release that `hushway ledger show` lists.",
        )
    return row


def _already_reserved(release: str) -> BudgetError:
    return BudgetError(
        f"Release {release} was reserved before; nothing was spent.",
        advice="Give every release an id of its own.",
    )
