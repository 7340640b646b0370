"""Counts of links beside the exact ones, for the steward's own eyes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from hushway.arrays import FloatArray
from hushway.families.links.files.rows import PARQUET, read_links_parquet
from hushway.families.links.job import TraceRows
from hushway.families.links.public.universe import LinkUniverse, MovementCells, MovementLimits
from hushway.families.links.rows.noisy import NoEnds
from hushway.privacy.measured import Internal
from hushway.privacy.query import Query
from hushway.release.forecast.true_errors import TrueErrors, grid_errors
from hushway.release.job import CountingContext, Job


def true_errors(release: Path, job: Job, context: CountingContext) -> Internal[TrueErrors]:
    """Compares counts of links with all people on them, as their traces are matched to roads.

    Privacy:
        Reads all exact traces: what it returns carries no guarantee.
    """
    rows, universe = job.rows, job.geography
    assert isinstance(rows, TraceRows)  # noqa: S101  what a links plan makes
    assert isinstance(universe, LinkUniverse)  # noqa: S101  likewise
    return Internal(
        grid_errors(
            job.wording.counted,
            "a link",
            _published(release, universe),
            # Ends stay as they are.
            everybody(replace(rows, ends=NoEnds()), universe, context),
        )
    )


def _published(release: Path, universe: LinkUniverse) -> FloatArray:
    """Returns the published counts by (link, period), with 0 for those that do not show."""
    speeds = "speed" in pq.read_schema(release / PARQUET).names
    shown = read_links_parquet(release / PARQUET, universe, speeds=speeds)
    counts = np.zeros((universe.roads.links, len(universe.periods)))
    counts[shown.link, shown.period] = shown.counts
    return counts


def everybody(rows: TraceRows, universe: LinkUniverse, context: CountingContext) -> FloatArray:
    """Returns how many people were on each (link, period), nobody cut down."""
    cells = MovementCells(universe=universe)
    # Nobody has more distinct items than there are.
    limits = MovementLimits(max_items=cells.size, left_out=False)
    counter = replace(rows, limits=limits).counter(context)
    exact = counter.count(Query(name=cells.name, cells=cells))
    period, item = np.divmod(exact.cells, universe.items)
    on_link = item < universe.roads.links
    counts = np.zeros((universe.roads.links, len(universe.periods)))
    counts[item[on_link], period[on_link]] = exact.values[on_link]
    return counts
