"""An OD release beside the exact trips, for the steward's own eyes."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from hushway.errors import PlanError
from hushway.families.od.files.names import PARQUET
from hushway.families.od.files.rows import read_parquet
from hushway.families.od.fit.table import ODTable
from hushway.families.od.job import TripRows
from hushway.families.od.planning.forecast import figures
from hushway.families.od.planning.trial import od_errors
from hushway.families.od.public.cells import ODCells
from hushway.privacy.bound import Unit
from hushway.privacy.measured import Internal
from hushway.privacy.query import ExactCounts, Query
from hushway.progress import Progress
from hushway.release.forecast.true_errors import TrueErrors, exact_context
from hushway.release.job import CountingContext, Job


def every_trip(rows: TripRows, cells: ODCells, context: CountingContext) -> ExactCounts:
    """Counts all trips by cell, as they are.

    Privacy:
        Nobody is bounded and no noise is drawn: for values that stay `Internal`.
    """
    # Protecting single trips bounds nobody: every trip is counted.
    everything = replace(rows, unit=Unit.TRIP).counter(context)
    return everything.count(Query(name=cells.name, cells=cells))


def true_errors(release: Path, job: Job, context: CountingContext) -> Internal[TrueErrors]:
    """Compares an OD release with all trips of its plan.

    Privacy:
        Reads all exact trips: what it returns carries no guarantee.
    """
    rows, cells = job.rows, job.geography
    assert isinstance(rows, TripRows)  # noqa: S101  what an OD plan makes
    assert isinstance(cells, ODCells)  # noqa: S101  likewise
    truth = every_trip(rows, cells, context)
    found = od_errors(truth, _published(release, cells), figures(cells, ())).value
    busy = f"a cell that holds {job.wording.counted}"
    return Internal(
        TrueErrors(
            counted=job.wording.counted,
            total=(found.total, float(truth.values.sum())),
            misplaced=found.cells_l1_share,
            figures={busy: found.busy_cells_mae, **found.margins_mae},
        )
    )


def _published(release: Path, cells: ODCells) -> ODTable:
    parts = list(read_parquet(release / PARQUET, cells))
    none = np.zeros(0, dtype=np.int64)
    numbers = np.concatenate([none, *(part.cells for part in parts)])
    return ODTable(
        universe=cells,
        cells=numbers,
        counts=np.concatenate([none, *(part.counts for part in parts)]),
        # Errors are measured here, so those that the release states are of no use.
        standard_errors=np.zeros(len(numbers)),
        threshold=None,
    )


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
