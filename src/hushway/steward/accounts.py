"""Opening the account that a plan spends from."""

from fractions import Fraction

from hushway.privacy.accounting import budget_limit_for
from hushway.privacy.ledger import Account, Ledger
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, exact
from hushway.release.job import Job


def open_account(
    job: Job, *, epsilon: Fraction | str, delta: Fraction | str | None = None
) -> Account:
    """Opens the account that a plan spends from, with a budget limit that can never be raised.

    The account is in the currency that the plan can spend: a plan with Gaussian noise needs a rho,
    which is what an epsilon and a delta allow. The delta is the plan's own unless another is given.

    Args:
        job: The prepared plan.
        epsilon: The budget limit.
        delta: Makes the limit an (epsilon, delta), kept as a rho, whatever the plan spends.

    Raises:
        BudgetError: The account exists, or its data set or period looks like another one.
        LedgerError: The ledger is out of reach or damaged, or has lost entries.

    Example:
        >>> job = hushway.prepare(hushway.load_plan("plan.toml"))
        >>> hushway.open_account(job, epsilon="4").remaining
        Fraction(4, 1)
    """
    small = _delta(job, None if delta is None else exact(delta))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        return ledger.open_account(
            job.account,
            _limit(exact(epsilon), small),
            delta=small,
            large_delta=job.plan.privacy.large_delta,
        )


def _delta(job: Job, given: Fraction | None) -> Fraction | None:
    """Returns the delta of the limit; None for a pure epsilon, where the plan can spend that."""
    spends_rho = any(isinstance(loss, ZCDPLoss) for loss in job.mechanism.losses)
    return job.plan.privacy.delta if given is None and spends_rho else given


def _limit(epsilon: Fraction, delta: Fraction | None) -> Loss:
    return PureLoss(epsilon) if delta is None else budget_limit_for(epsilon, delta)
