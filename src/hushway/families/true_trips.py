"""All exact trips of a plan, for those who judge an OD release: for the steward's own eyes."""

from pathlib import Path

from hushway.errors import PlanError
from hushway.families.load import load_plan, prepare
from hushway.families.od.job import TripRows
from hushway.families.od.public.cells import ODCells
from hushway.families.od.study.exact import every_trip
from hushway.families.true_errors import exact_context
from hushway.privacy.query import ExactCounts
from hushway.progress import Progress


def exact_trips(path: Path, universe: ODCells, progress: Progress) -> ExactCounts:
    """Counts all trips of a plan by the cells of a release, as they are.

    Privacy:
        Nobody is bounded and no noise is drawn: for values that stay `Internal`.

    Raises:
        PlanError: The plan is not that of the release.
        DataError: Rows have problems that the plan refuses.
    """
    job = prepare(load_plan(path))
    if not isinstance(job.rows, TripRows) or job.geography.digest != universe.digest:
        raise PlanError(
            "The plan does not count trips by the places and periods of the release.",
            advice="Give the plan that the release was published with, and its public files.",
        )
    return every_trip(job.rows, universe, exact_context(job, progress))
