"""Answers of all counters of visits: from bounded visits to the cells of a query."""

import numpy as np
from scipy.sparse import csr_array

from hushway.arrays import IntArray
from hushway.errors import DataError, PrivacyError
from hushway.families.density.public.cells import DensityUniverse
from hushway.families.density.public.visits import (
    ClusterSeries,
    ClusterTotals,
    SiteHistogram,
    VisitCells,
    VisitLimits,
    VisitTotal,
)
from hushway.families.density.rows.bounding import BoundedVisits
from hushway.privacy.bound import Bound
from hushway.privacy.query import ExactCounts, Query

# A gigabyte of counts for each thread.
_MOST_CELLS = 1 << 27


def refuse_other_visits(query: Query, universe: DensityUniverse) -> VisitCells:
    """Returns the query's cells.

    Raises:
        PrivacyError: They are no visits, or visits of another universe.
    """
    cells = query.cells
    if not isinstance(cells, VisitCells) or (
        cells.universe is not universe and cells.universe.digest != universe.digest
    ):
        raise PrivacyError(
            "This engine counts other cells than the query asks for.",
            advice="Ask for visits of the universe that the engine was made with.",
        )
    return cells


def refuse_too_many_cells(universe: DensityUniverse) -> None:
    """Refuses a universe whose visits cannot be counted in memory.

    Raises:
        DataError: There are too many sites and bins.
    """
    if universe.site_count * universe.bins > _MOST_CELLS:
        raise DataError(
            f"There are more than {_MOST_CELLS:,} pairs of a site and a bin.",
            advice="Choose a shorter window, longer bins or fewer sites.",
        )


def visit_bound(cells: VisitCells, limits: VisitLimits) -> Bound:
    """Returns how far one person can move an answer, if visits are cut down to the limits."""
    return Bound(**cells.reach(limits)._asdict())


def visit_counts(found: BoundedVisits, cells: VisitCells) -> ExactCounts:
    """Returns the exact count of each cell that is not empty."""
    match cells:
        case ClusterSeries():
            return _occupied((_shares(cells) @ found.series.T).ravel())
        case ClusterTotals():
            return _occupied(_shares(cells) @ found.series.sum(axis=0))
        case SiteHistogram():
            return _occupied(found.histogram)
        case VisitTotal():
            return _occupied(np.array([found.total], dtype=np.int64))


def _shares(cells: ClusterSeries | ClusterTotals) -> csr_array:
    cluster, site, parts = cells.parts
    shape = (int(cells.cluster.max()) + 1, cells.universe.site_count)
    return csr_array((parts, (cluster, site)), shape=shape, dtype=np.int64)


def _occupied(values: IntArray) -> ExactCounts:
    cells = np.flatnonzero(values)
    return ExactCounts(cells=cells, values=values[cells])
