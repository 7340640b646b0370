"""Bounded counts of movements in arrays: for audits, which count again and again, and studies."""

import numpy as np

from hushway.arrays import IntArray
from hushway.engine.key import BoundingKey
from hushway.errors import DataError, PrivacyError
from hushway.families.links.public.universe import LinkUniverse, MovementLimits, SpeedSums
from hushway.families.links.rows.bounding import (
    BoundedMovements,
    PeopleItems,
    movement_bound,
    movement_counts,
    refuse_other_movements,
    refuse_too_many_cells,
)
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import ExactCounts, Query

__all__ = ["ArrayMovements"]


class ArrayMovements:
    """Counts items given as arrays, each person bounded. A `hushway.privacy.query.Counter`.

    The same rule and the same arithmetic as for files: the same items and the same key give the
    same counts. Of rows with the same person, period and item the first tells the speed.

    Privacy:
        At most `max_items` distinct items count for each person; the choice reads that person's
        items, that person's code and the key alone.

    Args:
        universe: The public roads, periods and zones.
        limits: How much of one person counts.
        key: Decides which items are kept.
        person: Code of each row's person, a whole number of 64 bits.
        period: Index of its period.
        item: Its link; or links + node for a beginning; or links + nodes + node for an end.
        steps: Steps of its speed from the usual one; without them, speeds cannot be asked for.

    Raises:
        DataError: The arrays do not fit each other or the universe.
    """

    def __init__(
        self,
        *,
        universe: LinkUniverse,
        limits: MovementLimits,
        key: BoundingKey,
        person: IntArray,
        period: IntArray,
        item: IntArray,
        steps: IntArray | None = None,
    ) -> None:
        refuse_too_many_cells(universe)
        self._universe = universe
        self._limits = limits
        self._has_steps = steps is not None
        owner = _whole(person, len(np.asarray(person)))
        items = _below(item, len(owner), universe.items)
        code = _below(period, len(owner), len(universe.periods)) * universe.items + items
        speeds = np.zeros_like(owner) if steps is None else _whole(steps, len(owner))
        order = np.argsort(owner, kind="stable")
        salt, first = np.unique(owner[order], return_index=True)
        self._found = BoundedMovements(universe, limits, key)
        self._found.add(
            PeopleItems(
                start=np.append(first, len(owner)),
                code=code[order],
                when=order.astype(np.float64),
                steps=speeds[order],
                salt=salt,
            )
        )

    @property
    def unit(self) -> Unit:
        """Who is protected: a person."""
        return Unit.PERSON

    def bound(self, query: Query) -> Bound:
        """Returns the bound that `count` enforces for this query."""
        return movement_bound(refuse_other_movements(query, self._universe), self._limits)

    def count(self, query: Query) -> ExactCounts:
        """Returns the exact bounded counts.

        Raises:
            PrivacyError: The query asks for other cells, or for speeds that were not given.
        """
        cells = refuse_other_movements(query, self._universe)
        if isinstance(cells, SpeedSums) and not self._has_steps:
            raise PrivacyError(
                "This engine was given no speeds, and the query asks for them.",
                advice="Give the steps from the usual speeds.",
            )
        return movement_counts(self._found, cells)


def _below(column: IntArray, length: int, size: int) -> IntArray:
    values = _whole(column, length)
    if length and not 0 <= values.min() <= values.max() < size:
        raise DataError(
            "An item is not among the links and nodes, or not in a period.",
            advice="Give indexes of the universe's items and periods, from 0.",
        )
    return values


def _whole(column: IntArray, length: int) -> IntArray:
    values = np.asarray(column)
    if values.shape != (length,) or values.dtype.kind not in "iu" or values.dtype == np.uint64:
        raise DataError(
            "The arrays of items must be one-dimensional, of whole numbers and of one length.",
            advice="Give one array of integers of at most 64 signed bits for each column.",
        )
    return np.ascontiguousarray(values, dtype=np.int64)
