"""What a year of a series would tell, for the budget of its span: foretold from public guesses."""

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, get_args

from hushway.errors import HushwayError
from hushway.families.load import prepare
from hushway.families.registry import family_named
from hushway.privacy.accounting import epsilon_of_rho
from hushway.privacy.ledger.span import Span, Step
from hushway.privacy.loss import Measure, ZCDPLoss, cost_on
from hushway.progress import Progress, quiet
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.forecast.series import SeriesForecast
from hushway.release.job import Job
from hushway.release.plans.sections import AnyPlan, SeriesPlan
from hushway.steward.worth import ENOUGH, worth_of

# What steps add up to.
LONGER: Final[Mapping[Step, Mapping[str, int]]] = {
    "day": {"week": 7, "year": 365},
    "week": {"year": 52},
    "month": {"quarter": 3, "year": 12},
    "quarter": {"year": 4},
}
_DIGITS: Final = 4


@dataclass(frozen=True, kw_only=True)
class Length:
    """Steps of one length, each with its equal share of the budget of a span.

    Attributes:
        sure: The share of what is counted in a step that stands in sure cells; None if that could
            not be tried.
    """

    step: Step
    epsilon: Fraction
    sure: float | None

    @property
    def is_enough(self) -> bool:
        """Whether enough would be known of one step."""
        return self.sure is not None and self.sure >= ENOUGH


@dataclass(frozen=True, kw_only=True)
class Year:
    """What a year of a series would tell.

    Attributes:
        share: What one step takes, as an epsilon: its equal share of the budget of a span.
        forecast: Errors of a step and of longer sums; None if the release type foresees none.
        lengths: Steps of every length, the shortest first.
    """

    span: Span
    share: Fraction
    forecast: SeriesForecast | None
    lengths: tuple[Length, ...]

    @property
    def sentences(self) -> Iterator[str]:
        """Which step length the data support, and what that assumes."""
        listed = ", ".join(
            f"{one.step} " + ("not tried" if one.sure is None else f"{one.sure:.0%}")
            for one in self.lengths
        )
        enough = next((one.step for one in self.lengths if one.is_enough), None)
        yield (
            "Step lengths, for the same budget shared equally and as many trips a day by no more "
            f"people; share in sure cells of a step by itself: {listed}. "
            + (
                f"A {enough} is the shortest step that these guesses support."
                if enough
                else f"None has {ENOUGH:.0%}: coarser places or periods, or a larger budget, would."
            )
        )


def year_of(
    job: Job, crowd: ExpectedPopulation | None, *, progress: Progress = quiet
) -> Year | None:
    """Foretells a year of a series for a guessed crowd of one step; None if it is no series.

    Privacy:
        Reads no row and spends nothing. What it says is as public as the guess.

    Raises:
        PlanError: The guess is not that of a city.
    """
    series = job.plan.series
    if series is None or crowd is None:
        return None
    shared = _sharing(job, series.steps_per_span)
    family = family_named(job.plan.release_type)
    foresee = family.series_forecast
    lengths = {series.step: 1, **LONGER[series.step]}
    return Year(
        span=series.span,
        share=shared.privacy.epsilon,
        forecast=None
        if foresee is None
        else foresee(family.replan(job, shared), crowd, lengths, progress=progress),
        lengths=tuple(_lengths(job, series, crowd, progress)),
    )


def _lengths(
    job: Job, series: SeriesPlan, crowd: ExpectedPopulation, progress: Progress
) -> Iterator[Length]:
    for step in get_args(Step):
        progress(f"Trying steps of a {step}")
        ratio = Fraction(LONGER[step]["year"], LONGER[series.step]["year"])
        steps = max(round(series.steps_per_span * ratio), 1)
        plan, trips = _sharing(job, steps), max(round(crowd.trips / ratio), 1)
        people = None if crowd.people is None else min(crowd.people, trips)
        sure = None
        # Calendars of few days may lack kinds of days that a plan asks for.
        with suppress(HushwayError):
            tried = prepare(_in_step(plan, step))
            some = ExpectedPopulation(trips=trips, people=people)
            known = worth_of(tried, some, progress=progress).known
            sure = None if known is None else known.sure
        yield Length(step=step, epsilon=plan.privacy.epsilon, sure=sure)


def _in_step(plan: AnyPlan, step: Step) -> AnyPlan:
    """Returns a plan for the step of another length that its first day lies in."""
    time: Any = getattr(plan, "time", None)
    if time is None:
        return plan
    span = Span(step=step, steps=1)
    first, last = span.days(span.name(time.first_day))
    days = time.model_copy(update={"first_day": first, "last_day": last})
    return plan.model_copy(update={"time": days})


def _sharing(job: Job, steps: int) -> AnyPlan:
    """Returns a plan that takes an equal share of the budget of a span of so many steps."""
    plan, limit = job.plan, job.plan.span_limit
    assert limit is not None  # noqa: S101  the plan is a series
    privacy, losses = plan.privacy, job.mechanism.losses
    share = limit.amount / steps
    if limit.measure is Measure.ZCDP and any(isinstance(loss, ZCDPLoss) for loss in losses):
        assert privacy.delta is not None  # noqa: S101  such a limit has one
        epsilon = Fraction(epsilon_of_rho(share, privacy.delta))
    else:
        part = float(share / cost_on(losses, limit.measure))
        # A pure loss costs a rho that grows with its square.
        squared = limit.measure is Measure.ZCDP
        epsilon = privacy.epsilon * Fraction(math.sqrt(part) if squared else part)
    few = Fraction(f"{float(epsilon):.{_DIGITS}g}")
    return plan.model_copy(update={"privacy": privacy.model_copy(update={"epsilon": few})})
