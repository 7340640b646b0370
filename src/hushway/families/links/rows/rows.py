"""Positions by person, trip and time: the way from rows to traces.

Reading and sorting are the engine's, which may use the disk. Rows come out some whole people at a
time, so memory does not grow with the number of people.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa

from hushway.arrays import FloatArray, IntArray
from hushway.engine.embedded import EmbeddedSession
from hushway.engine.grids import time_grid
from hushway.engine.reading import read_rows
from hushway.engine.session import Reading, Session
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.rows.gpx import GpxTraces, read_gpx
from hushway.geography.periods import Periods
from hushway.progress import ShareProgress
from hushway.tables.header import Clock
from hushway.tables.layout import Columns, Layout, TimedSource
from hushway.tables.mds import read_mds_positions


@dataclass(frozen=True, kw_only=True)
class TraceColumns(Columns):
    """Which column of the traces holds what.

    Ids are compared exactly, as text: "1", " 1", "01" and "1.0" are four different persons.

    Attributes:
        person: Whose position it is: a person, a phone, a vehicle.
        trip: Id of the trip, if there is one: a person's positions with another id are another
            trip. Trips are also split where a person was not heard of for long.
        lon: Longitude in WGS84 degrees.
        speed: Speed as the device measured it, if it did. Ways are found from positions and times,
            so it is checked for its type and not read.
    """

    person: str = "person"
    trip: str | None = None
    time: str = "time"
    date: str | None = None
    lon: str = "lon"
    lat: str = "lat"
    speed: str | None = None
    heading: str | None = None


class TracesSource(TimedSource[TraceColumns]):
    """The protected traces."""

    noun = "traces"


@dataclass(frozen=True)
class MdsTraces:
    """The protected traces: a JSON file of MDS trips, or a folder of them with its subfolders.

    Privacy:
        MDS names devices, not riders. The unit that is protected is a device: whoever rides many of
        them is protected on each alone.
    """

    path: Path | str
    # Milliseconds since 1970 are instants.
    clock: ClassVar[Clock] = "utc"
    noun: ClassVar[str] = "traces"


_US = 1e6


@dataclass(frozen=True, kw_only=True, eq=False)
class PeriodLookup:
    """Buckets of one length from the window's start to its end.

    Attributes:
        start_us: Start of the first bucket, microseconds since 1970.
        period: The period that each bucket lies in; -1 outside service hours, and where the wall
            clock never was.
    """

    start_us: int
    end_us: int
    bucket_us: int
    period: IntArray

    @classmethod
    def of(cls, periods: Periods, clock: Clock) -> "PeriodLookup":
        """Returns the buckets of periods on a clock."""
        grid = time_grid(periods, clock)
        period = np.full((grid.end_us - grid.start_us) // grid.bucket_us, -1, dtype=np.int64)
        period[(grid.starts - grid.start_us) // grid.bucket_us] = grid.periods
        return cls(
            start_us=grid.start_us, end_us=grid.end_us, bucket_us=grid.bucket_us, period=period
        )

    def at(self, seconds: FloatArray) -> IntArray:
        """Returns the period of times in seconds since the first bucket's start; -1 for none."""
        bucket = np.floor(seconds * (_US / self.bucket_us))
        inside = (bucket >= 0) & (bucket < len(self.period))
        return np.where(inside, self.period[np.where(inside, bucket, 0).astype(np.int64)], -1)


AnyTraces = TracesSource | GpxTraces | MdsTraces

_SALT_DIGITS = 15
# How far from the network's outermost points a position may be, in degrees of latitude: about 1 km.
_MARGIN = 0.01
_COLUMNS = ("owner", "salt", "trip", "since_us", "lon", "lat")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PeoplePositions:
    """Positions of some people, all of each, ordered by person, trip, time and place.

    Attributes:
        start: Where each person's positions begin; one entry more than people.
        salt: A number made of each person's own id alone.
        trip: A number for the stated trip of each position; 0 if trips are not stated.
    """

    start: IntArray
    salt: IntArray
    trip: IntArray
    since_us: IntArray
    lon: FloatArray
    lat: FloatArray


def positions_read(session: Session, source: AnyTraces) -> Reading:
    """Returns how positions come into an engine, all of them."""
    layout = session.layout(source) if isinstance(source, TracesSource) else None
    return Reading(layout=layout, read=partial(_positions, source), together="person")


def countable_read(
    session: Session, source: AnyTraces, roads: RoadNetwork, lookup: PeriodLookup
) -> Reading:
    """Returns how those positions come into an engine that can count, as `countable` says."""
    reading = positions_read(session, source)
    read = partial(_countable, source, Surroundings.of(roads), lookup)
    return replace(reading, read=read, span_us=(lookup.start_us, lookup.end_us))


def _positions(source: AnyTraces, session: EmbeddedSession, layout: Layout | None) -> ir.Table:
    """Reads positions one by one."""
    match source:
        case GpxTraces():
            return session.load("gpx_positions", read_gpx(source))
        case MdsTraces():
            return session.load("mds_positions", read_mds_positions(source.path))
        case TracesSource():
            return read_rows(session, layout, source.clock)


