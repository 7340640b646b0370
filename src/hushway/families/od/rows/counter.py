"""Bounded counts of protected trips, by whatever engine reads them."""

from functools import cached_property

from hushway.engine.key import BoundingKey
from hushway.engine.opening import open_session
from hushway.engine.settings import EngineSettings
from hushway.errors import DataError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import refuse_other_cells, trip_bound
from hushway.families.od.rows.part import PlacedTrips, TripPart
from hushway.families.od.rows.trips import (
    AnyTrips,
    TripColumns,
    TripsSource,
    id_kinds_of,
    trips_read,
)
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import ExactCounts, Query
from hushway.progress import ShareProgress

__all__ = ["EngineSettings", "EngineTrips", "TripColumns", "TripsSource"]


class EngineTrips:
    """Counts the trips of a source, each unit bounded. A `hushway.privacy.query.Counter`.

    Privacy:
        Rows without a person, an origin, a destination or a time, with an unknown location, outside
        the window or without a cell are dropped one by one against public lists; then each unit's
        rows are cut down to its bound. Counting is the same for every order and split of the rows.

    Args:
        source: Where the trips are.
        cells: The public universe.
        unit: Who is protected.
        max_trips: Most trips of one person; without meaning for unit "trip".
        key: Decides which trips are kept.
        settings: How much of this machine to use.
        progress: Told from 0 to 1 how far the counting is, from another thread.
    """

    def __init__(
        self,
        *,
        source: AnyTrips,
        cells: ODCells,
        unit: Unit,
        max_trips: int,
        key: BoundingKey,
        settings: EngineSettings | None = None,
        progress: ShareProgress | None = None,
    ) -> None:
        if unit.has_many_records and source.columns.person is None:
            raise DataError(
                "The trips have no column of persons, so persons cannot be protected.",
                advice='Name the column of persons, or choose unit = "trip".',
            )
        self._source = source
        self._cells = cells
        self._unit = unit
        self._max_trips = max_trips
        self._bound = trip_bound(unit, max_trips)
        self._key = key
        self._settings = EngineSettings() if settings is None else settings
        self._progress = progress

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self._unit

    def bound(self, query: Query) -> Bound:
        """Returns the bound that `count` enforces."""
        refuse_other_cells(query, self._cells)
        return self._bound

    def count(self, query: Query) -> ExactCounts:
        """Returns the exact bounded counts. The rows are read once, however often it is called.

        Raises:
            DataError: The trips cannot be read, or memory or disk ran out.
        """
        refuse_other_cells(query, self._cells)
        return self._counts

    @cached_property
    def _counts(self) -> ExactCounts:
        part = TripPart(unit=self._unit, max_trips=self._max_trips, key=self._key)
        with open_session(self._settings) as session:
            reading = trips_read(session, self._source)
            place = PlacedTrips(
                cells=self._cells,
                clock=self._source.clock,
                id_kinds=id_kinds_of(self._source, reading.layout),
            )
            return session.count(place.after(reading, self._unit), part, self._progress)
