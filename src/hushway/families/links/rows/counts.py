"""Answers of all counters of movements: from bounded movements to the cells of a query."""

import numpy as np

from hushway.errors import PrivacyError
from hushway.families.links.public.universe import (
    LinkUniverse,
    MovementCells,
    MovementLimits,
    MovementQueryCells,
    SpeedSums,
)
from hushway.families.links.rows.bounding import BoundedMovements
from hushway.privacy.bound import Bound
from hushway.privacy.query import ExactCounts, Query


def refuse_other_movements(query: Query, universe: LinkUniverse) -> MovementQueryCells:
    """Returns the query's cells.

    Raises:
        PrivacyError: They are no movements, or movements of another universe.
    """
    cells = query.cells
    if not isinstance(cells, MovementCells | SpeedSums) or (
        cells.universe is not universe and cells.universe.digest != universe.digest
    ):
        raise PrivacyError(
            "This engine counts other cells than the query asks for.",
            advice="Ask for movements of the universe that the engine was made with.",
        )
    return cells


def movement_bound(cells: MovementQueryCells, limits: MovementLimits) -> Bound:
    """Returns how far one person can move an answer, if items are cut down to the limits."""
    return Bound(**cells.reach(limits)._asdict())


def movement_counts(found: BoundedMovements, cells: MovementQueryCells) -> ExactCounts:
    """Returns the exact count, or sum, of each cell where it is not 0."""
    values = found.counts if isinstance(cells, MovementCells) else found.sums
    occupied = np.flatnonzero(values)
    return ExactCounts(cells=occupied, values=values[occupied])
