"""What a release would be off by at several budgets, without touching rows or ledger."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hushway.errors import PlanError
from hushway.families.registry import family_named
from hushway.progress import Progress, quiet
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.job import Job
from hushway.steward.price_tag import expected_errors


@dataclass(frozen=True, kw_only=True)
class FigureError:
    """What one figure is off by at one budget.

    Attributes:
        figure: What the figure is, such as "an origin's total".
        error: The mean absolute error if a crowd was guessed, else one standard deviation of noise.
        size: How large such figures are; None if nothing is known about that.
    """

    figure: str
    error: float
    size: float | None

    @property
    def share(self) -> float | None:
        """The error as a share of the size, if that is known and not 0."""
        return self.error / self.size if self.size else None


@dataclass(frozen=True, kw_only=True)
class PriceCurve:
    """Errors by budget.

    Attributes:
        points: What every figure is off by at each epsilon, in the order that was asked for.
        counted: What is counted, such as "trips".
        foreseen: Whether errors of what is published were foreseen, not only noise.
        notes: What a reader must know, as sentences.
        delta: The delta that the epsilons hold at; None if they hold without.
    """

    points: dict[Fraction, tuple[FigureError, ...]]
    counted: str
    foreseen: bool
    notes: tuple[str, ...]
    delta: Fraction | None = None

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures, in their order; each that any budget has."""
        return tuple(dict.fromkeys(one.figure for point in self.points.values() for one in point))

    def at(self, epsilon: Fraction, figure: str) -> FigureError | None:
        """Returns what a figure is off by at a budget; None if it is not there at that budget."""
        return next((one for one in self.points[epsilon] if one.figure == figure), None)


def price_curve(
    job: Job,
    epsilons: Sequence[Fraction],
    *,
    crowd: ExpectedPopulation | None = None,
    progress: Progress = quiet,
    tell: Callable[[Fraction, tuple[FigureError, ...]], None] | None = None,
) -> PriceCurve:
    """Forecasts errors at several budgets.

    Privacy:
        Reads the plan and public files; neither rows nor budget are touched. What is foreseen for a
        crowd is as public as the guess.

    Args:
        job: What would be published.
        epsilons: The budgets.
        crowd: A public guess of how many there are; without one, noise is forecast.
        progress: Told which budget is tried.
        tell: Told the errors at each budget, as soon as they are known.

    Raises:
        PlanError: No budget is named, errors cannot be foreseen, or the guess makes no sense.
    """
    if not epsilons:
        raise PlanError("A curve needs a budget.", advice="Give one at least: --epsilon 0.5,1,2")
    points: dict[Fraction, tuple[FigureError, ...]] = {}
    notes: tuple[str, ...] = ()
    for done, epsilon in enumerate(epsilons):
        progress(f"Trying ε {float(epsilon):g}", done / len(epsilons))
        points[epsilon], notes = errors_at(job, epsilon, crowd)
        if tell is not None:
            tell(epsilon, points[epsilon])
    return PriceCurve(
        delta=job.plan.privacy.delta,
        points=points,
        counted=job.wording.counted,
        foreseen=crowd is not None,
        notes=notes,
    )


def errors_at(
    job: Job, epsilon: Fraction, crowd: ExpectedPopulation | None
) -> tuple[tuple[FigureError, ...], tuple[str, ...]]:
    """Returns what the figures of a job are off by at another budget, and what to know about it."""
    privacy = job.plan.privacy.model_copy(update={"epsilon": epsilon})
    plan = job.plan.model_copy(update={"privacy": privacy})
    tried = family_named(job.plan.release_type).replan(job, plan)
    if crowd is None:
        forecasts = tried.mechanism.forecast(tried.geography, tried.bound)
        return tuple(
            FigureError(figure=one.figure, error=one.standard_error, size=None) for one in forecasts
        ), ()
    expected = expected_errors(tried, crowd)
    errors = tuple(
        FigureError(figure=one.figure, error=one.error, size=one.size) for one in expected.errors
    )
    return errors, expected.notes
