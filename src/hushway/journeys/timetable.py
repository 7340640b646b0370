"""What chaining needs to know of a public timetable (GTFS): who calls where, and how long it takes.

Read with Arrow: of a feed's `stop_times.txt` of millions of lines only four columns are needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushway.arrays import FloatArray, IntArray
from hushway.errors import GeographyError
from hushway.journeys.calendars import read_calendar
from hushway.privacy.public_facts import public_facts
from hushway.tables.gtfs_feed import feed_columns, feed_table, has_part
from hushway.tables.unpacking import refuse_unfit_archive

# Types of routes whose stations have gates, behind which people change lines unseen.
_BEHIND_GATES: Final = ("1", "2", "12")
_NO_TIME: Final = -1
# 300 m at the equator. Agencies move a stop's sign and keep its id.
_SAME_STOP_DEGREES: Final = 0.003


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class Timetable:
    """The lines of some feeds and their stops.

    Attributes:
        stops: The ids of the stops and stations.
        lon: Their longitudes.
        lat: Their latitudes.
        station: The index of the station of each stop; its own where it has none.
        routes: The ids of the lines.
        gated: Whether each line runs behind gates.
        patterns: The sequences of stops that vehicles follow.
        trips: The pattern and the starts (seconds of its service day) of every trip, by the index
            of its service and its id; no starts where several vehicles are on their way at once, so
            that the time does not tell where one is.
        services: The days of every service, in days since 1970; None for one of a feed without a
            calendar, which runs every day.
    """

    stops: tuple[str, ...]
    lon: FloatArray
    lat: FloatArray
    station: IntArray
    routes: tuple[str, ...]
    gated: tuple[bool, ...]
    patterns: tuple["Pattern", ...]
    trips: dict[tuple[int, str], tuple[int, tuple[int, ...]]]
    services: tuple[frozenset[int] | None, ...]

    def services_on(self, day: int) -> tuple[int, ...]:
        """Returns the indices of the services of a day."""
        numbered = enumerate(self.services)
        return tuple(number for number, days in numbered if days is None or day in days)


@public_facts
@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A sequence of stops that vehicles of a line follow.

    Attributes:
        route: Index of the line.
        stops: Indices of the stops, in the order of travel.
        seconds: From the departure at the first to each, on average over its trips.
        services: Indices of the services of its trips.
    """

    route: int
    stops: tuple[int, ...]
    seconds: tuple[int, ...]
    services: frozenset[int]


@dataclass
class _Feeds:
    """What was read of some feeds so far; indices are places in these lists."""

    stops: dict[str, int] = field(default_factory=dict)
    points: list[tuple[float, float]] = field(default_factory=list)
    station: list[int] = field(default_factory=list)
    gated: dict[str, bool] = field(default_factory=dict)
    services: list[frozenset[int] | None] = field(default_factory=list)
    times: dict[tuple[int, tuple[int, ...]], list[IntArray]] = field(default_factory=dict)
    served: dict[tuple[int, tuple[int, ...]], set[int]] = field(default_factory=dict)
    trips: dict[tuple[int, str], tuple[int, tuple[int, ...]]] = field(default_factory=dict)


def read_timetable(*paths: Path) -> Timetable:
    """Reads the lines of feeds, of all days that they cover.

    Stops and lines of the same id are the same: feeds of one agency that follow each other, or of
    agencies whose ids differ.
    """
    feeds = _Feeds()
    for path in paths:
        if not path.is_dir():
            refuse_unfit_archive(path)
        _add_stops(feeds, path)
        _add_trips(feeds, path)
    lon, lat = np.array(feeds.points, dtype=np.float64).reshape(-1, 2).T
    return Timetable(
        stops=tuple(feeds.stops),
        lon=lon,
        lat=lat,
        station=np.array(feeds.station, dtype=np.int64),
        routes=tuple(feeds.gated),
        gated=tuple(feeds.gated.values()),
        patterns=tuple(
            Pattern(
                route=route,
                stops=stops,
                seconds=tuple(np.mean(times, axis=0).astype(int).tolist()),
                services=frozenset(feeds.served[route, stops]),
            )
            for (route, stops), times in feeds.times.items()
        ),
        trips=feeds.trips,
        services=tuple(feeds.services),
    )


def _add_stops(feeds: _Feeds, path: Path) -> None:
    stops = feed_columns(
        path, "stops.txt", ("stop_id",), ("stop_lon", "stop_lat", "parent_station")
    )
    points = np.column_stack([_numbers(stops["stop_lon"]), _numbers(stops["stop_lat"])]).tolist()
    for stop, point in zip(stops["stop_id"], points, strict=True):
        number = feeds.stops.setdefault(stop, len(feeds.stops))
        if number == len(feeds.points):
            feeds.points.append(point)
            feeds.station.append(number)
        elif _far_apart(point, feeds.points[number]):
            raise GeographyError(
                f"The stop {stop!r} of {path.name} has another place than in a feed before it.",
                advice="Give ids of agencies a prefix each, in the feeds and in the taps.",
            )
    for stop, parent in zip(stops["stop_id"], stops["parent_station"], strict=True):
        number = feeds.stops[stop]
        feeds.station[number] = feeds.stops.get(parent, number)


def _far_apart(one: Sequence[float], other: Sequence[float]) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) > _SAME_STOP_DEGREES


