"""Traces in files of devices and fleets: GPX, and trips of the Mobility Data Specification.

A file in a subfolder belongs to the person that the first subfolder is named after; a file outside
of any belongs to the person that it is named after. So a folder may hold one file for each person,
or one folder. Every segment of a track is a trip; routes and waypoints are no traces.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from xml.parsers.expat import ExpatError, ParserCreate

import pyarrow as pa

from hushway.errors import DataError
from hushway.tables.geojson import json_facts
from hushway.tables.layout import Clock

# Traces in the trips of the Mobility Data Specification, as scooter and bicycle fleets give them.
#
# Each file is an answer of the trips endpoint: trips under "data" or at the top, each with the
# points of its route and a timestamp in milliseconds at each.

_SCHEMA = pa.schema(
    {
        "person": pa.string(),
        "trip": pa.string(),
        "us": pa.int64(),
        "timed": pa.bool_(),
        "lon": pa.float64(),
        "lat": pa.float64(),
    }
)


class Position(NamedTuple):
    """One position, with None for what is missing.

    Attributes:
        person: Whose it is.
        trip: Of which trip.
        us: When: microseconds since 1970, UTC; None also if the time cannot be understood.
        timed: Whether there was a time.
        lon: Longitude in degrees; NaN if it is no number.
        lat: Latitude, likewise.
    """

    person: str | None
    trip: str | None
    us: int | None
    timed: bool
    lon: float | None
    lat: float | None


@dataclass(frozen=True, kw_only=True)
class TraceFile:
    """A file and where it was looked for.

    Attributes:
        path: The file.
        inside: Its name from the folder that was searched.
    """

    path: Path
    inside: Path


def trace_files(path: Path | str, ending: str) -> list[TraceFile]:
    """Returns a file, or the files of a folder and its subfolders, in a fixed order.

    Raises:
        DataError: There are none, or something among them is no file.
    """
    place = Path(path)
    if place.is_dir():
        inside = sorted(file.relative_to(place) for file in place.rglob(f"*{ending}"))
        visible = [file for file in inside if not any(p.startswith(".") for p in file.parts)]
        found = [TraceFile(path=place / file, inside=file) for file in visible]
        if not all(file.path.is_file() for file in found):
            # A pipe would be waited for, perhaps for ever. Names of files are often people's.
            raise DataError(
                f"Something at {path} that ends in {ending} is not a file.",
                advice="Leave nothing but files and folders of files there.",
            )
    else:
        found = [TraceFile(path=place, inside=Path(place.name))] if place.is_file() else []
    if not found:
        raise DataError(
            f"There are no traces at {path}.",
            advice=f"Name a {ending} file, or a folder of them.",
        )
    return found


def unreadable(form: str, why: str) -> DataError:
    """Returns the error of a damaged file, without its name: it is often somebody's."""
    return DataError(
        f"A {form} file of traces cannot be read: {why}.",
        advice=f"Check that every file is whole, and {form}.",
    )


def table_of(positions: Iterable[Position]) -> pa.Table:
    """Returns positions as a table, with a column for each part."""
    rows = list(positions)
    columns = zip(*rows, strict=True) if rows else ((),) * len(_SCHEMA)
    pairs = zip(columns, _SCHEMA, strict=True)
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in pairs], schema=_SCHEMA
    )


def as_id(value: object) -> str | None:
    """Returns what was written for an id, as text; None if it is missing or made of blanks."""
    text = "" if value is None else str(value)
    return text if text.strip() else None


def as_degrees(value: object) -> float | None:
    """Returns what was written for a longitude or latitude; NaN if it is no number."""
    if value is None:
        return None
    try:
        return float(value) if isinstance(value, str | int | float) else float("nan")
    except (ValueError, OverflowError):
        return float("nan")


_MDS_ENDING = ".json"
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
    clock: ClassVar[Clock] = "utc"
    noun: ClassVar[str] = "traces"


