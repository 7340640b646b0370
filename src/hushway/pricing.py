"""What a release would cost and how good it would be, without touching rows or budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hushway.errors import BudgetError
from hushway.job import Job
from hushway.privacy.ledger import Account, Ledger
from hushway.privacy.loss import Loss, Measure, ZCDPLoss, cost_on, total
from hushway.releases.mechanism import Forecast


@dataclass(frozen=True, kw_only=True)
class Price:
    """The price tag of a release.

    Attributes:
        loss: What it would cost.
        account: The account that would pay, or None if it is not open yet.
        affordable: Whether the account has that much left.
        forecasts: Typical errors of a cell and of sums.
        noise: Which noise is better and why, if the plan names a delta and features.
    """

    loss: Loss
    account: Account | None
    affordable: bool
    forecasts: tuple[Forecast, ...]
    noise: str | None


def price(job: Job) -> Price:
    """Forecasts cost and errors.

    Privacy:
        Reads the plan, public files and the ledger; neither rows nor budget are touched.
    """
    loss = total(job.mechanism.losses)
    account = _account(job)
    return Price(
        loss=loss,
        account=account,
        affordable=account is not None and _can_pay(account, job.mechanism.losses),
        forecasts=job.mechanism.forecast(job.geography, job.bound),
        noise=job.wording.noise,
    )


def _can_pay(account: Account, losses: Sequence[Loss]) -> bool:
    measure = account.cap.measure
    if any(isinstance(loss, ZCDPLoss) for loss in losses) and measure is Measure.PURE:
        return False
    return cost_on(losses, measure) <= account.remaining


def _account(job: Job) -> Account | None:
    url = job.plan.ledger_url()
    if isinstance(url, Path) and not url.exists():
        return None
    with Ledger.connect(url) as ledger:
        try:
            return ledger.account(job.account)
        except BudgetError:
            return None
