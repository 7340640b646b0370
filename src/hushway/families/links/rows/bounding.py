"""Which items of a person count: one rule on arrays, shared by all counters of movements.

An item is a link that a person was on in a period, or a node at which a trip of the person began or
ended in a period, however often.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.engine.key import BoundingKey
from hushway.errors import DataError, PrivacyError
from hushway.families.links.public.universe import (
    LinkUniverse,
    MovementCells,
    MovementLimits,
    MovementQueryCells,
    SpeedSums,
)
from hushway.families.links.rows.kernel import add_people_items
from hushway.privacy.bound import Bound
from hushway.privacy.query import ExactCounts, Query

# A gigabyte of counts.
_MOST_CELLS = 1 << 27


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PeopleItems:
    """Items of some people, all of each, together by person.

    Attributes:
        start: Where each person's items begin; one entry more than people.
        code: period * items + item, in any order, with repetitions.
        when: When each was entered, in seconds; infinite if it tells nothing about speeds.
        steps: Steps of its speed from the usual one.
        salt: A number made of each person's own id alone.
    """

    start: IntArray
    code: IntArray
    when: FloatArray
    steps: IntArray
    salt: IntArray


def refuse_too_many_cells(universe: LinkUniverse) -> None:
    """Refuses a universe whose movements cannot be counted in memory.

    Raises:
        DataError: There are too many links, nodes and periods.
    """
    if universe.items * len(universe.periods) > _MOST_CELLS:
        raise DataError(
            f"There are more than {_MOST_CELLS:,} pairs of a period and a link or node.",
            advice="Choose a shorter window, longer periods or a smaller network.",
        )


class BoundedMovements:
    """What was counted, exactly. Private: for a counter's answers to a curator only.

    Args:
        universe: The public roads, periods and zones.
        limits: How much of one person counts.
        key: Decides which items stay.

    Attributes:
        counts: Persons by cell of `MovementCells`.
        sums: Steps by cell of `SpeedSums`.
    """

    def __init__(self, universe: LinkUniverse, limits: MovementLimits, key: BoundingKey) -> None:
        self._universe = universe
        self._limits = limits
        self._key = np.array(key.coefficients, dtype=np.int64)
        self.counts = np.zeros(universe.items * len(universe.periods), dtype=np.int64)
        self.sums = np.zeros(universe.size, dtype=np.int64)

    def add(self, people: PeopleItems) -> None:
        """Adds people who have not been added before.

        Privacy:
            Each person adds one to at most `max_items` counts and at most `speed_steps` to the sums
            of the same links. What is kept of a person depends on that person's items and salt and
            on the key.
        """
        # More than 64 bits would not pass, and more than all cells changes nothing.
        most = min(self._limits.max_items, len(self.counts))
        add_people_items(
            people.start,
            people.code,
            people.when,
            people.steps,
            people.salt,
            self._universe.items,
            self._universe.roads.links,
            most,
            self._limits.speed_steps,
            self._key,
            self.counts,
            self.sums,
        )


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