def read_mds(source: MdsTraces) -> pa.Table:
    """Returns the positions of all files: (person, trip, us, timed, lon, lat).

    The person is the trip's `device_id`, or its `vehicle_id` if it has none but blanks.

    Raises:
        DataError: There is no file, or one cannot be read.
    """
    positions: list[Position] = []
    for file in trace_files(source.path, _MDS_ENDING):
        positions += _mds_positions(file.path)
    return table_of(positions)


def _mds_positions(path: Path) -> list[Position]:
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
            us=_mds_microseconds(time),
            timed=time is not None,
            lon=as_degrees(lon),
            lat=as_degrees(lat),
        )


def _mds_microseconds(time: Any) -> int | None:
    if isinstance(time, bool) or not isinstance(time, int | float):
        return None
    return int(time * _US_PER_MS) if abs(time) <= _MOST_MS else None


_ENDING = ".gpx"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class GpxTraces:
    """The protected traces: a GPX file, or a folder of them, searched with its subfolders.

    Attributes:
        path: The file or the folder.
    """

    path: Path | str
    # GPX writes times in UTC, or with an offset.
    clock: ClassVar[Clock] = "utc"
    noun: ClassVar[str] = "traces"


def read_gpx(source: GpxTraces) -> pa.Table:
    """Returns the positions of all files: (person, trip, us, timed, lon, lat).

    Raises:
        DataError: There is no file, or one cannot be read.
    """
    positions: list[Position] = []
    for file in trace_files(source.path, _ENDING):
        positions += _positions(file)
    return table_of(positions)


def _positions(file: TraceFile) -> list[Position]:
    reader = _GpxReader(file)
    why = "it is not well-formed XML"
    try:
        with file.path.open("rb") as opened:
            reader.parse(opened.read())
    except OSError:
        why = "it cannot be opened"
    except (ExpatError, LookupError, ValueError):
        if reader.declares:
            why = "it declares a document type, which may hide much else"
    else:
        if reader.is_gpx:
            return reader.positions
        why = "it has no gpx element"
    # Raised out here so that the original error, which may quote the file, is not its context.
    raise unreadable("GPX", why)


class _GpxReader:
    """Collects the track points of one file.

    A declaration of a document type is refused at sight: without one there are no entities that
    could grow, or be fetched from elsewhere.
    """

    def __init__(self, file: TraceFile) -> None:
        self.positions: list[Position] = []
        self.declares = False
        self.is_gpx = False
        folders = file.inside.parts[:-1]
        self._person = as_id(folders[0] if folders else file.path.stem)
        self._name = file.inside.as_posix()
        self._segment = 0
        self._point: dict[str, str] | None = None
        self._time: list[str] | None = None
        self._text: list[str] | None = None

    def parse(self, data: bytes) -> None:
        parser = ParserCreate(namespace_separator=" ")
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._read
        parser.Parse(data, True)

    def _refuse(self, *_: object) -> None:
        self.declares = True
        raise ValueError

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        match name.rpartition(" ")[2]:
            case "gpx":
                self.is_gpx = True
            case "trkseg":
                self._segment += 1
            case "trkpt":
                self._point, self._time = attributes, None
            case "time" if self._point is not None:
                self._text = []

    def _read(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, name: str) -> None:
        match name.rpartition(" ")[2]:
            case "time" if self._text is not None:
                self._time, self._text = self._text, None
            case "trkpt" if self._point is not None:
                text = "".join(self._time or []).strip()
                self.positions.append(
                    Position(
                        person=self._person,
                        trip=f"{self._name} {self._segment}",
                        us=_microseconds(text),
                        timed=bool(text),
                        lon=as_degrees(self._point.get("lon")),
                        lat=as_degrees(self._point.get("lat")),
                    )
                )
                self._point = None


def _microseconds(text: str) -> int | None:
    """Returns a time as microseconds since 1970; None without an offset: nobody knows when it was.

    GPX asks for UTC, which is written Z.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if time.tzinfo is None else (time - _EPOCH) // _MICROSECOND
