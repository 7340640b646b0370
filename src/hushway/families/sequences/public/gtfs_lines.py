"""The line of every station, from a public timetable: a taxonomy with one line for each."""

import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from hushway.arrays import Int32Array, IntArray
from hushway.errors import GeographyError
from hushway.escaping import some_of
from hushway.families.sequences.public.taxonomy import Taxonomy, place_level
from hushway.geography.locations import Locations
from hushway.tables.gtfs_feed import feed_part
from hushway.tables.unpacking import refuse_unfit_archive

_NEEDED = "Lines need stops.txt, routes.txt, trips.txt and stop_times.txt of one feed."
_TEXTS = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, kw_only=True, eq=False)
class Timetable:
    """What a feed says about routes and stops.

    Attributes:
        station_of: The station of every stop that is part of one, by the ids of both.
        route_names: A readable name of every route, no two alike, by its id.
        routes: Ids of the routes with trips, sorted.
        stops: Ids of the stops that trips call at.
        calls: How often each route (row) calls at each stop (column), over the whole feed.
    """

    station_of: dict[str, str]
    route_names: dict[str, str]
    routes: tuple[str, ...]
    stops: tuple[str, ...]
    calls: Int32Array


def read_timetable(path: Path | str) -> Timetable:
    """Reads a feed from a .zip file or from a folder."""
    feed = Path(path)
    if not feed.is_dir():
        refuse_unfit_archive(feed)
    stops = _columns(feed, "stops.txt", ("stop_id",), ("parent_station",))
    routes = _columns(feed, "routes.txt", ("route_id",), ("route_short_name", "route_long_name"))
    trips = _columns(feed, "trips.txt", ("trip_id", "route_id"))
    times = _columns(feed, "stop_times.txt", ("trip_id", "stop_id"))
    parents = zip(_texts(stops["stop_id"]), _texts(stops["parent_station"]), strict=True)
    called, calls = _calls(feed, trips, times)
    return Timetable(
        station_of={stop: station for stop, station in parents if station},
        route_names=_route_names(routes),
        routes=called[0],
        stops=called[1],
        calls=calls,
    )


def _calls(
    feed: Path, trips: dict[str, pa.Array], times: dict[str, pa.Array]
) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], Int32Array]:
    """Returns the routes and the stops, and how often each of the first calls at the second."""
    route_of = dict(zip(_texts(trips["trip_id"]), _texts(trips["route_id"]), strict=True))
    timed = times["trip_id"].dictionary.to_pylist()
    strange = [repr(trip) for trip in timed if trip not in route_of]
    if strange:
        raise GeographyError(
            f"The stop_times.txt of {feed.name} names trips that trips.txt does not have: "
            f"{', '.join(strange[:3])}.",
            advice="Use the files of one and the same feed.",
        )
    routes = tuple(sorted({route_of[trip] for trip in timed}))
    stops = tuple(times["stop_id"].dictionary.to_pylist())
    number = {route: code for code, route in enumerate(routes)}
    of_trip = np.array([number[route_of[trip]] for trip in timed], dtype=np.int64)
    pair = of_trip[_codes(times["trip_id"])] * len(stops) + _codes(times["stop_id"])
    counts = np.bincount(pair, minlength=len(routes) * len(stops)).astype(np.int32)
    return (routes, stops), counts.reshape(len(routes), len(stops))


def _route_names(routes: dict[str, pa.Array]) -> dict[str, str]:
    columns = (routes[name] for name in ("route_id", "route_short_name", "route_long_name"))
    rows = list(zip(*map(_texts, columns), strict=True))
    names = [short or long or route for route, short, long in rows]
    uses = Counter(names)
    return {
        route: f"{name} ({route})" if uses[name] > 1 else name
        for (route, _, _), name in zip(rows, names, strict=True)
    }


def _columns(
    feed: Path, name: str, needed: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, pa.Array]:
    """Returns columns of one file of the feed; an optional one that is missing is empty."""
    names = [*needed, *optional]
    try:
        table = arrow_csv.read_csv(
            io.BytesIO(feed_part(feed, name, advice=_NEEDED)),
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=names,
                include_missing_columns=True,
                column_types=dict.fromkeys(names, _TEXTS),
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowException:
        raise GeographyError(
            f"The {name} of {feed.name} cannot be read.",
            advice="Check that it is a CSV file in UTF-8 whose rows have the fields of the first.",
        ) from None
    found = {column: table.column(column).unify_dictionaries().combine_chunks() for column in names}
    # Arrow fills a column that is not there with nulls; one that is there has none.
    missing = [column for column in needed if found[column].null_count == len(found[column])]
    if missing:
        raise GeographyError(
            f"The {name} of {feed.name} is empty or has no column {', '.join(missing)}.",
            advice="Give a feed with all columns that GTFS demands.",
        )
    return found


def _texts(column: pa.Array) -> list[str]:
    return ["" if text is None else text.strip() for text in column.to_pylist()]


def _codes(column: pa.Array) -> Int32Array:
    # `to_numpy` would load pandas first, which takes longer than reading the feed.
    indices = column.indices
    whole = np.frombuffer(indices.buffers()[1], dtype=np.int32)
    return whole[indices.offset : indices.offset + len(indices)]


_SHOWN = 5
_LEVEL = "line"


@dataclass(frozen=True, kw_only=True, eq=False)
class LineTaxonomy:
    """Stations by line.

    Attributes:
        taxonomy: The locations in groups by line.
        multi_line: Ids of the locations that several routes call at; each was given to one.
    """

    taxonomy: Taxonomy
    multi_line: tuple[str, ...]


def line_taxonomy(path: Path | str, locations: Locations) -> LineTaxonomy:
    """Groups locations by the route that calls there most often.

    A location is a stop of the feed, or a station, at which its platforms' calls are counted. Among
    routes that call equally often the one whose id comes first is chosen.
    """
    feed = Path(path)
    timetable = read_timetable(feed)
    calls = _calls_at(timetable, locations)
    lonely = [
        repr(key) for key, most in zip(locations.ids, calls.max(axis=0), strict=True) if not most
    ]
    if lonely:
        raise GeographyError(
            f"No route of {feed.name} calls at some places: {some_of(lonely, _SHOWN)}.",
            advice="Leave them out of the list, use ids of the feed's stops or stations, or name a "
            "column of the places as the line.",
        )
    names = [timetable.route_names.get(route, route) for route in timetable.routes]
    # Of equal calls the first is found, and routes are in the order of their ids.
    lines = [names[route] for route in calls.argmax(axis=0).tolist()]
    several = (calls > 0).sum(axis=0) > 1
    return LineTaxonomy(
        taxonomy=Taxonomy(locations=locations, levels=(place_level(locations, _LEVEL, lines),)),
        multi_line=tuple(key for key, many in zip(locations.ids, several, strict=True) if many),
    )


def _calls_at(timetable: Timetable, locations: Locations) -> IntArray:
    """Returns how often each route (row) calls at each location (column)."""
    calls = np.zeros((len(timetable.routes), len(locations)), dtype=np.int64)
    for column, stop in enumerate(timetable.stops):
        place = locations.index.get(stop)
        if place is None:
            place = locations.index.get(timetable.station_of.get(stop, ""))
        if place is not None:
            calls[:, place] += timetable.calls[:, column]
    return calls
