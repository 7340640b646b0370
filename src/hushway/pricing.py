"""What a release would cost and how good it would be, without touching rows or budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from hushway.errors import BudgetError, PrivacyError
from hushway.privacy.ledger import Account, Ledger
from hushway.privacy.loss import Loss, cost_on, total
from hushway.release.job import Job
from hushway.release.mechanism import Forecast


@dataclass(frozen=True, kw_only=True)
class Price:
    """The price tag of a release.

    Attributes:
        loss: What it would cost.
        account: The account that would pay, or None if it is not open yet.
        charge: What it would take out of that account, in its currency; None if it cannot pay.
        affordable: Whether the account has that much left.
        obstacle: Why the account could not pay for these days, if another one holds some of them.
        forecasts: Typical errors of a cell and of sums.
        noise: Which noise is better and why, if the plan names a delta and features.
    """

    loss: Loss
    account: Account | None
    charge: Fraction | None
    affordable: bool
    obstacle: str | None
    forecasts: tuple[Forecast, ...]
    noise: str | None


def price(job: Job) -> Price:
    """Forecasts cost and errors.

    Privacy:
        Reads the plan, public files and the ledger; neither rows nor budget are touched.
    """
    loss = total(job.mechanism.losses)
    account, obstacle = _account(job)
    charge = None if account is None else _charge(account, job.mechanism.losses)
    return Price(
        loss=loss,
        account=account,
        charge=charge,
        affordable=account is not None
        and obstacle is None
        and charge is not None
        and charge <= account.remaining,
        obstacle=obstacle,
        forecasts=job.mechanism.forecast(job.geography, job.bound),
        noise=job.wording.noise,
    )


def _charge(account: Account, losses: Sequence[Loss]) -> Fraction | None:
    try:
        return cost_on(losses, account.cap.measure)
    except PrivacyError:
        return None


def _account(job: Job) -> tuple[Account | None, str | None]:
    """Returns the account that would pay, and what is in its way."""
    url = job.plan.ledger_url()
    if isinstance(url, Path) and not url.exists():
        return None, None
    with Ledger.connect(url) as ledger:
        obstacle = ledger.obstacle(job.account, job.window)
        try:
            return ledger.account(job.account), obstacle
        except BudgetError:
            return None, obstacle
