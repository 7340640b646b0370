"""Whether an account can spend on a release: asked when one is reserved, and before by a check."""

from collections.abc import Sequence
from fractions import Fraction

from hushway.errors import BudgetError
from hushway.privacy.ledger.book import Book
from hushway.privacy.ledger.entries import Account, AccountKey, readable
from hushway.privacy.ledger.memory import refuse_forgotten
from hushway.privacy.ledger.people import account_of
from hushway.privacy.ledger.reader import existing, obstacle
from hushway.privacy.ledger.reservation import cost_of
from hushway.privacy.ledger.schema import AccountRow
from hushway.privacy.ledger.window import Window
from hushway.privacy.loss import Loss, Measure


def chargeable(
    book: Book, key: AccountKey, losses: Sequence[Loss], window: Window
) -> tuple[AccountRow, Fraction]:
    """Locks an account that can spend on a release, and returns it with what that costs.

    Raises:
        BudgetError: The account is missing, has not enough left or cannot spend in its currency,
            or another account of the data set has spent on one of the days.
        LedgerError: The ledger is out of reach or damaged, or was restored from an older copy and
            nobody has said yet what was lost.
    """
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
