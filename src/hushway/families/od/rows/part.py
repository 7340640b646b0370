"""What is done with trips wherever they are read: cells for each, a bound for each unit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import ibis.expr.types as ir
import numpy as np
from numpy.typing import NDArray

from hushway.engine.embedded import EmbeddedSession
from hushway.engine.grids import time_grid
from hushway.engine.key import BoundingKey
from hushway.engine.session import Between, Loader, Read, Reading, Shape, Sums
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import bounded_counts, load_lookups, placed, trip_columns
from hushway.privacy.bound import Unit
from hushway.privacy.query import ExactCounts
from hushway.progress import ShareProgress
from hushway.tables.kinds import Kind
from hushway.tables.layout import Clock, Layout


@dataclass(frozen=True, kw_only=True)
class PlacedTrips:
    """Gives trips their cells, and drops those that have none.

    Attributes:
        cells: The public universe.
        clock: What the times are.
        id_kinds: What ids of origins and destinations are; None for indexes of places.
    """

    cells: ODCells
    clock: Clock
    id_kinds: tuple[Kind, Kind] | None

    def after(self, reading: Reading, unit: Unit) -> Reading:
        """Returns the reading of trips with cells.

        Privacy:
            A trip is dropped by looking at it and at public tables alone, so it does not matter
            whether that happens before or after people's trips are brought together.
        """
        if reading.shape is None:
            # Points are found in areas by more than expressions.
            place = None if self.id_kinds is None else self.placed_between
            read = _ReadAndPlaced(reading.read, self)
            grid = time_grid(self.cells.periods, self.clock)
            span = grid.start_us, grid.end_us
            together = reading.together if unit.has_many_records else _trips_together(reading)
            return replace(reading, read=read, together=together, place=place, span_us=span)
        return replace(reading, shape=_ShapedAndPlaced(reading.shape, self))

    def placed_between(self, engine: Loader, between: Between) -> ir.Table:
        """Returns the trips that have a cell, of an engine that reads spans of time."""
        lookups = load_lookups(engine, self.id_kinds, self.cells, self.clock)
        trips = between(lookups.grid.start_us, lookups.grid.end_us)
        return placed(trips, lookups, self.cells)

    def placed(self, session: EmbeddedSession, trips: ir.Table) -> ir.Table:
        """Returns the trips that have a cell."""
        lookups = load_lookups(session, self.id_kinds, self.cells, self.clock)
        return placed(trips, lookups, self.cells)


def _trips_together(reading: Reading) -> str | None:
    """Returns a column in which all rows of a trip agree; None if each row is a trip.

    The first of the columns that tell trips apart is enough: people whole are trips whole.
    """
    if reading.layout is None:
        return reading.together
    return next(iter(trip_columns(reading.layout.kinds)), None)


@dataclass(frozen=True)
class _ReadAndPlaced:
    read: Read
    place: PlacedTrips

    def __call__(self, session: EmbeddedSession, layout: Layout | None) -> ir.Table:
        return self.place.placed(session, self.read(session, layout))


@dataclass(frozen=True)
class _ShapedAndPlaced:
    shape: Shape
    place: PlacedTrips

    def __call__(self, session: EmbeddedSession, rows: ir.Table) -> ir.Table:
        return self.place.placed(session, self.shape(session, rows))


_TRIPS: Final = "trips"


@dataclass(frozen=True, kw_only=True)
class TripPart:
    """Bounds and counts the trips of some units, all of each.

    A `hushway.engine.session.Part`, and a `hushway.engine.session.ByExpression`.

    Privacy:
        Enforces `trip_bound(unit, max_trips)` for every unit of the part.
    """

    unit: Unit
    max_trips: int
    key: BoundingKey

    def count(
        self, session: EmbeddedSession, rows: ir.Table, progress: ShareProgress | None
    ) -> ExactCounts:
        """Returns the bounded counts."""
        return self.found(session.run(self.expression(rows), progress))

    def expression(self, rows: ir.Table) -> ir.Table:
        """Returns (cell, trips), every unit bounded."""
        return bounded_counts(rows, unit=self.unit, max_trips=self.max_trips, key=self.key)

    def found(self, columns: Mapping[str, NDArray[Any]]) -> ExactCounts:
        """Returns the bounded counts, by cell."""
        order = np.argsort(columns["cell"])
        return ExactCounts(
            cells=columns["cell"][order].astype(np.int64),
            values=columns["trips"][order].astype(np.int64),
        )

    def sums(self, counted: ExactCounts) -> Sums:
        """Returns the counts under their name."""
        return {_TRIPS: counted}

    def counted(self, sums: Sums) -> ExactCounts:
        """Returns the counts."""
        return sums[_TRIPS]
