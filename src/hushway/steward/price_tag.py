"""What a release would cost and how good it would be; neither rows nor budget are touched."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from hushway.errors import BudgetError, PlanError, PrivacyError
from hushway.families.registry import family_named
from hushway.privacy.ledger import Account, Ledger
from hushway.privacy.ledger.span import Span
from hushway.privacy.loss import Loss, cost_on, total
from hushway.progress import Progress, quiet
from hushway.release.forecast.crowd import CrowdForecast, ExpectedPopulation
from hushway.release.job import Job
from hushway.release.mechanism import Forecast
from hushway.release.wording import plural
from hushway.steward.worth import Worth, worth_of
from hushway.steward.year import LONGER, Year


@dataclass(frozen=True, kw_only=True)
class SeriesPrice:
    """What a step of a series costs beside the budget of its span.

    Attributes:
        span: The span.
        limit: The most that releases of any span may cost together.
        charge: What this release takes of it, in its currency; None if it cannot pay.
        longer: How many steps longer sums have, such as a year.
    """

    span: Span
    limit: Loss
    charge: Fraction | None
    longer: Mapping[str, int]

    @property
    def releases(self) -> int:
        """How many releases of this price any span pays for."""
        return 0 if self.charge is None else int(self.limit.amount / self.charge)

    @property
    def sentence(self) -> str:
        """How far the budget of a span goes, in words."""
        if self.charge is None:
            return f"The budget of {self.span} is in a currency that cannot pay for this release."
        said = f"The budget of {self.span} pays for {plural(self.releases, 'such release')}"
        steps = self.span.steps
        if self.releases >= steps:
            return f"{said}."
        return f"{said}, not for {steps}: each of {steps} may take 1/{steps} of it at most."


@dataclass(frozen=True, kw_only=True)
class Price:
    """The price tag of a release.

    Attributes:
        job: What would be published.
        loss: What it would cost.
        account: The account that would spend, or None if it is not open yet.
        charge: What it would take out of that account, in its currency; None if it cannot spend.
        affordable: Whether the account has that much left.
        obstacle: Why the account could not spend on these days, if another one holds some of them.
        forecasts: Typical noise of a cell and of sums, as they are measured.
        expected: Typical errors of what is published, if a crowd was guessed.
        worth: What would be known of it.
        noise: Which noise is better and why, if the plan names a delta and features.
        series: How far the budget of a span goes, if the plan is a series.
        year: What a year of it would tell, if a crowd was guessed too.
    """

    job: Job
    loss: Loss
    account: Account | None
    charge: Fraction | None
    affordable: bool
    obstacle: str | None
    forecasts: tuple[Forecast, ...]
    expected: CrowdForecast | None
    worth: Worth
    noise: str | None
    series: SeriesPrice | None
    year: Year | None = None


def price_tag(
    job: Job, *, crowd: ExpectedPopulation | None = None, progress: Progress = quiet
) -> Price:
    """Returns the price tag of a release; with a guessed crowd, also errors of what is published.

    Raises:
        PlanError: The family can foresee nothing, or the guess makes no sense.
    """
    expected = None
    if crowd is not None and (can_be_foreseen(job) or not can_be_invented(job)):
        expected = expected_errors(job, crowd)
    loss = total(job.mechanism.losses)
    account, obstacle = _account(job)
    charge = None if account is None else _charge(account.budget_limit, job.mechanism.losses)
    return Price(
        job=job,
        loss=loss,
        account=account,
        charge=charge,
        affordable=account is not None
        and obstacle is None
        and charge is not None
        and charge <= account.remaining,
        obstacle=obstacle,
        forecasts=job.mechanism.forecast(job.geography, job.bound),
        expected=expected,
        worth=worth_of(job, crowd, progress=progress),
        noise=job.wording.noise,
        series=_series(job),
    )


def _series(job: Job) -> SeriesPrice | None:
    plan, limit = job.plan.series, job.plan.span_limit
    if plan is None or limit is None:
        return None
    charge = _charge(limit, job.mechanism.losses)
    return SeriesPrice(span=plan.span, limit=limit, charge=charge, longer=LONGER[plan.step])


def crowd_of(trips: int | None, people: int | None) -> ExpectedPopulation | None:
    """Returns a public guess of the crowd; None if nobody made one.

    Raises:
        PlanError: People were guessed, and trips were not.
    """
    if trips is not None:
        return ExpectedPopulation(trips=trips, people=people)
    if people is not None:
        raise PlanError(
            "A guess of people alone says nothing about trips.", advice="Give --trips too."
        )
    return None


def can_be_foreseen(job: Job) -> bool:
    """Whether errors of what a job publishes can be foreseen from a guess of the crowd."""
    return family_named(job.plan.release_type).crowd_forecast is not None


def can_be_invented(job: Job) -> bool:
    """Whether a job can be tried on invented rows."""
    return family_named(job.plan.release_type).invented_rows is not None


def expected_errors(job: Job, crowd: ExpectedPopulation) -> CrowdForecast:
    """Foresees errors of what a job publishes from a public guess of the crowd.

    Raises:
        PlanError: The family cannot foresee errors, or the guess makes no sense.
    """
    foresee = family_named(job.plan.release_type).crowd_forecast
    if foresee is None:
        raise PlanError(
            f"Errors of the release type {job.plan.release_type} cannot be foreseen from a guess "
            "of the crowd.",
            advice="Leave the guess out: then the noise is forecast.",
        )
    return foresee(job, crowd)


def _charge(limit: Loss, losses: Sequence[Loss]) -> Fraction | None:
    try:
        return cost_on(losses, limit.measure)
    except PrivacyError:
        return None


def _account(job: Job) -> tuple[Account | None, str | None]:
    """Returns the account that would spend, and what is in its way."""
    url = job.plan.ledger_url()
    if isinstance(url, Path) and not os.path.exists(url):  # noqa: PTH110  has an answer to any name
        return None, None
    with Ledger.connect(url) as ledger:
        obstacle = ledger.obstacle(job.account, job.window)
        try:
            return ledger.account(job.account, job.window), obstacle
        except BudgetError:
            return None, obstacle
