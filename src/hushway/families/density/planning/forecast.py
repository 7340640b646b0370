"""What a density will be wrong by for a crowd that one guesses, and what would do if too much.

The plan is tried on an invented crowd. Everything follows from public files and the guess, so it
costs nothing and may be printed anywhere.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Final, Literal

import numpy as np

from hushway.arrays import FloatArray
from hushway.errors import PlanError
from hushway.families.density.job import prepare_density
from hushway.families.density.mechanism.people import DensityPeople
from hushway.families.density.mechanism.recommended import Spends
from hushway.families.density.mechanism.terms import DensityMechanism
from hushway.families.density.plan import DensityPlan
from hushway.families.density.planning.trial import Invented, invented_crowd
from hushway.families.density.public.visits import DensityUniverse
from hushway.privacy.accounting import rho_for
from hushway.privacy.calibration import loss_of_cuts
from hushway.privacy.loss import Loss, ZCDPLoss, loss_of
from hushway.privacy.query import Counter
from hushway.progress import Progress
from hushway.release.forecast.advice import (
    Advice,
    Choice,
    activity,
    best_limits,
    enough_for_crowd,
    limits_up_to,
)
from hushway.release.forecast.crowd import CrowdForecast, ExpectedError, ExpectedPopulation
from hushway.release.job import Job

MOST_CELLS: Final = 1 << 20
# A table is of use if its counts are off by less than this share of what an empty table is off by.
OF_USE: Final = 0.5

# Of several runs the middle one counts: luck may spoil one of them.
_RUNS: Final = 3
_FACTORS: Final = (2, 4, 10)
_LONGER_HOURS: Final = (3, 6, 12, 24)
_MORE_PEOPLE: Final = (3, 10, 30, 100)
_INVENTED: Final = (
    "Tried on an invented crowd of that number over your areas: a forecast, not a guarantee."
)


def forecast_density(job: Job, crowd: ExpectedPopulation) -> CrowdForecast:
    """Publishes visits of an invented crowd as the plan says, and says how far off it is.

    Privacy:
        Reads no row and spends nothing: the visits are invented, and so is the budget.

    Raises:
        PlanError: The guess is not that of a crowd, or says nothing of people.
    """
    universe, mechanism = job.geography, job.mechanism
    assert isinstance(universe, DensityUniverse)  # noqa: S101  what a density plan makes
    assert isinstance(mechanism, DensityMechanism)  # noqa: S101  what a density plan makes
    people = people_of(crowd)
    if universe.size > MOST_CELLS:
        note = f"No forecast is made for tables of more than {MOST_CELLS:,} counts."
        return CrowdForecast(crowd=crowd, errors=(), left_out=None, notes=(note,))
    visits = crowd.trips / people
    invented = invented_for(mechanism, universe, people, visits)
    found = published_counts(mechanism, invented)
    notes = [_INVENTED]
    off = share_off(invented.truth, found)
    if off > OF_USE:
        notes.append(
            "Too few people for this table at this budget: its counts would be off by "
            f"{off:.0%} of what an empty table is off by."
        )
        notes.append(_instead(job, mechanism, universe, people, visits))
    return CrowdForecast(
        crowd=crowd,
        errors=tuple(_errors(invented.truth, found)),
        left_out=1 - invented.counted,
        notes=tuple(notes),
    )


def people_of(crowd: ExpectedPopulation) -> int:
    """Returns how many people were guessed.

    Raises:
        PlanError: None were, or more than they have visits.
    """
    if crowd.people is None:
        raise PlanError(
            "The errors of a density depend on the people behind the visits.",
            advice="Give --people too: a public guess, never a count.",
        )
    if not 0 < crowd.people <= crowd.trips:
        raise PlanError(
            "A crowd has at least as many trips as people, and at least one of each.",
            advice="Give a guess of all visits in the window, and of the people who make them.",
        )
    return crowd.people


def invented_for(
    mechanism: DensityMechanism, universe: DensityUniverse, people: int, visits: float
) -> Invented:
    """Returns an invented crowd that a mechanism can ask about."""
    ladder = mechanism.ladder if isinstance(mechanism, DensityPeople) else None
    return invented_crowd(universe, mechanism.limits, people=people, visits=visits, ladder=ladder)


def published_counts(mechanism: DensityMechanism, invented: Invented) -> list[FloatArray]:
    """Returns the counts that a few runs would publish of an invented crowd."""
    city = invented.city
    return [
        mechanism.fit(city.measured(mechanism, seed), city.universe).counts for seed in range(_RUNS)
    ]


def share_off(truth: FloatArray, found: list[FloatArray]) -> float:
    """Returns the root of the mean squared error, over that of an empty table, of a usual run."""
    empty = float((truth**2).mean())
    ours = float(np.median([((counts - truth) ** 2).mean() for counts in found]))
    return float(np.sqrt(ours / empty)) if empty > 0 else 1.0


def _errors(truth: FloatArray, found: list[FloatArray]) -> Iterator[ExpectedError]:
    """Yields typical errors of counts, of areas over the window, and of bins over the city."""
    busy = truth >= np.quantile(truth, 0.9)
    looks: dict[str, Callable[[FloatArray], FloatArray]] = {
        "visits of an area in a period": lambda counts: counts.ravel(),
        "visits of an area in a period, the busiest tenth": lambda counts: counts[busy],
        "visits of an area over all periods": lambda counts: counts.sum(axis=1),
        "visits of all areas in a period": lambda counts: counts.sum(axis=0),
    }
    for figure, look in looks.items():
        true = look(truth)
        missed = np.median([np.abs(look(counts) - true).mean() for counts in found])
        yield ExpectedError(figure=figure, size=float(true.mean()), error=float(missed))


def _instead(
    job: Job, mechanism: DensityMechanism, universe: DensityUniverse, people: int, visits: float
) -> str:
    """Returns a sentence about what would do: longer bins, a larger budget, or more people."""

    def does(way: DensityMechanism, where: DensityUniverse, crowd: int) -> bool:
        invented = invented_for(way, where, crowd, visits)
        return share_off(invented.truth, published_counts(way, invented)) <= OF_USE

    options = []
    periods = universe.periods
    for hours in _LONGER_HOURS:
        minutes = 60 * hours
        if minutes > periods.minutes and (periods.closes - periods.opens) % minutes == 0:
            where = replace(universe, periods=replace(periods, minutes=minutes))
            if does(mechanism, where, people):
                options.append(f"periods of {hours} hours")
                break
    plan = job.plan
    assert isinstance(plan, DensityPlan)  # noqa: S101  what a density is planned by
    for factor in _FACTORS:
        if does(_richer(mechanism, plan, factor), universe, people):
            options.append(f"epsilon = {float(plan.privacy.epsilon * factor):g}")
            break
    for factor in _MORE_PEOPLE:
        if does(mechanism, universe, people * factor):
            options.append(f"about {people * factor:,} people")
            break
    if not options:
        return "Nothing that was tried would do: use fewer and larger areas, and longer periods."
    return f"What would do: {', or '.join(options)}; or fewer and larger areas."


def _richer(mechanism: DensityMechanism, plan: DensityPlan, factor: int) -> DensityMechanism:
    """Returns the same mechanism for a multiple of epsilon."""
    times = Fraction(factor)
    if isinstance(mechanism.losses[-1], ZCDPLoss) and plan.privacy.delta is not None:
        epsilon, delta = plan.privacy.epsilon, plan.privacy.delta
        times = rho_for(epsilon * factor, delta) / rho_for(epsilon, delta)

    def more(loss: Loss | None) -> Loss | None:
        return None if loss is None else loss_of(loss.measure, loss.amount * times)

    if isinstance(mechanism, DensityPeople):
        budget = mechanism.budget
        return replace(mechanism, budget=loss_of(budget.measure, budget.amount * times))
    spends = mechanism.spends
    return replace(
        mechanism,
        spends=Spends(
            series=loss_of(spends.series.measure, spends.series.amount * times),
            histogram=more(spends.histogram),
            activity=more(spends.activity),
            total=more(spends.total),
            left_out=more(spends.left_out),
            clusters=more(spends.clusters),
            cuts=None if spends.cuts is None else loss_of_cuts(spends.cuts.rho * times),
        ),
    )


def invented_density(job: Job, crowd: ExpectedPopulation) -> Counter:
    """Returns who counts invented visits of about that number, each person bounded as planned.

    Privacy:
        Reads no row: the visits follow from public areas and the guess.

    Raises:
        PlanError: The guess is not that of a crowd, says nothing of people, or takes too long.
    """
    universe, mechanism = job.geography, job.mechanism
    assert isinstance(universe, DensityUniverse)  # noqa: S101  what a density plan makes
    assert isinstance(mechanism, DensityMechanism)  # noqa: S101  what a density plan makes
    people = people_of(crowd)
    if universe.size > MOST_CELLS:
        raise PlanError(
            f"Tables of more than {MOST_CELLS:,} counts are not tried on invented visits.",
            advice="Use fewer areas or longer periods.",
        )
    visits = crowd.trips / people
    return invented_for(mechanism, universe, people, visits).city


_LIMIT = "max_visits"
# A guess of the crowd is never so good that a limit for it is worth less of an error than this.
_AS_GOOD = 1.1


def recommend_density(
    job: Job, crowd: ExpectedPopulation, *, runs: int, progress: Progress
) -> Advice:
    """Tries contribution limits on an invented crowd.

    Privacy:
        Reads no row and spends nothing: the visits are invented, and so is the budget.

    Raises:
        PlanError: The guess is not that of a crowd, or says nothing of people.
    """
    del runs
    people_of(crowd)
    plan, universe = job.plan, job.geography
    assert isinstance(plan, DensityPlan)  # noqa: S101  what a density job is made from
    assert isinstance(universe, DensityUniverse)  # noqa: S101  what a density plan makes
    if universe.size > MOST_CELLS:
        expected = forecast_density(job, crowd)
        return Advice(measured="", tried=(), lines="", could_add=(), enough=expected.notes)
    busiest = min(activity(crowd)[-1], universe.bins)
    scores = best_limits(
        limits_up_to(busiest),
        lambda limit: _score(prepare_density(_limited(plan, limit), like=job), crowd),
        progress=progress,
    )
    best = min(scores, key=lambda limit: scores[limit])
    chosen, choices = _limited(plan, best), [_choice(limit, scores[limit]) for limit in scores]
    lines = f"[privacy]\n{_LIMIT} = {best}\n"
    if plan.privacy.visit_limit is None:
        choices.append(_choice("auto", _score(job, crowd)))
        if choices[-1].score <= scores[best] * _AS_GOOD:
            # Of a limit that is chosen in the release nobody has to guess anything.
            chosen, lines = plan, f'[privacy]\n{_LIMIT} = "auto"\n'
    progress("Asking whether that is enough")
    expected = forecast_density(prepare_density(chosen, like=job), crowd)
    return Advice(
        measured="How far counts are off on invented visits, as a share of what an empty table is "
        "off by (less is better)",
        tried=tuple(sorted(choices, key=lambda choice: choice.score)),
        lines=lines,
        could_add=(),
        enough=(*enough_for_crowd(expected, job.wording.counted), *expected.notes[1:]),
    )


def _limited(plan: DensityPlan, limit: int) -> DensityPlan:
    privacy = plan.privacy.model_copy(update={_LIMIT: limit})
    return plan.model_copy(update={"privacy": privacy})


def _score(job: Job, crowd: ExpectedPopulation) -> float:
    universe, mechanism = job.geography, job.mechanism
    assert isinstance(universe, DensityUniverse)  # noqa: S101  what a density plan makes
    assert isinstance(mechanism, DensityMechanism)  # noqa: S101  what a density plan makes
    people = people_of(crowd)
    invented = invented_for(mechanism, universe, people, crowd.trips / people)
    return share_off(invented.truth, published_counts(mechanism, invented))


def _choice(limit: int | Literal["auto"], score: float) -> Choice:
    return Choice(options={_LIMIT: limit}, score=score, details={})
