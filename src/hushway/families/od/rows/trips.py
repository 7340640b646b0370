"""Trips as an engine reads them: between ids, between points of public areas, or made of taps."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import shapely

from hushway.arrays import FloatArray, IntArray
from hushway.engine.embedded import EmbeddedSession, quietly
from hushway.engine.reading import read_rows
from hushway.engine.session import Reading, Session
from hushway.geography.areas import Areas
from hushway.journeys.taps import TapsSource, taps_read
from hushway.tables.header import Clock
from hushway.tables.layout import Columns, Kind, Layout, TimedSource
from hushway.tables.mds import read_mds_trips

AreaOf = Callable[[ir.FloatingValue, ir.FloatingValue], ir.IntegerValue]

NOWHERE = -1
_NAME = "public_area_of"


def area_index(areas: Areas) -> Callable[[FloatArray, FloatArray], IntArray]:
    """Returns a function that says in which area points lie; -1 where it is none of them.

    A point on a border, or in two areas, lies in the one that comes first in the public list. What
    is no number of degrees lies nowhere.
    """
    tree = shapely.STRtree(areas.shapes)

    def find(lon: FloatArray, lat: FloatArray) -> IntArray:
        found = np.full(len(lon), len(areas), dtype=np.int64)
        sound = np.flatnonzero(np.isfinite(lon) & np.isfinite(lat))
        points = shapely.points(lon[sound], lat[sound])
        point, area = tree.query(points, predicate="intersects")
        np.minimum.at(found, sound[point], area)
        return np.where(found == len(areas), NOWHERE, found)

    return find


def _signature(lon: float, lat: float) -> int:
    """Tells Ibis what the function that DuckDB has been taught takes and gives."""
    raise NotImplementedError


def load_areas(session: EmbeddedSession, areas: Areas) -> AreaOf:
    """Teaches a DuckDB to find the area of a point, some thousand rows at a time.

    Privacy:
        Looks at one point and at public shapes. A point without a longitude or a latitude has no
        area.
    """
    find = area_index(areas)

    def of_columns(lon: pa.ChunkedArray, lat: pa.ChunkedArray) -> pa.Array:
        return pa.array(find(lon.to_numpy(), lat.to_numpy()))

    quietly(
        lambda: session.backend.con.create_function(
            _NAME,
            of_columns,
            ["DOUBLE", "DOUBLE"],
            "BIGINT",
            type="arrow",
        )
    )

    area_of: AreaOf = ibis.udf.scalar.builtin(name=_NAME)(_signature)
    return area_of


POSITIONS = ("origin_lon", "origin_lat", "destination_lon", "destination_lat")


@dataclass(frozen=True, kw_only=True)
class TripColumns(Columns):
    """Which column of the trips holds what.

    Ids are compared exactly, as text: "1", " 1", "01" and "1.0" are four different persons.

    Attributes:
        person: Whose trip it is; without it only unit "trip" is possible.
        origin: Id of the place where the trip starts; None where trips have points.
        destination: Id of the place where it ends, likewise.
        date: Its day, if that is in a column of its own.
        trip_id: If given, rows of one person with the same trip id are one trip, of which one row
            counts; without a column of persons, all rows with the same trip id are.
        service_date: The day that the time belongs to, for the clock "service".
        origin_lon: Longitude of the point where the trip starts, WGS84 degrees.
        origin_lat: Its latitude.
        destination_lon: Longitude of the point where it ends.
        destination_lat: Its latitude.
    """

    person: str | None = None
    origin: str | None = "origin"
    destination: str | None = "destination"
    time: str = "time"
    date: str | None = None
    trip_id: str | None = None
    service_date: str | None = None
    origin_lon: str | None = None
    origin_lat: str | None = None
    destination_lon: str | None = None
    destination_lat: str | None = None


@dataclass(frozen=True)
class TripsSource(TimedSource[TripColumns]):
    """The protected trips.

    Attributes:
        areas: The public areas that points of trips lie in; None where trips name places.
    """

    noun = "trips"
    areas: Areas | None = None


@dataclass(frozen=True, kw_only=True)
class MdsTrips:
    """The protected trips: a JSON file of MDS trips, or a folder of them.

    Privacy:
        MDS names devices, not riders. The unit that is protected is a device: whoever rides many of
        them is protected on each alone.
    """

    path: Path | str
    areas: Areas
    # Milliseconds since 1970 are instants.
    clock: ClassVar[Clock] = "utc"
    columns: ClassVar[TripColumns] = TripColumns(
        person="device_id",
        origin=None,
        destination=None,
        time="start_time",
        trip_id="trip_id",
        origin_lon="start_location.lng",
        origin_lat="start_location.lat",
        destination_lon="end_location.lng",
        destination_lat="end_location.lat",
    )


# What the standard calls taps that begin and end a ride. Transfers begin and end one, too.
ENTRIES: Final = ("Enter", "Transfer entrance")
EXITS: Final = ("Exit", "Transfer exit")


@dataclass(frozen=True, kw_only=True)
class FareColumns(Columns):
    """Which column of the fare transactions holds what; the standard names them so."""

    person: str = "token_id"
    stop: str = "stop_id"
    action: str = "fare_action"
    day: str = "service_date"
    time: str = "event_timestamp"


@dataclass(frozen=True)
class FareTaps(TimedSource[FareColumns]):
    """The protected taps: fare transactions of TIDES, of which entries and exits make trips.

    Privacy:
        A trip is made of taps of one token, so that the unit is a token: a device.

    Attributes:
        span_us: From when to when taps make trips, in microseconds since 1970 as they are written.
    """

    noun = "fare transactions"
    span_us: tuple[int, int] = (0, 0)
    areas: ClassVar[None] = None


AnyTrips = TripsSource | MdsTrips | FareTaps | TapsSource


def trips_read(session: Session, source: AnyTrips) -> Reading:
    """Returns how trips come into an engine: (person, origin, destination, us, timed)."""
    if isinstance(source, TapsSource):
        return taps_read(session, source)
    if isinstance(source, MdsTrips):
        return Reading(layout=None, read=partial(_trips, source), together="person")
    layout = session.layout(source)
    together = "person" if "person" in layout.kinds else None
    shape = partial(_ridden, source.span_us) if isinstance(source, FareTaps) else None
    return Reading(layout=layout, read=partial(_trips, source), together=together, shape=shape)


def id_kinds_of(source: AnyTrips, layout: Layout | None) -> tuple[Kind, Kind] | None:
    """Returns what ids of origins and destinations are; None for the index of an area."""
    if layout is None or source.areas is not None:
        return None
    if isinstance(source, TapsSource):
        return "text", "text"
    origin, destination = (
        ("stop", "stop") if isinstance(source, FareTaps) else ("origin", "destination")
    )
    return layout.kinds[origin], layout.kinds[destination]


def _trips(
    source: TripsSource | MdsTrips | FareTaps, session: EmbeddedSession, layout: Layout | None
) -> ir.Table:
    """Reads trips, or the taps that they are made of, one by one."""
    if isinstance(source, MdsTrips):
        rows = session.load("mds_trips", read_mds_trips(source.path))
    else:
        rows = read_rows(session, layout, source.clock)
    return rows if source.areas is None else _in_areas(session, rows, source.areas)


def _ridden(span_us: tuple[int, int], _session: EmbeddedSession, taps: ir.Table) -> ir.Table:
    return ridden(taps, span_us)


def _in_areas(session: EmbeddedSession, rows: ir.Table, areas: Areas) -> ir.Table:
    area_of = load_areas(session, areas)
    return rows.mutate(
        origin=area_of(rows.origin_lon, rows.origin_lat),
        destination=area_of(rows.destination_lon, rows.destination_lat),
    ).drop(*POSITIONS)


def ridden(taps: ir.Table, span_us: tuple[int, int]) -> ir.Table:
    """Returns one row for each entry: (person, origin, destination, us, timed).

    An entry ends at the next tap of its token on the same service date, if that is an exit; else
    nobody knows where, and the destination is null. Purchases and the like are left out.

    Privacy:
        Looks at the taps of one token at a time. An exit decides where a trip is counted, so only
        taps of days that the ledger charges are brought together. All others, and those without a
        token or a time that can be understood, are rows by themselves, without a destination.

    Args:
        taps: The fare transactions (person, stop, action, day, us, timed).
        span_us: From when to when taps may lie to make trips, as their times are written.
    """
    tapped = taps.filter(taps.action.isin([*ENTRIES, *EXITS]))
    # Exits come first among taps of one moment; the stop decides between others alike.
    charged = (tapped.us >= span_us[0]) & (tapped.us < span_us[1])
    ordered = tapped.mutate(enters=tapped.action.isin(ENTRIES), charged=charged.fill_null(False))
    one_token = ibis.window(
        group_by=[ordered.person, ordered.day, ordered.charged],
        order_by=[ordered.us, ordered.enters, ordered.stop],
    )
    followed = ordered.mutate(
        next_stop=ordered.stop.lead().over(one_token),
        next_enters=ordered.enters.lead().over(one_token),
    )
    known = followed.charged & followed.person.notnull() & followed.day.notnull()
    entered = followed.mutate(
        destination=ibis.ifelse(
            known & ~followed.next_enters, followed.next_stop, ibis.null(followed.stop.type())
        )
    ).filter(followed.enters)
    return entered.select("person", "destination", "us", "timed", origin=entered.stop)
