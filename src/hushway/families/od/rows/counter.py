"""Bounded counts of protected trips, by whatever engine reads them."""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final

import ibis.expr.types as ir

from hushway.engine.embedded import EmbeddedSession
from hushway.engine.grids import time_grid
from hushway.engine.key import BoundingKey
from hushway.engine.opening import open_session
from hushway.engine.ranks import RankSteps
from hushway.engine.session import (
    Between,
    Loader,
    Read,
    Reading,
    Session,
    Shape,
    Sums,
    sums_of_columns,
)
from hushway.engine.settings import EngineSettings
from hushway.errors import DataError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import (
    TripCounter,
    load_lookups,
    placed,
    ranked_counts,
    trip_bound,
    trip_columns,
)
from hushway.families.od.rows.trips import AnyTrips, id_kinds_of, trips_read
from hushway.privacy.bound import Unit
from hushway.privacy.query import ExactCounts
from hushway.progress import ShareProgress
from hushway.tables.header import Clock
from hushway.tables.layout import Kind, Layout


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EngineTrips(TripCounter):
    """Counts the trips of a source, each unit bounded.

    Privacy:
        Rows without a person, an origin, a destination or a time, with an unknown location, outside
        the window or without a cell are dropped one by one against public lists; then each unit's
        rows are cut down to its bound. Counting is the same for every order and split of the rows.
    """

    source: AnyTrips
    cells: ODCells
    unit: Unit
    max_trips: int
    key: BoundingKey
    ladder: tuple[int, ...] = ()
    caps: tuple[int, ...] = ()
    settings: EngineSettings | None = None
    progress: ShareProgress | None = None

    def __post_init__(self) -> None:
        if self.unit.has_many_records and self.source.columns.person is None:
            raise DataError(
                "The trips have no column of persons, so persons cannot be protected.",
                advice='Name the column of persons, or choose unit = "trip".',
            )
        trip_bound(self.unit, self.max_trips)

    def ranked(self) -> ExactCounts:
        """Returns trips by (part, step of their rank, cell). Rows are read once."""
        return self._counts

    def reading(self, session: Session) -> Reading:
        """Returns how the trips come into an engine."""
        return trips_read(session, self.source)

    @cached_property
    def _counts(self) -> ExactCounts:
        with open_session(self.settings or EngineSettings()) as session:
            reading = self.reading(session)
            part = TripPart(
                cells=self.cells,
                clock=self.source.clock,
                id_kinds=id_kinds_of(self.source, reading.layout),
                unit=self.unit,
                steps=self.steps,
                caps=self.caps,
                key=self.key,
            )
            return session.count(part.after(reading), part, self.progress)


_TRIPS: Final = "trips"


@dataclass(frozen=True, kw_only=True)
class TripPart:
    """Gives trips their cells, and ranks and counts those of some units, all of each.

    A `hushway.engine.session.Part`.

    Privacy:
        Every unit of the part has each rank at most once.
    """

    cells: ODCells
    clock: Clock
    id_kinds: tuple[Kind, Kind] | None
    unit: Unit
    steps: RankSteps
    key: BoundingKey
    caps: tuple[int, ...] = ()

    def after(self, reading: Reading) -> Reading:
        """Returns the reading of trips with cells; those without one are dropped.

        Privacy:
            A trip is dropped by looking at it and at public tables alone, so it does not matter
            whether that happens before or after people's trips are brought together.
        """
        if reading.shape is not None:
            return replace(reading, shape=partial(self._shaped, reading.shape))
        grid = time_grid(self.cells.periods, self.clock)
        return replace(
            reading,
            read=partial(self._read, reading.read),
            together=reading.together if self.unit.has_many_records else _trips_together(reading),
            # Points are found in areas by more than expressions.
            in_warehouse=None if self.id_kinds is None else self.counted_between,
            span_us=(grid.start_us, grid.end_us),
        )

    def counted_between(self, engine: Loader, between: Between) -> ir.Table:
        """Returns (cell, trips), every trip ranked, of an engine that reads spans of time."""
        lookups = load_lookups(engine, self.id_kinds, self.cells, self.clock)
        trips = between(lookups.grid.start_us, lookups.grid.end_us)
        return self._ranked(placed(trips, lookups, self.cells))

    def count(
        self, session: EmbeddedSession, rows: ir.Table, progress: ShareProgress | None
    ) -> ExactCounts:
        """Returns the counts."""
        return self.counted(sums_of_columns(session.run(self._ranked(rows), progress)))

    def sums(self, counted: ExactCounts) -> Sums:
        """Returns the counts under their name."""
        return {_TRIPS: counted}

    def counted(self, sums: Sums) -> ExactCounts:
        """Returns the counts."""
        return sums[_TRIPS]

    def _ranked(self, rows: ir.Table) -> ir.Table:
        return ranked_counts(
            rows,
            unit=self.unit,
            steps=self.steps,
            caps=self.caps,
            cells=self.cells.size,
            key=self.key,
        )

    def _placed(self, session: EmbeddedSession, trips: ir.Table) -> ir.Table:
        lookups = load_lookups(session, self.id_kinds, self.cells, self.clock)
        return placed(trips, lookups, self.cells)

    def _read(self, read: Read, session: EmbeddedSession, layout: Layout | None) -> ir.Table:
        return self._placed(session, read(session, layout))

    def _shaped(self, shape: Shape, session: EmbeddedSession, rows: ir.Table) -> ir.Table:
        return self._placed(session, shape(session, rows))


def _trips_together(reading: Reading) -> str | None:
    """Returns a column in which all rows of a trip agree; None if each row is a trip.

    The first of the columns that tell trips apart is enough: people whole are trips whole.
    """
    if reading.layout is None:
        return reading.together
    return next(iter(trip_columns(reading.layout.kinds)), None)
