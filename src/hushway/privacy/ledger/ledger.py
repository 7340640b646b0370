"""The ledger: accounts of privacy budget, charged before anything is counted."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Self

from hushway.errors import BudgetError, LedgerError
from hushway.privacy.accounting import is_large
from hushway.privacy.ledger.book import Book, CollisionError, Line, new_account, reserved
from hushway.privacy.ledger.charging import Reservation, chargeable
from hushway.privacy.ledger.connection import back_up, open_store
from hushway.privacy.ledger.entries import (
    Account,
    AccountKey,
    Entry,
    EntryKind,
    account_of,
    entry_of,
)
from hushway.privacy.ledger.names import check_note, check_reference, look_alike, normal_name
from hushway.privacy.ledger.people import People, datasets_to_text, groups
from hushway.privacy.ledger.reader import LedgerReader
from hushway.privacy.ledger.recovery import LostRelease, refuse_forgotten, remember, restore
from hushway.privacy.ledger.schema import prepare
from hushway.privacy.ledger.span import Span
from hushway.privacy.ledger.window import Window
from hushway.privacy.loss import Loss, ZCDPLoss


class Ledger(LedgerReader):
    """Accounts with limits, and entries that are appended and never changed.

    Every method raises a `LedgerError` if the ledger is out of reach or damaged.

    Privacy:
        A reservation is spent the moment it is written, in one transaction with the check of the
        limit. Nothing is ever refunded: a crash makes the ledger report more than was learnt, never
        less. A day of a data set is charged to one account only.
    """

    @classmethod
    def connect(cls, url: str | Path, *, create: bool = True) -> Self:
        """Opens the ledger at a path, a sqlite:/// or a postgresql:// address.

        Args:
            url: Where it is.
            create: Whether an empty store becomes a new ledger.

        Raises:
            BudgetError: There is no ledger, and none is to be made.
            LedgerError: The ledger is out of reach, or is not a ledger.
        """
        store = open_store(url, create=create)
        prepare(store, create=create)
        return cls(store)

    @contextmanager
    def _writing(self) -> Iterator[Book]:
        with self._store.writing() as connection:
            yield Book(connection)

    def open_account(
        self,
        key: AccountKey,
        budget_limit: Loss,
        *,
        delta: Fraction | None = None,
        large_delta: bool = False,
        span: Span | None = None,
    ) -> Account:
        """Opens an account, once and for all: a limit cannot be changed later.

        Args:
            key: Whose account it is.
            budget_limit: Most that may ever be spent; its currency becomes that of the account.
            delta: The delta that a rho was derived from, for display only.
            large_delta: Whether a delta above 1e-5 is meant.
            span: Makes the limit a rolling one: the most that releases of any span may cost
                together, whichever order they are published in. What all spans cost has no limit.

        Raises:
            BudgetError: The account exists, its data set or period looks like another one, or the
                delta makes no sense.
            LedgerError: The ledger is out of reach or damaged, or has lost entries.
        """
        _check_delta(budget_limit, delta, large_delta=large_delta)
        row = new_account(
            key,
            measure=budget_limit.measure.value,
            budget_limit=budget_limit.amount,
            delta=delta,
            span=span,
        )
        with self._writing() as book:
            _refuse_opening(book, key)
            opened = account_of(book.open_account(row))
        self._remember()
        return opened

    def refuse_opening(self, key: AccountKey) -> None:
        """Refuses what `open_account` would refuse of a name; writes nothing.

        Raises:
            BudgetError: The account exists, or its data set or period looks like another one.
            LedgerError: The ledger is out of reach, damaged or read-only.
        """
        with self._writing() as book:
            _refuse_opening(book, key)

    def reserve(
        self,
        key: AccountKey,
        *,
        release: str,
        losses: Sequence[Loss],
        purpose: str,
        window: Window,
        secret: str = "",
    ) -> Reservation:
        """Spends for a release, before anything is counted.

        Privacy:
            When this returns, the whole loss is spent and on disk, whatever happens to the release.
            It either takes the whole loss or raises and takes nothing; only when the database is
            lost in the middle of a commit may an error be raised for a loss that was taken.

        Args:
            key: The account that spends.
            release: The id of the release, which the whole ledger accepts only once.
            losses: The loss of every measurement of the release.
            purpose: What the release is for, in words.
            window: The days whose rows the release may count.
            secret: The key that the release bounds contributions with; kept in the ledger, in no
                statement. Its digest is part of a public hash, so it must be too random to guess.

        Raises:
            BudgetError: The account is missing, has not enough left or cannot spend in its
                currency, another account of the data set has spent on one of the days, or the
                release was reserved before.
            LedgerError: The ledger is out of reach or damaged, or was restored from an older copy
                and nobody has said yet what was lost.
        """
        release = normal_name("release id", release)
        check_note("purpose", purpose)
        check_note("secret", secret)
        try:
            with self._writing() as book:
                row, amount = chargeable(book, key, losses, window)
                if book.reserved(release) is not None:
                    raise _already_reserved(release)
                line = Line(
                    kind=EntryKind.RESERVE,
                    release=release,
                    amount=amount,
                    purpose=purpose,
                    days=window.to_text(),
                    secret=secret,
                )
                entry = book.append(row, line)
        except CollisionError:
            # Another account's writer may have reserved the same release since this transaction
            # looked.
            if self._is_reserved(release):
                raise _already_reserved(release) from None
            raise
        self._remember()
        return Reservation(
            release=release,
            key=key,
            measure=account_of(row).budget_limit.measure,
            amount=amount,
            entry_hash=entry.hash,
        )

    def refuse_reservation(
        self, key: AccountKey, *, losses: Sequence[Loss], window: Window
    ) -> None:
        """Refuses what `reserve` would refuse of an account; writes and spends nothing.

        Raises:
            BudgetError: As `reserve` does.
            LedgerError: The ledger is out of reach, damaged or read-only.
        """
        with self._writing() as book:
            chargeable(book, key, losses, window)

    def publish(self, reservation: Reservation | str, *, reference: str) -> Entry:
        """Notes that a reserved release was published.

        Args:
            reservation: The reservation, which accepts no further charge, or the id of its release.
            reference: The digest of the release's seal, which holds those of all its files.

        Raises:
            BudgetError: The release was never reserved, or is settled already.
        """
        check_reference(reference)
        return self._settle(reservation, Line(kind=EntryKind.PUBLISH, reference=reference))

    def abandon(self, reservation: Reservation | str, *, reason: str) -> Entry:
        """Notes that a reserved release will never be published. Nothing is refunded.

        Args:
            reservation: The reservation, which accepts no further charge, or the id of its release.
            reason: Why, in words.

        Raises:
            BudgetError: The release was never reserved, or is settled already.
        """
        check_note("reason", reason)
        return self._settle(reservation, Line(kind=EntryKind.ABANDON, purpose=reason))

    def declare_people(self, people: str, datasets: Sequence[str]) -> People:
        """Notes that some data sets hold the same people; this is never taken back.

        It changes no limit: it tells `lost` which losses may meet in one person.

        Args:
            people: What the people are called. The same name again adds to what was declared.
            datasets: The data sets; those that were declared with others before bring them along.

        Returns:
            The people, with every data set that now is declared to hold them.

        Raises:
            BudgetError: A name cannot be used, or no account is about one of the data sets.
        """
        name = normal_name("name of the people", people)
        named = {normal_name("data set", dataset) for dataset in datasets}
        if not named:
            raise BudgetError(
                "A declaration about people names no data set.", advice="Name one or more."
            )
        with self._writing() as book:
            book.lock_whole()
            known = {row.dataset for row in book.accounts()}
            if strange := sorted(named - known):
                listed = ", ".join(sorted(known)) or "none"
                raise BudgetError(
                    f"No account of this ledger is about {', '.join(strange)}.",
                    advice=f"The data sets of this ledger are: {listed}.",
                )
            book.declare(name, datasets_to_text(named))
            everyone = groups(book.declarations(), known)
        return next(group for group in everyone if named <= set(group.datasets))

    def restore(self, found: Sequence[LostRelease] = ()) -> list[Entry]:
        """Writes into a restored ledger again what it has lost, and notes that it was restored.

        Privacy:
            Whatever was lost is charged in full, also where that passes a limit: it was spent.
            `check` then says so, and the account spends nothing more.

        Args:
            found: Releases that were charged for and that this user's memory may not know.

        Returns:
            The entries that were written.

        Raises:
            BudgetError: Nothing is missing, or a release fits no account.
            LedgerError: The ledger is out of reach or damaged, or it is not known what was lost.
        """
        with self._writing() as book:
            book.lock_whole()
            written = restore(book, found)
        self._remember()
        return written

    def backup(self, target: str | Path) -> None:
        """Writes a true copy of a ledger in SQLite into a new file that only its owner may read.

        Raises:
            LedgerError: The ledger is not in SQLite, the target exists, or the copy failed.
        """
        back_up(self._store, Path(target))

    def _settle(self, reservation: Reservation | str, line: Line) -> Entry:
        if isinstance(reservation, Reservation):
            reservation.close()
            release = reservation.release
        else:
            release = normal_name("release id", reservation)
        with self._writing() as book:
            row = book.lock_account_of(reserved(book.reserved(release), release))
            if (end := book.settled(release)) is not None:
                raise BudgetError(
                    f"Release {release} is settled already: {end.kind}.",
                    advice="A release is published or abandoned once; reserve a new one.",
                )
            entry = book.append(row, replace(line, release=release))
            written = entry_of(account_of(row).key, entry)
        self._remember()
        return written

    def _remember(self) -> None:
        """Notes for this user what was written, so that an older copy is noticed later."""
        with suppress(LedgerError), self._reading() as book:
            remember(book.accounts(), book.entries())

    def _is_reserved(self, release: str) -> bool:
        with self._reading() as book:
            return book.reserved(release) is not None


def _refuse_opening(book: Book, key: AccountKey) -> None:
    book.lock_whole()
    refuse_forgotten(book)
    if book.account(key) is not None:
        raise BudgetError(
            f"Account {key} is open already.",
            advice="See its budget limit and what is left with `hushway ledger show`.",
        )
    _refuse_look_alikes("data set", key.dataset, {row.dataset for row in book.accounts()})
    periods = {row.period for row in book.accounts_of(key.dataset)}
    _refuse_look_alikes("period", key.period, periods)


def _refuse_look_alikes(what: str, name: str, others: set[str]) -> None:
    for other in sorted(others - {name}):
        if look_alike(name, other):
            raise BudgetError(
                f"The {what} {name} looks like {other}, which has an account already.",
                advice=f"Write {other} if you mean it; otherwise choose a name that nobody takes "
                "for it.",
            )


def _check_delta(budget_limit: Loss, delta: Fraction | None, *, large_delta: bool) -> None:
    if delta is None:
        return
    if (
        not isinstance(delta, Fraction)
        or not 0 < delta < 1
        or not isinstance(budget_limit, ZCDPLoss)
    ):
        raise BudgetError(
            "A delta is an exact fraction between 0 and 1, and belongs to a budget limit in rho.",
            advice='Give the delta in quotes, such as "1e-6", or leave it out for a pure epsilon.',
        )
    if is_large(delta, None) and not large_delta:
        raise BudgetError(
            "The delta is above 1e-5: with that chance everything about somebody may show.",
            advice="Choose one far below one over the number of people, or say in the plan that it "
            "is meant: delta and large_delta = true in [privacy].",
        )


def _already_reserved(release: str) -> BudgetError:
    return BudgetError(
        f"Release {release} was reserved before; nothing was spent.",
        advice="Give every release an id of its own.",
    )