def _countable(
    source: AnyTraces,
    around: "Surroundings",
    lookup: PeriodLookup,
    session: EmbeddedSession,
    layout: Layout | None,
) -> ir.Table:
    return countable(_positions(source, session, layout), around, lookup)


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The public rectangle around a network, in degrees."""

    west: float
    east: float
    south: float
    north: float

    @classmethod
    def of(cls, roads: RoadNetwork) -> "Surroundings":
        """Returns a rectangle that is about a kilometre wider than the network."""
        south, north = float(roads.lat.min()), float(roads.lat.max())
        widest = max(abs(south), abs(north))
        aside = _MARGIN / max(float(np.cos(np.radians(widest))), _MARGIN)
        return cls(
            west=float(roads.lon.min()) - aside,
            east=float(roads.lon.max()) + aside,
            south=south - _MARGIN,
            north=north + _MARGIN,
        )

    def hold(self, lon: ir.FloatingValue, lat: ir.FloatingValue) -> ir.BooleanValue:
        """Says which positions lie inside."""
        # Not a number is larger than any to the engine, so it is outside.
        return (lon >= self.west) & (lon <= self.east) & (lat >= self.south) & (lat <= self.north)


def countable(rows: ir.Table, around: Surroundings, lookup: PeriodLookup) -> ir.Table:
    """Returns the positions that can count: (person, trip, since_us, lon, lat).

    Privacy:
        A position is kept or dropped by looking at that row and at public facts alone.
    """
    inside = rows.filter(
        rows.us >= lookup.start_us, rows.us < lookup.end_us, around.hold(rows.lon, rows.lat)
    ).drop_null(["person", "lon", "lat"])
    trip = {"trip": inside.trip} if "trip" in inside.columns else {}
    return inside.select("person", "lon", "lat", since_us=inside.us - lookup.start_us, **trip)


def people_at_a_time(
    session: EmbeddedSession, rows: ir.Table, progress: ShareProgress | None = None
) -> Iterator[PeoplePositions]:
    """Hands out positions, all of a person at once.

    Privacy:
        Persons are compared exactly. A salt is a function of one person's own id. Numbers given to
        persons and trips here decide about the order of work and nothing else.
    """
    if not (rows.person.type().is_integer() and _whole_trips(rows)):
        rows = session.store("countable_positions", rows)
    total = 0 if progress is None else int(session.run(rows.aggregate(n=rows.count()))["n"][0])
    # The place decides between positions of one time, so that the order of the rows cannot matter.
    ordered = _numbered(rows).order_by(["owner", "trip", "since_us", "lon", "lat"])
    done = 0
    for people in _whole_people(session.stream(ordered.select(*_COLUMNS))):
        yield people
        done += len(people.lon)
        if progress is not None:
            progress(done / total)


def _whole_trips(rows: ir.Table) -> bool:
    return "trip" not in rows.columns or bool(rows.trip.type().is_integer())


def _numbered(rows: ir.Table) -> ir.Table:
    """Gives rows whole numbers for their persons and trips, and salts."""
    if rows.person.type().is_integer():
        rows = rows.rename(owner="person").mutate(salt=lambda table: table.owner)
    else:
        persons = rows.select("person").distinct()
        digits = persons.person.hexdigest("md5").left(_SALT_DIGITS)
        salted = persons.mutate(
            owner=ibis.row_number().over(order_by=persons.person),
            salt=(ibis.literal("0x") + digits).cast("int64"),
        )
        rows = rows.inner_join(salted, "person").drop("person")
    if "trip" not in rows.columns:
        return rows.mutate(trip=ibis.literal(0, "int64"))
    if not rows.trip.type().is_integer():
        trips = rows.select("trip").distinct().drop_null(["trip"])
        counted = trips.mutate(number=ibis.row_number().over(order_by=trips.trip))
        joined = rows.left_join(counted, "trip")
        rows = joined.select(*(n for n in rows.columns if n != "trip"), trip=joined.number)
    # Positions without a trip are one trip of their person, as long as no gap splits them.
    return rows.mutate(trip=rows.trip.fill_null(-1))


def _whole_people(batches: Iterator[pa.RecordBatch]) -> Iterator[PeoplePositions]:
    """Cuts batches between people; who goes on in the next batch waits for it."""
    waiting: list[dict[str, np.ndarray]] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        # Copies: the engine may use its memory again.
        columns = {name: np.array(batch.column(name)) for name in _COLUMNS}
        owner = columns["owner"]
        if waiting and waiting[0]["owner"][0] == owner[-1]:
            waiting.append(columns)
            continue
        cut = int(np.searchsorted(owner, owner[-1]))
        done = [*waiting, {name: column[:cut] for name, column in columns.items()}]
        waiting = [{name: column[cut:] for name, column in columns.items()}]
        if sum(len(piece["owner"]) for piece in done):
            yield _together(done)
    if waiting:
        yield _together(waiting)


def _together(pieces: list[dict[str, np.ndarray]]) -> PeoplePositions:
    columns = {name: np.concatenate([piece[name] for piece in pieces]) for name in _COLUMNS}
    owner = columns["owner"]
    first = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
    return PeoplePositions(
        start=np.append(first, len(owner)),
        salt=columns["salt"][first].astype(np.int64),
        trip=columns["trip"].astype(np.int64),
        since_us=columns["since_us"].astype(np.int64),
        lon=columns["lon"],
        lat=columns["lat"],
    )
