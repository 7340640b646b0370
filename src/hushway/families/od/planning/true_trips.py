"""All exact trips of a plan, for those who judge an OD release: for the steward's own eyes."""

from hushway.errors import PlanError
from hushway.families.od.job import TripRows
from hushway.families.od.planning.evaluation import every_trip
from hushway.families.od.public.cells import ODCells
from hushway.privacy.query import ExactCounts
from hushway.progress import Progress
from hushway.release.forecast.true_errors import exact_context
from hushway.release.job import Job


def exact_trips(job: Job, universe: ODCells, progress: Progress) -> ExactCounts:
    """Counts all trips of a plan by the cells of a release, as they are.

    Privacy:
        Nobody is bounded and no noise is drawn: for values that stay `Internal`.

    Raises:
        PlanError: The plan is not that of the release.
        DataError: Rows have problems that the plan refuses.
    """
    if not isinstance(job.rows, TripRows) or job.geography.digest != universe.digest:
        raise PlanError(
            "The plan does not count trips by the places and periods of the release.",
            advice="Give the plan that the release was published with, and its public files.",
        )
    return every_trip(job.rows, universe, exact_context(job, progress))
