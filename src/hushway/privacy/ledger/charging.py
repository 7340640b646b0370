"""Whether an account can spend on a release, and the reservation: the share that it was charged."""

import os
import threading
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NoReturn

from hushway.errors import BudgetError, PrivacyError
from hushway.privacy.events import Event
from hushway.privacy.ledger.book import Book, existing
from hushway.privacy.ledger.chain import walk
from hushway.privacy.ledger.entries import (
    Account,
    AccountKey,
    EntryKind,
    account_of,
    damaged,
    readable,
    standing,
)
from hushway.privacy.ledger.recovery import refuse_forgotten
from hushway.privacy.ledger.schema import AccountRow, EntryRow
from hushway.privacy.ledger.window import Window
from hushway.privacy.loss import Loss, Measure, cost_on


class Reservation:
    """The budget of one release, filled once by the ledger; a `Budget` that a curator spends from.

    Privacy:
        The whole amount was spent in the ledger before this object existed. Charging only makes
        sure that the release stays within it; what is left over is never refunded. It belongs to
        the process that made it: a copy, in memory or in a forked process, would spend it again.
    """

    def __init__(
        self, *, release: str, key: AccountKey, measure: Measure, amount: Fraction, entry_hash: str
    ) -> None:
        self.release = release
        self.key = key
        self.measure = measure
        self.amount = amount
        self.entry_hash = entry_hash
        self._charged = Fraction(0)
        self._closed = False
        self._turn = threading.Lock()
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"Reservation({self.release!r}, {readable(self.measure, self.amount)})"

    @property
    def charged(self) -> Fraction:
        """What was charged so far, in the currency of the account."""
        return self._charged

    def charge(self, event: Event) -> None:
        """Takes the event's loss out of the reservation.

        Privacy:
            Either the whole loss is taken or nothing.
        """
        # Before the lock: a fork may have copied it while another thread held it.
        if os.getpid() != self._process:
            raise PrivacyError(
                f"Release {self.release} was reserved by another process, which may spend it too.",
                advice="Measure in the process that reserved, or reserve a release in each.",
            )
        cost = cost_of([event.loss], self.measure)
        with self._turn:
            if self._closed:
                raise BudgetError(
                    f"Release {self.release} is settled; nothing more can be measured for it.",
                    advice="Reserve a new release.",
                )
            if self._charged + cost > self.amount:
                raise BudgetError(
                    f"Release {self.release} would charge {readable(self.measure, cost)} "
                    f"with {readable(self.measure, self.amount - self._charged)} left "
                    f"of the {readable(self.measure, self.amount)} it reserved.",
                    advice="Nothing was taken. Reserve the losses of all measurements at once.",
                )
            self._charged += cost

    def __reduce__(self) -> NoReturn:
        """Refuses to be copied or pickled: each copy could be spent in full."""
        raise PrivacyError(
            f"The reservation of release {self.release} cannot be copied: it would be spent twice.",
            advice="Hand on the reservation itself, within its process.",
        )

    def close(self) -> None:
        """Ends the charging: the ledger calls this when the release is settled."""
        with self._turn:
            self._closed = True


def cost_of(losses: Iterable[Loss], measure: Measure) -> Fraction:
    """Returns what losses cost together in the currency of an account."""
    try:
        return cost_on(losses, measure)
    except PrivacyError as refusal:
        raise BudgetError(
            f"This account cannot spend on it; nothing was spent. {refusal}", advice=refusal.advice
        ) from refusal


def chargeable(
    book: Book, key: AccountKey, losses: Sequence[Loss], window: Window
) -> tuple[AccountRow, Fraction]:
    """Locks an account that can spend on a release, and returns it with what that costs."""
    row = existing(book.lock_account(key), key)
    refuse_forgotten(book)
    account = account_of(row)
    amount = _price(losses, account.budget_limit.measure)
    if (refusal := obstacle(book, key, window)) is not None:
        raise refusal
    if account.span is not None:
        account = _rolling(account, row, book.entries(row.number), window)
    _check_cap(account, amount)
    return row, amount


def _rolling(
    account: Account, row: AccountRow, chain: Sequence[EntryRow], window: Window
) -> Account:
    """Returns an account with what the fullest span holds that the days of a window lie in.

    Privacy:
        Only what the chain holds counts, so an entry that was taken out or edited is refused. Spans
        are compared by the days that plans name; a plan that reads the same rows by another clock
        would name other days for them, and is refused.
    """
    others = _windows(row, chain)
    if Window.always() in (window, *others):
        raise BudgetError(
            f"Account {account.key} has a limit for {account.span}, and rows without times may be "
            "of any day. Nothing was spent.",
            advice="Publish them from another data set's account, or with times.",
        )
    if any(
        window.overlaps(other) and not window.has_days_in(other.first_day, other.last_day)
        for other in others
    ):
        raise BudgetError(
            f"Account {account.key} has a limit for {account.span}, and the plan names the days of "
            "a release before otherwise: by another zone or clock. Nothing was spent.",
            advice="Keep zone and clock as they were, for all steps of a series.",
        )
    return standing(account, chain, window)


def _price(losses: Sequence[Loss], measure: Measure) -> Fraction:
    if not losses:
        raise BudgetError(
            "A release without any loss cannot be reserved.", advice="Measure something first."
        )
    return cost_of(losses, measure)


def _check_cap(account: Account, amount: Fraction) -> None:
    if amount <= account.remaining:
        return
    measure = account.budget_limit.measure
    around = "" if account.span is None else f" for {account.span} around these days"
    raise BudgetError(
        f"The release asks for {readable(measure, amount)}, but account {account.key} has "
        f"{readable(measure, account.remaining)} left of its budget limit of "
        f"{readable(measure, account.budget_limit.amount)}{around}.",
        advice="Nothing was spent. Spend less on this release, or wait for the next period; "
        "`hushway price` shows what fits.",
    )


def obstacle(book: Book, key: AccountKey, window: Window) -> BudgetError | None:
    """Returns why an account must not spend on some days: another one of the data set has.

    Privacy:
        Losses add up within one account only. Two accounts that spend on the same rows would be two
        limits over the same people, so the second is refused, whatever unit or period it names.
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
