"""The verb `recommend`: what to put into a plan for a guessed crowd."""

from collections.abc import Mapping
from dataclasses import dataclass

from hushway.errors import PlanError
from hushway.families.registry import family_named
from hushway.progress import Progress, quiet
from hushway.release.forecast.advice import Advice
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.steward.jobs import PlanLike, job_of


@dataclass(frozen=True, kw_only=True)
class Recommendation(Advice):
    """What is recommended for a plan and a guessed crowd.

    Attributes:
        release_type: The release type of the plan.
        guess: What was guessed, by name: trips, records, visits or links travelled, and people.
    """

    release_type: str
    guess: Mapping[str, int]


def recommend(
    plan: PlanLike, *, trips: int, people: int, runs: int = 1, progress: Progress = quiet
) -> Recommendation:
    """Says what to put into a plan for a guessed crowd, and whether the data are enough.

    Privacy:
        Reads the plan and public files; neither rows nor budget are touched. The answer is as
        public as the two guesses: a number that was counted from rows is not.

    Args:
        plan: A plan's file, a plan, or a prepared job.
        trips: A public guess of what is counted: trips, records, visits or links travelled.
        people: A public guess of the people behind it.
        runs: How often each choice is tried.
        progress: Told in a few words what is being done.

    Raises:
        PlanError: The guesses make no sense.

    Example:
        >>> advice = hushway.recommend("plan.toml", trips=5_000, people=2_000)
        >>> advice.lines.splitlines()[0]
        '[privacy]'
        >>> advice.enough[0]
        '...'
    """
    if people > trips:
        raise PlanError(
            "The guess has more people than they have trips between them.",
            advice="Give at least one for each of the people.",
        )
    job = job_of(plan)
    family = family_named(job.plan.release_type)
    crowd = ExpectedPopulation(trips=trips, people=people)
    advice = family.recommend(job, crowd, runs=runs, progress=progress)
    guess = {family.guessed: trips, "people": people}
    return Recommendation(**vars(advice), release_type=family.name, guess=guess)
