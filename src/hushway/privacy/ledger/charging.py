"""Whether an account can spend on a release: asked when one is reserved, and before by a check."""

from collections.abc import Sequence
from fractions import Fraction

from hushway.errors import BudgetError
from hushway.privacy.ledger.book import Book, existing
from hushway.privacy.ledger.chain import walk
from hushway.privacy.ledger.entries import (
    Account,
    AccountKey,
    EntryKind,
    account_of,
    damaged,
    readable,
)
from hushway.privacy.ledger.recovery import refuse_forgotten
from hushway.privacy.ledger.reservation import cost_of
from hushway.privacy.ledger.schema import AccountRow, EntryRow
from hushway.privacy.ledger.window import Window
from hushway.privacy.loss import Loss, Measure


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
    _check_cap(account, amount)
    return row, amount


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
    raise BudgetError(
        f"The release asks for {readable(measure, amount)}, but account {account.key} has "
        f"{readable(measure, account.remaining)} left of its budget limit of "
        f"{readable(measure, account.budget_limit.amount)}.",
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
