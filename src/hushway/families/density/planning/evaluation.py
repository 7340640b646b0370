"""A density beside the exact visits, for the steward's own eyes."""

from pathlib import Path

import numpy as np

from hushway.arrays import FloatArray
from hushway.engine.opening import open_session
from hushway.families.density.files.published import PARQUET
from hushway.families.density.files.rows import read_density_parquet
from hushway.families.density.job import EventRows
from hushway.families.density.planning.trial import area_truth
from hushway.families.density.public.visits import DensityUniverse
from hushway.families.density.rows.counter import EveryVisit
from hushway.families.density.rows.rows import refuse_other_columns, visits_read
from hushway.privacy.measured import Internal
from hushway.release.forecast.true_errors import TrueErrors, grid_errors
from hushway.release.job import CountingContext, Job


def true_errors(release: Path, job: Job, context: CountingContext) -> Internal[TrueErrors]:
    """Compares a density with all visits of its plan, shared among areas as its visits are.

    Privacy:
        Reads all exact visits: what it returns carries no guarantee.
    """
    rows, universe = job.rows, job.geography
    assert isinstance(rows, EventRows)  # noqa: S101  what a density plan makes
    assert isinstance(universe, DensityUniverse)  # noqa: S101  likewise
    true = every_visit(rows, universe, context)
    counts, _ = read_density_parquet(release / PARQUET, universe)
    return Internal(grid_errors(job.wording.counted, "an area", counts.reshape(true.shape), true))


def every_visit(rows: EventRows, universe: DensityUniverse, context: CountingContext) -> FloatArray:
    """Returns all visits by (area, period), nobody cut down.

    Privacy:
        Exact: for values that stay `Internal`.
    """
    refuse_other_columns(rows.source, universe)
    with open_session(context.settings) as session:
        reading = visits_read(session, rows.source, universe)
        found = session.count(reading, EveryVisit(universe=universe), context.progress)
    visits = np.zeros(universe.bins * universe.site_count, dtype=np.int64)
    visits[found.cells] = found.values
    by_site = visits.reshape(universe.bins, universe.site_count).T
    return area_truth(universe, by_site)