def _add_trips(feeds: _Feeds, path: Path) -> None:
    """Adds the sequences of stops that trips follow, and which one each follows from when."""
    routes = feed_columns(path, "routes.txt", ("route_id",), ("route_type",))
    for route, kind in zip(routes["route_id"], routes["route_type"], strict=True):
        feeds.gated.setdefault(route, kind in _BEHIND_GATES)
    lines = {route: number for number, route in enumerate(feeds.gated)}
    services, otherwise = _add_services(feeds, path)
    runs = feed_columns(path, "trips.txt", ("trip_id", "route_id", "service_id"))
    of = {
        trip: (lines.get(name, -1), services.get(service, otherwise))
        for trip, name, service in zip(*runs.values(), strict=True)
    }
    keys = {key: number for number, key in enumerate(feeds.times)}
    spans = _spans(path)
    for trip, stops, seconds in _calls(path, feeds.stops):
        line, service = of.get(trip, (-1, -1))
        if min(line, service) < 0 or len(stops) < 2:  # noqa: PLR2004
            continue
        key = (line, tuple(stops.tolist()))
        number = keys.setdefault(key, len(keys))
        feeds.times.setdefault(key, []).append(seconds - seconds[0])
        feeds.served.setdefault(key, set()).add(service)
        first, last = seconds[[0, -1]].tolist()
        starts = _starts(spans[trip], last - first) if trip in spans else (first,)
        feeds.trips[service, trip] = number, starts


def _add_services(feeds: _Feeds, path: Path) -> tuple[dict[str, int], int]:
    """Returns the index of every service of a feed, and of those that its calendar lacks."""
    days, first = read_calendar(path), len(feeds.services)
    if days is None:
        feeds.services.append(None)
        return {}, first
    feeds.services.extend(days.values())
    return {service: first + number for number, service in enumerate(days)}, -1


_Span = tuple[int, int, int, bool]


def _spans(path: Path) -> dict[str, list[_Span]]:
    """Returns from when to when trips run how often, and whether to the second, if a feed does.

    Raises:
        GeographyError: A time is none, or a trip does not come again.
    """
    if not has_part(path, "frequencies.txt"):
        return {}
    named = ("trip_id", "start_time", "end_time", "headway_secs")
    table = feed_columns(path, "frequencies.txt", named, ("exact_times",))
    spans: dict[str, list[_Span]] = {}
    for trip, start, end, headway, exact in zip(*table.values(), strict=True):
        first, last = _second(start), _second(end)
        every = int(headway) if headway.strip().isdigit() else 0
        if min(first, last) < 0 or every == 0:
            raise GeographyError(
                f"The frequencies.txt of {path.name} has a trip that nobody can tell how often it "
                "runs.",
                advice="Write times as HH:MM:SS, and headway_secs as a whole number above 0.",
            )
        spans.setdefault(trip, []).append((first, last, every, exact.strip() == "1"))
    return spans


def _starts(spans: list[_Span], takes_s: int) -> tuple[int, ...]:
    """Returns when a trip starts; nothing unless one vehicle has come before the next one goes."""
    starts = sorted({at for first, last, every, _ in spans for at in range(first, last, every)})
    apart = all(later - sooner >= takes_s for sooner, later in pairwise(starts))
    return tuple(starts) if apart and all(exact for *_, exact in spans) else ()


def _calls(path: Path, index: dict[str, int]) -> list[tuple[str, IntArray, IntArray]]:
    """Returns the stops of every trip with the seconds at which it calls, in order."""
    needed = ("trip_id", "stop_id", "stop_sequence")
    table = feed_table(path, "stop_times.txt", needed, ("arrival_time", "departure_time"))
    times = pc.if_else(
        pc.equal(table["departure_time"], ""), table["arrival_time"], table["departure_time"]
    )
    table = table.append_column("seconds", pa.array(_seconds(times)))
    position = pc.cast(table["stop_sequence"], pa.int64())
    table = table.set_column(table.schema.get_field_index("stop_sequence"), "position", position)
    table = table.sort_by([("trip_id", "ascending"), ("position", "ascending")])
    stops = np.array([index.get(stop, -1) for stop in table["stop_id"].to_pylist()])
    seconds = table["seconds"].to_numpy()
    trips = table["trip_id"].combine_chunks().dictionary_encode()
    codes = trips.indices.to_numpy()
    bounds = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
    names = trips.dictionary.to_pylist()
    return [
        (names[codes[low]], stops[low:high][known], _filled(seconds[low:high])[known])
        for low, high in pairwise(bounds)
        if high > low
        for known in [stops[low:high] >= 0]
    ]


def _filled(seconds: IntArray) -> IntArray:
    """Returns times with those that the feed leaves out spread evenly between the others."""
    known = np.flatnonzero(seconds != _NO_TIME)
    if len(known) in (0, len(seconds)):
        return seconds
    return np.interp(np.arange(len(seconds)), known, seconds[known]).astype(np.int64)


def _seconds(times: pa.ChunkedArray) -> IntArray:
    """Returns times such as 25:30:00 in seconds; -1 where there is none."""
    encoded = times.combine_chunks().dictionary_encode()
    known = np.array([_second(text) for text in encoded.dictionary.to_pylist()], dtype=np.int64)
    return np.asarray(known[encoded.indices.to_numpy()])


def _second(text: str) -> int:
    parts = text.strip().split(":")
    if len(parts) != 3 or not all(part.isdigit() for part in parts):  # noqa: PLR2004
        return _NO_TIME
    hours, minutes, seconds = map(int, parts)
    return (hours * 60 + minutes) * 60 + seconds


def _numbers(texts: Sequence[str]) -> FloatArray:
    """Returns degrees; nothing where a station or stop has none."""
    return np.array([float(text) if text.strip() else np.nan for text in texts])
