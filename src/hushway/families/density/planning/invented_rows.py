"""An invented crowd in the place of a plan's rows: its release is tried on their visits."""

from hushway.errors import PlanError
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.planning.forecast import MOST_CELLS, people_of
from hushway.families.density.planning.invented import invented_crowd
from hushway.families.density.public.visits import DensityUniverse
from hushway.privacy.query import Counter
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.job import Job


def invented_density(job: Job, crowd: ExpectedPopulation) -> Counter:
    """Returns who counts invented visits of about that number, each person bounded as planned.

    Privacy:
        Reads no row: the visits follow from public areas and the guess.

    Raises:
        PlanError: The guess is not that of a crowd, says nothing of people, or takes too long.
    """
    universe, mechanism = job.geography, job.mechanism
    assert isinstance(universe, DensityUniverse)  # noqa: S101  what a density plan makes
    assert isinstance(mechanism, DensitySeries)  # noqa: S101  what a density plan makes
    people = people_of(crowd)
    if universe.size > MOST_CELLS:
        raise PlanError(
            f"Tables of more than {MOST_CELLS:,} counts are not tried on invented visits.",
            advice="Use fewer areas or longer periods.",
        )
    visits = crowd.trips / people
    return invented_crowd(universe, mechanism.limits, people=people, visits=visits).city
