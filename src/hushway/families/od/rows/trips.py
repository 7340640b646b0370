"""Trips as an engine reads them: between ids, or between points of public areas."""

from dataclasses import dataclass

import ibis.expr.types as ir
from ibis.backends.duckdb import Backend

from hushway.engine.areas import load_areas
from hushway.engine.reading import read_rows
from hushway.geography.areas import Areas
from hushway.tables.layout import Columns, Layout, TimedSource

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


def read_trips(backend: Backend, layout: Layout, source: TripsSource) -> ir.Table:
    """Returns trips with an origin and a destination; the index of an area if they have points.

    Raises:
        DataError: A file cannot be opened.
    """
    rows = read_rows(backend, layout, source.clock)
    if source.areas is None:
        return rows
    area_of = load_areas(backend, source.areas)
    return rows.mutate(
        origin=area_of(rows.origin_lon, rows.origin_lat),
        destination=area_of(rows.destination_lon, rows.destination_lat),
    ).drop(*POSITIONS)
