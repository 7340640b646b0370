"""What to put into a density plan for a guessed crowd, and whether that is enough.

Everything follows from public files and the guess, so it costs nothing and may be printed anywhere.
"""

from typing import Literal

from hushway.families.density.job import prepare_density
from hushway.families.density.mechanism.terms import DensityMechanism
from hushway.families.density.plan import DensityPlan
from hushway.families.density.planning.forecast import (
    MOST_CELLS,
    forecast_density,
    invented_for,
    people_of,
    published_counts,
    share_off,
)
from hushway.families.density.public.visits import DensityUniverse
from hushway.progress import Progress
from hushway.release.forecast.advice import (
    Advice,
    Choice,
    activity,
    best_limits,
    enough_for_crowd,
    limits_up_to,
)
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.job import Job

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
