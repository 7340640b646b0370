"""Invented trips in the place of a plan's rows: its release is tried on them."""

from hushway.errors import PlanError
from hushway.families.od.planning.forecast import refused_size
from hushway.families.od.planning.stand_in import stand_in
from hushway.families.od.planning.trial import trips_scene
from hushway.families.od.public.cells import ODCells
from hushway.privacy.query import Counter
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.job import Job


def invented_od(job: Job, crowd: ExpectedPopulation) -> Counter:
    """Returns who counts invented trips of about that number, each unit bounded as planned.

    Privacy:
        Reads no row: the trips follow from public places and the guess.

    Raises:
        PlanError: The guess is not that of a city, or takes too long to try.
    """
    cells = job.geography
    assert isinstance(cells, ODCells)  # noqa: S101  what an OD plan makes
    if reason := refused_size(cells, crowd):
        raise PlanError(reason, advice="Try a smaller guess, fewer periods or coarser places.")
    people = crowd.trips if crowd.people is None else crowd.people
    trips = stand_in(cells, trips=crowd.trips, people=people)
    unit = job.plan.privacy.unit
    return trips_scene(cells, (), trips, unit=unit, max_trips=job.bound.total).counter
