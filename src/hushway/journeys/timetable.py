"""What chaining needs to know of a public timetable (GTFS): who calls where, and how long it takes.

Read with Arrow: of a feed's `stop_times.txt` of millions of lines only four columns are needed.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from hushway.arrays import FloatArray, IntArray
from hushway.errors import GeographyError
from hushway.privacy.public_facts import public_facts
from hushway.tables.gtfs_feed import feed_part
from hushway.tables.unpacking import refuse_unfit_archive

_ADVICE: Final = "Trip chaining needs stops, routes, trips and stop times of one feed."
# Types of routes whose stations have gates, behind which people change lines unseen.
_BEHIND_GATES: Final = ("1", "2", "12")
_NO_TIME: Final = -1


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class Timetable:
    """The lines of a feed and their stops.

    Attributes:
        stops: The ids of the feed's stops and stations.
        lon: Their longitudes.
        lat: Their latitudes.
        station: The index of the station of each stop; its own where it has none.
        routes: The ids of the lines.
        gated: Whether each line runs behind gates.
        patterns: The route of each sequence of stops that vehicles follow, the stops, and
            the seconds from the first to each.
        trips: The pattern and the start (seconds of its service day) of every trip, by its id.
    """

    stops: tuple[str, ...]
    lon: FloatArray
    lat: FloatArray
    station: IntArray
    routes: tuple[str, ...]
    gated: tuple[bool, ...]
    patterns: tuple["Pattern", ...]
    trips: dict[str, tuple[int, int]]


@public_facts
@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A sequence of stops that vehicles of a line follow.

    Attributes:
        route: Index of the line.
        stops: Indices of the stops, in the order of travel.
        seconds: From the departure at the first to each, on average over its trips.
    """

    route: int
    stops: tuple[int, ...]
    seconds: tuple[int, ...]


def read_timetable(path: Path) -> Timetable:
    """Reads the lines of a feed, of all days that it covers."""
    if not path.is_dir():
        refuse_unfit_archive(path)
    stops = _columns(path, "stops.txt", ("stop_id",), ("stop_lon", "stop_lat", "parent_station"))
    routes = _columns(path, "routes.txt", ("route_id",), ("route_type",))
    runs = _columns(path, "trips.txt", ("trip_id", "route_id"))
    index = {stop: number for number, stop in enumerate(stops["stop_id"])}
    patterns, trips = _patterns(path, index, routes["route_id"], runs)
    return Timetable(
        stops=tuple(stops["stop_id"]),
        lon=_numbers(stops["stop_lon"]),
        lat=_numbers(stops["stop_lat"]),
        station=np.array(
            [index.get(p, own) for own, p in enumerate(stops["parent_station"])], dtype=np.int64
        ),
        routes=tuple(routes["route_id"]),
        gated=tuple(kind in _BEHIND_GATES for kind in routes["route_type"]),
        patterns=patterns,
        trips=trips,
    )


def _patterns(
    path: Path, index: dict[str, int], routes: Sequence[str], runs: dict[str, list[str]]
) -> tuple[tuple[Pattern, ...], dict[str, tuple[int, int]]]:
    """Returns the sequences of stops that trips follow, and which one each follows from when."""
    route_index = {route: number for number, route in enumerate(routes)}
    route_of = dict(zip(runs["trip_id"], runs["route_id"], strict=True))
    numbers: dict[tuple[int, tuple[int, ...]], int] = {}
    seen: list[list[IntArray]] = []
    trips: dict[str, tuple[int, int]] = {}
    for trip, stops, seconds in _calls(path, index):
        route = route_index.get(route_of.get(trip, ""))
        if route is None or len(stops) < 2:  # noqa: PLR2004
            continue
        number = numbers.setdefault((route, tuple(stops.tolist())), len(numbers))
        if number == len(seen):
            seen.append([])
        seen[number].append(seconds - seconds[0])
        trips[trip] = number, int(seconds[0])
    patterns = tuple(
        Pattern(
            route=route, stops=stops, seconds=tuple(np.mean(times, axis=0).astype(int).tolist())
        )
        for (route, stops), times in zip(numbers, seen, strict=True)
    )
    return patterns, trips


def _calls(path: Path, index: dict[str, int]) -> list[tuple[str, IntArray, IntArray]]:
    """Returns the stops of every trip with the seconds at which it calls, in order."""
    needed = ("trip_id", "stop_id", "stop_sequence")
    table = _table(path, "stop_times.txt", needed, ("arrival_time", "departure_time"))
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


def _columns(
    path: Path, name: str, needed: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, list[str]]:
    table = _table(path, name, needed, optional)
    return {column: table[column].to_pylist() for column in (*needed, *optional)}


def _table(path: Path, name: str, needed: tuple[str, ...], optional: tuple[str, ...]) -> pa.Table:
    """Returns columns of a file of the feed as text; optional ones that are missing are empty."""
    content = feed_part(path, name, advice=_ADVICE)
    wanted = (*needed, *optional)
    try:
        header = pcsv.open_csv(io.BytesIO(content)).schema.names
        given = [column for column in wanted if column in header]
        table = pcsv.read_csv(
            io.BytesIO(content),
            convert_options=pcsv.ConvertOptions(
                include_columns=given,
                column_types=dict.fromkeys(given, pa.string()),
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        raise GeographyError(f"The {name} of {path.name} cannot be read.", advice=_ADVICE) from None
    missing = [column for column in needed if column not in given]
    if missing:
        raise GeographyError(
            f"The {name} of {path.name} has no column {', '.join(missing)}.",
            advice="Give a feed with all columns that GTFS demands.",
        )
    for column in wanted:
        if column not in given:
            table = table.append_column(column, pa.array([""] * len(table), pa.string()))
    return table


def _numbers(texts: Sequence[str]) -> FloatArray:
    """Returns degrees; nothing where a station or stop has none."""
    return np.array([float(text) if text.strip() else np.nan for text in texts])
