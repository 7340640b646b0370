"""Trips of MDS, the Mobility Data Specification: devices, moments and the points of both ends."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from hushway.errors import DataError
from hushway.tables.geojson import json_facts
from hushway.tables.unpacking import refuse_unfit_rows

_ENDING = ".json"
_US_PER_MS = 1000
_MOST_MS = (1 << 63) // _US_PER_MS - 1
_SCHEMA = pa.schema(
    {
        "person": pa.string(),
        "trip_id": pa.string(),
        "us": pa.int64(),
        "timed": pa.bool_(),
        "origin_lon": pa.float64(),
        "origin_lat": pa.float64(),
        "destination_lon": pa.float64(),
        "destination_lat": pa.float64(),
    }
)


class _Trip(NamedTuple):
    """One trip, with None for what is missing, in the order of the columns."""

    person: str | None
    trip_id: str | None
    us: int | None
    timed: bool
    origin_lon: float | None
    origin_lat: float | None
    destination_lon: float | None
    destination_lat: float | None


def read_mds_trips(path: Path | str) -> pa.Table:
    """Returns the trips of a JSON file, or of all in a folder and its subfolders.

    The person is the trip's `device_id`, or its `vehicle_id` if it has none but blanks. The ends
    are `start_location` and `end_location` of MDS 2, or the first and the last point of the route
    of MDS 1.

    Raises:
        DataError: There is no file, or one cannot be read; the message has no file's name.
    """
    trips = [trip for file in _files(Path(path)) for trip in _trips(file)]
    columns = zip(*trips, strict=True) if trips else ((),) * len(_SCHEMA)
    pairs = zip(columns, _SCHEMA, strict=True)
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in pairs], schema=_SCHEMA
    )


def _files(path: Path) -> list[Path]:
    found = sorted(path.rglob(f"*{_ENDING}")) if path.is_dir() else [path]
    if not found or not path.exists():
        raise DataError(
            f"There are no trips at {path}.", advice=f"Name a {_ENDING} file, or a folder of them."
        )
    for file in found:
        refuse_unfit_rows(file, "trips")
    return found


def _trips(file: Path) -> list[_Trip]:
    why = "it is not JSON in Unicode"
    try:
        answer = json_facts(file.read_bytes())
    except OSError:
        why = "it cannot be opened"
    except (ValueError, RecursionError):
        pass
    else:
        why = "it does not hold trips with places of start and end, or with routes"
        try:
            return list(_of_answer(answer))
        except (KeyError, TypeError, AttributeError, IndexError, ValueError):
            pass
    # Raised out here so that the original error, which quotes the file, is not its context.
    raise DataError(
        f"An MDS file of trips cannot be read: {why}.",
        advice="Check that every file is whole, and an answer with trips.",
    )


def _of_answer(answer: Any) -> Iterator[_Trip]:
    listed = answer
    if not isinstance(answer, list):
        listed = answer["data"]["trips"] if "data" in answer else answer["trips"]
    for trip in listed:
        time = trip.get("start_time")
        start, end = _ends(trip)
        yield _Trip(
            _id(trip.get("device_id")) or _id(trip.get("vehicle_id")),
            _id(trip.get("trip_id")),
            _microseconds(time),
            time is not None,
            *start,
            *end,
        )


_Point = tuple[float | None, float | None]


def _ends(trip: Any) -> tuple[_Point, _Point]:
    if "route" in trip and "start_location" not in trip:
        features = trip["route"]["features"]
        first, last = (features[at]["geometry"]["coordinates"] for at in (0, -1))
        return _point(first[0], first[1]), _point(last[0], last[1])
    places = (trip["start_location"], trip["end_location"])
    start, end = (_point(place.get("lng"), place.get("lat")) for place in places)
    return start, end


def _point(lon: Any, lat: Any) -> _Point:
    return _degrees(lon), _degrees(lat)


def _degrees(value: Any) -> float | None:
    """Returns a number of degrees; NaN for what is no number."""
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        return float(value) if number else float("nan")
    except OverflowError:
        return float("nan")


def _id(value: Any) -> str | None:
    text = "" if value is None else str(value)
    return text if text.strip() else None


def _microseconds(time: Any) -> int | None:
    if isinstance(time, bool) or not isinstance(time, int | float):
        return None
    return int(time * _US_PER_MS) if abs(time) <= _MOST_MS else None
