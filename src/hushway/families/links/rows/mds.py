"""Traces in the trips of the Mobility Data Specification, as scooter and bicycle fleets give them.

Each file is an answer of the trips endpoint: trips under "data" or at the top, each with the points
of its route and a timestamp in milliseconds at each.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from hushway.families.links.rows.traces_rows import (
    Position,
    as_degrees,
    as_id,
    table_of,
    trace_files,
    unreadable,
)
from hushway.tables.clock import Clock
from hushway.tables.json_text import json_facts

_ENDING = ".json"
_US_PER_MS = 1000
_MOST_MS = (1 << 63) // _US_PER_MS - 1


@dataclass(frozen=True)
class MdsTraces:
    """The protected traces: a JSON file of MDS trips, or a folder of them with its subfolders.

    Privacy:
        MDS names devices, not riders. The unit that is protected is a device: whoever rides many of
        them is protected on each alone.

    Attributes:
        path: The file or the folder.
    """

    path: Path | str
    # Milliseconds since 1970 are instants.
    clock: ClassVar[Clock] = "instant"
    noun: ClassVar[str] = "traces"


def read_mds(source: MdsTraces) -> pa.Table:
    """Returns the positions of all files: (person, trip, us, timed, lon, lat).

    The person is the trip's `device_id`, or its `vehicle_id` if it has none but blanks.

    Raises:
        DataError: There is no file, or one cannot be read.
    """
    positions: list[Position] = []
    for file in trace_files(source.path, _ENDING):
        positions += _positions(file.path)
    return table_of(positions)


def _positions(path: Path) -> list[Position]:
    why = "it is not JSON in Unicode"
    try:
        answer = json_facts(path.read_bytes())
    except OSError:
        why = "it cannot be opened"
    except (ValueError, RecursionError):
        pass
    else:
        why = "it does not hold trips with routes of points"
        try:
            return [position for trip in _trips(answer) for position in _route(trip)]
        except (KeyError, TypeError, AttributeError, IndexError, ValueError):
            pass
    # Raised out here so that the original error, which quotes the file, is not its context.
    raise unreadable("MDS", why)


def _trips(answer: Any) -> list[Any]:
    if isinstance(answer, list):
        return answer
    trips: list[Any] = answer["data"]["trips"] if "data" in answer else answer["trips"]
    return trips


def _route(trip: Any) -> Iterator[Position]:
    owner = as_id(trip.get("device_id")) or as_id(trip.get("vehicle_id"))
    for feature in trip["route"]["features"]:
        lon, lat = feature["geometry"]["coordinates"][:2]
        time = feature["properties"].get("timestamp")
        yield Position(
            person=owner,
            trip=str(trip["trip_id"]),
            us=_microseconds(time),
            timed=time is not None,
            lon=as_degrees(lon),
            lat=as_degrees(lat),
        )


def _microseconds(time: Any) -> int | None:
    if isinstance(time, bool) or not isinstance(time, int | float):
        return None
    return int(time * _US_PER_MS) if abs(time) <= _MOST_MS else None
