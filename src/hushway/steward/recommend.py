"""What to put into a plan for a guessed crowd."""

from typing import TYPE_CHECKING

from hushway.families.registry import family_named
from hushway.progress import Progress, quiet
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.job import Job

if TYPE_CHECKING:
    from hushway.release.forecast.advice import Advice


def recommend(
    job: Job, *, trips: int, people: int, runs: int = 1, progress: Progress = quiet
) -> "Advice":
    """Says what to put into a plan for a guessed crowd, and whether the data are enough.

    Privacy:
        Reads the plan and public files; neither rows nor budget are touched. The answer is as
        public as the two guesses: a number that was counted from rows is not.

    Args:
        job: The prepared plan.
        trips: A public guess of what is counted: trips, records, visits or links travelled.
        people: A public guess of the people behind it.
        runs: How often each choice is tried.
        progress: Told in a few words what is being done.

    Raises:
        PlanError: The guesses make no sense.

    Example:
        >>> job = hushway.prepare(hushway.load_plan("plan.toml"))
        >>> advice = hushway.recommend(job, trips=5_000, people=2_000)
        >>> advice.lines.splitlines()[0]
        '[privacy]'
        >>> advice.enough[0]
        '...'
    """
    crowd = ExpectedPopulation(trips=trips, people=people)
    family = family_named(job.plan.release_type)
    return family.recommend(job, crowd, runs=runs, progress=progress)
