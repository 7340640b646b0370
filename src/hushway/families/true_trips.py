"""What a published OD table is off by, against the exact trips: for the steward's own eyes."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hushway.engine.key import BoundingKey
from hushway.errors import PlanError
from hushway.families.load import load_plan, prepare
from hushway.families.od.job import TripRows
from hushway.families.od.mechanism.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.families.od.study.forecast import figures
from hushway.families.od.study.scene import od_errors
from hushway.families.published_trips import read_od_table
from hushway.privacy.bound import Unit
from hushway.privacy.measured import Internal
from hushway.privacy.query import ExactCounts, Query
from hushway.privacy.randomness import os_source
from hushway.progress import Progress
from hushway.release.job import CountingContext, settings_of
from hushway.tables.check import refuse_problems

_COUNTING = "Counting the exact trips"


@dataclass(frozen=True, kw_only=True)
class TrueErrors:
    """How far a release is from the truth, in trips.

    Attributes:
        total: All trips as published, and as they are.
        misplaced: The sum of absolute errors over all cells, as a share of all trips.
        busy_cells: The mean absolute error of cells that hold a trip.
        figures: The mean absolute error of sums that readers look up, by their names.
    """

    total: tuple[float, float]
    misplaced: float
    busy_cells: float
    figures: dict[str, float]


def true_errors(release: Path, plan: Path, *, progress: Progress) -> Internal[TrueErrors]:
    """Compares an OD release with all trips of its plan.

    Privacy:
        Reads all exact trips: what it returns carries no guarantee and is refused by every writer
        of releases. It spends nothing, because nothing of it may be published.

    Args:
        release: The release folder.
        plan: The plan that it was published with.
        progress: Told what is being done.

    Raises:
        ReleaseError: There is no release, it does not verify, or it is of another type.
        PlanError: The plan is not that of the release.
    """
    published = read_od_table(release)
    universe = published.universe
    truth = exact_trips(plan, universe, progress)
    # Errors are measured here, so those that the release states are of no use.
    unknown = np.zeros(len(published.cells))
    table = ODTable(
        universe=universe,
        cells=published.cells,
        counts=published.counts,
        standard_errors=unknown,
        threshold=None,
    )
    found = od_errors(truth, table, figures(universe, ())).value
    return Internal(
        TrueErrors(
            total=(found.total, float(truth.values.sum())),
            misplaced=found.cells_l1_share,
            busy_cells=found.busy_cells_mae,
            figures=found.margins_mae,
        )
    )


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
    settings = settings_of(job.plan)
    progress(f"Checking the {job.wording.rows}")
    refuse_problems(job.rows.check(settings, notes=False).everything)
    progress(_COUNTING)
    source = os_source()
    context = CountingContext(
        key=BoundingKey.draw(source),
        bits=source,
        settings=settings,
        progress=lambda share: progress(_COUNTING, share),
    )
    # Protecting single trips bounds nobody: every trip is counted.
    everything = replace(job.rows, unit=Unit.TRIP).counter(context)
    return everything.count(Query(name=universe.name, cells=universe))
