"""Bounded counts of trips in arrays: for audits, which count thousands of times, and studies."""

import numpy as np

from hushway.arrays import IntArray
from hushway.engine.key import BoundingKey, kept_in_circle
from hushway.errors import DataError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import refuse_other_cells, trip_bound
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import ExactCounts, Query


class ArrayCounter:
    """Counts trips given as arrays, each unit bounded. A `hushway.privacy.query.Counter`.

    The same rule and the same arithmetic as in every other engine: the same trips and the same key
    give the same counts.

    Privacy:
        At most `max_trips` trips of each person are counted; the choice reads that person's trips
        and the key alone.

    Args:
        cells: The public universe.
        unit: Who is protected.
        max_trips: Most trips of one person; without meaning for unit "trip".
        key: Decides which trips are kept.
        person: Code of each trip's person; only equality matters. Not needed for unit "trip".
        period: Index of each trip's period.
        origin: Index of each trip's origin.
        destination: Index of each trip's destination.
        since_us: Microseconds from the window's start to each trip. Without it, a person's
            trips are told apart by numbering them.

    Raises:
        DataError: The arrays do not fit each other or the cells.
    """

    def __init__(  # noqa: PLR0913  one argument for each column
        self,
        *,
        cells: ODCells,
        unit: Unit,
        max_trips: int,
        key: BoundingKey,
        period: IntArray,
        origin: IntArray,
        destination: IntArray,
        person: IntArray | None = None,
        since_us: IntArray | None = None,
    ) -> None:
        if unit.has_many_records and person is None:
            raise DataError(
                "There is no array of persons, so persons cannot be protected.",
                advice='Give the array of persons, or choose unit = "trip".',
            )
        self._unit = unit
        self._bound = trip_bound(unit, max_trips)
        self._key = key
        self._cells = cells
        period, origin, destination = (
            _whole(column, len(period)) for column in (period, origin, destination)
        )
        kept = _placed(cells, period, origin, destination)
        self._origin, self._destination = origin[kept], destination[kept]
        self._cell = cells.encode(period[kept], self._origin, self._destination)
        if unit.has_many_records and person is not None:
            _, codes = np.unique(_whole(person, len(kept))[kept], return_inverse=True)
            self._person: IntArray = codes.astype(np.int64)
            self._size = np.bincount(self._person)
            self._since_us = (
                _numbered(self._person, self._cell)
                if since_us is None
                else _whole(since_us, len(kept))[kept]
            )

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self._unit

    def bound(self, query: Query) -> Bound:
        """Returns the bound that `count` enforces."""
        refuse_other_cells(query, self._cells)
        return self._bound

    def count(self, query: Query) -> ExactCounts:
        """Returns the exact bounded counts."""
        refuse_other_cells(query, self._cells)
        cells, values = np.unique(self._bounded(), return_counts=True)
        return ExactCounts(cells=cells, values=values.astype(np.int64))

    def _bounded(self) -> IntArray:
        """Returns the cells of the trips that are kept."""
        most = self._bound.total
        if not self._unit.has_many_records or not len(self._cell) or self._size.max() <= most:
            return self._cell
        key = self._key
        place = key.place(key.mixed(self._since_us, self._origin, self._destination))
        chosen = kept_in_circle(self._person, place, (self._cell,), most, key)
        kept: IntArray = self._cell[chosen]
        return kept


def _whole(column: IntArray, length: int) -> IntArray:
    values = np.asarray(column)
    if values.shape != (length,) or values.dtype.kind not in "iu":
        raise DataError(
            "The arrays of trips must be one-dimensional, of whole numbers and of one length.",
            advice="Give one array of integers for each column.",
        )
    return values.astype(np.int64)


def _placed(
    cells: ODCells, period: IntArray, origin: IntArray, destination: IntArray
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Says which trips have a cell; the others are dropped, as rows of files are."""
    places = len(cells.locations)
    kept = (period >= 0) & (period < len(cells.periods))
    for place in (origin, destination):
        kept &= (place >= 0) & (place < places)
    return kept if cells.same_place else kept & (origin != destination)


def _numbered(person: IntArray, cell: IntArray) -> IntArray:
    """Numbers the trips of each person, in the order of their cells."""
    order = np.lexsort((cell, person))
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = np.diff(person[order]) != 0
    starts = np.flatnonzero(fresh)
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
    return numbers
