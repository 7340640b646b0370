"""Trips as an engine reads them: between ids, between points of public areas, or made of taps."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import ibis.expr.types as ir
from ibis.backends.duckdb import Backend

from hushway.engine.areas import load_areas
from hushway.engine.reading import load_table, read_rows
from hushway.families.od.rows.fares import FareColumns, ridden
from hushway.geography.areas import Areas
from hushway.tables.layout import Clock, Columns, Kind, TimedSource, layout_of
from hushway.tables.mds import read_mds_trips

POSITIONS = ("origin_lon", "origin_lat", "destination_lon", "destination_lat")


@dataclass(frozen=True, kw_only=True)
class TripColumns(Columns):
    """Which column of the trips holds what.

    Ids are compared exactly, as text: "1", " 1", "01" and "1.0" are four different persons.

    Attributes:
        person: Whose trip it is; without it only unit "trip" is possible.
        origin: Id of the place where the trip starts; None where trips have points.
        destination: Id of the place where it ends, likewise.
        time: When it starts.
        trip_id: If given, rows of one person with the same trip id count once, and rows of one trip
            id are together one unit "trip".
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

    Attributes:
        path: The file or the folder.
        areas: The public areas that points of trips lie in.
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


AnyTrips = TripsSource | MdsTrips | FareTaps


@dataclass(frozen=True, kw_only=True)
class LoadedTrips:
    """Trips in an engine.

    Attributes:
        rows: (origin, destination, us, timed), with person and trip_id if there are such.
        id_kinds: What ids of origins and destinations are; None for the index of an area.
    """

    rows: ir.Table
    id_kinds: tuple[Kind, Kind] | None


def load_trips(backend: Backend, source: AnyTrips) -> LoadedTrips:
    """Returns trips with an origin and a destination.

    Raises:
        DataError: A file cannot be opened, or does not have the columns.
    """
    match source:
        case MdsTrips():
            rows = load_table(backend, "mds_trips", read_mds_trips(source.path))
            return LoadedTrips(rows=_in_areas(backend, rows, source.areas), id_kinds=None)
        case FareTaps():
            layout = layout_of(source)
            rows = ridden(read_rows(backend, layout, source.clock), source.span_us)
            return LoadedTrips(rows=rows, id_kinds=(layout.kinds["stop"], layout.kinds["stop"]))
        case TripsSource():
            layout = layout_of(source)
            rows = read_rows(backend, layout, source.clock)
            if source.areas is not None:
                return LoadedTrips(rows=_in_areas(backend, rows, source.areas), id_kinds=None)
            kinds = layout.kinds["origin"], layout.kinds["destination"]
            return LoadedTrips(rows=rows, id_kinds=kinds)


def _in_areas(backend: Backend, rows: ir.Table, areas: Areas) -> ir.Table:
    area_of = load_areas(backend, areas)
    return rows.mutate(
        origin=area_of(rows.origin_lon, rows.origin_lat),
        destination=area_of(rows.destination_lon, rows.destination_lat),
    ).drop(*POSITIONS)
