"""Trips of MDS, the Mobility Data Specification, as scooter and bicycle fleets give them.

Each file is an answer of the trips endpoint: trips under "data" or at the top. The person is the
trip's `device_id`, or its `vehicle_id` if it has none but blanks.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from hushway.errors import DataError
from hushway.tables.geojson import json_facts
from hushway.tables.row_files import files_ending_in, id_or_none, table_of_rows

_US_PER_MS = 1000
_MOST_MS = (1 << 63) // _US_PER_MS - 1
_OWNED = {"person": pa.string(), "trip_id": pa.string(), "us": pa.int64(), "timed": pa.bool_()}
_ENDS = ("origin_lon", "origin_lat", "destination_lon", "destination_lat")
_TRIPS = pa.schema(_OWNED | dict.fromkeys(_ENDS, pa.float64()))
_POSITIONS = pa.schema(_OWNED | dict.fromkeys(("lon", "lat"), pa.float64()))

# The values of one row, with None for what is missing, in the order of the columns.
_Row = tuple[Any, ...]


def read_mds_trips(path: Path | str) -> pa.Table:
    """Returns the trips of a JSON file, or of all in a folder and its subfolders.

    The ends are `start_location` and `end_location` of MDS 2, or the first and the last point of
    the route of MDS 1.
    """
    why = "it does not hold trips with places of start and end, or with routes"
    return table_of_rows(_TRIPS, _rows(path, "trips", _trip, why))


def read_mds_positions(path: Path | str) -> pa.Table:
    """Returns the points of all routes of a JSON file, or of all in a folder and its subfolders."""
    why = "it does not hold trips with routes of points"
    rows = table_of_rows(_POSITIONS, _rows(path, "traces", _points, why))
    return rows.rename_columns({"trip_id": "trip"})


def _rows(
    path: Path | str, noun: str, rows_of: Callable[[Any], Iterator[_Row]], misfit: str
) -> Iterator[_Row]:
    for file in files_ending_in(path, ".json", noun):
        rows = _rows_or_reason(file.path, rows_of, misfit)
        # Raised out here so that the original error, which quotes the file, is not its context.
        if isinstance(rows, str):
            raise DataError(
                f"An MDS file of {noun} cannot be read: {rows}.",
                advice="Check that every file is whole, and an answer with trips.",
            )
        yield from rows


def _rows_or_reason(
    file: Path, rows_of: Callable[[Any], Iterator[_Row]], misfit: str
) -> list[_Row] | str:
    try:
        answer = json_facts(file.read_bytes())
    except OSError:
        return "it cannot be opened"
    except (ValueError, RecursionError):
        return "it is not JSON in Unicode"
    try:
        return [row for trip in _listed(answer) for row in rows_of(trip)]
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):
        return misfit


def _listed(answer: Any) -> Any:
    if isinstance(answer, list):
        return answer
    return answer["data"]["trips"] if "data" in answer else answer["trips"]


def _trip(trip: Any) -> Iterator[_Row]:
    if "route" in trip and "start_location" not in trip:
        features = trip["route"]["features"]
        first, last = (features[at]["geometry"]["coordinates"] for at in (0, -1))
        ends = (first[0], first[1], last[0], last[1])
    else:
        places = (trip["start_location"], trip["end_location"])
        ends = tuple(place.get(axis) for place in places for axis in ("lng", "lat"))
    owned = _owned(trip, id_or_none(trip.get("trip_id")), trip.get("start_time"))
    yield (*owned, *map(_degrees, ends))


def _points(trip: Any) -> Iterator[_Row]:
    for feature in trip["route"]["features"]:
        lon, lat = feature["geometry"]["coordinates"][:2]
        time = feature["properties"].get("timestamp")
        yield (*_owned(trip, str(trip["trip_id"]), time), _degrees(lon), _degrees(lat))


def _owned(trip: Any, trip_id: str | None, time: Any) -> _Row:
    owner = id_or_none(trip.get("device_id")) or id_or_none(trip.get("vehicle_id"))
    return owner, trip_id, _microseconds(time), time is not None


def _degrees(value: Any) -> float | None:
    """Returns a number of degrees; NaN for what is no number."""
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        return float(value) if number else float("nan")
    except OverflowError:
        return float("nan")


def _microseconds(time: Any) -> int | None:
    if isinstance(time, bool) or not isinstance(time, int | float):
        return None
    return int(time * _US_PER_MS) if abs(time) <= _MOST_MS else None
