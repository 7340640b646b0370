"""Traces in GPX files.

A file in a subfolder belongs to the person that the first subfolder is named after; a file outside
of any belongs to the person that it is named after. So a folder may hold one file for each person,
or one folder. Every segment of a track is a trip; routes and waypoints are no traces.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar
from xml.parsers.expat import ExpatError, ParserCreate

import pyarrow as pa

from hushway.errors import DataError
from hushway.tables.header import Clock
from hushway.tables.row_files import FoundFile, files_ending_in, id_or_none, table_of_rows

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
_Position = tuple[str | None, str, int | None, bool, float | None, float | None]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class GpxTraces:
    """The protected traces: a GPX file, or a folder of them, searched with its subfolders."""

    path: Path | str
    # GPX writes times in UTC, or with an offset.
    clock: ClassVar[Clock] = "utc"
    noun: ClassVar[str] = "traces"


def read_gpx(source: GpxTraces) -> pa.Table:
    """Returns the positions of all files.

    A time that cannot be understood is null, and a longitude or latitude that is no number is NaN.
    """
    files = files_ending_in(source.path, ".gpx", source.noun)
    return table_of_rows(_SCHEMA, [position for file in files for position in _positions(file)])


def _positions(file: FoundFile) -> list[_Position]:
    reader = _GpxReader(file)
    why = "it is not well-formed XML"
    try:
        reader.parse(file.path.read_bytes())
    except OSError:
        why = "it cannot be opened"
    except (ExpatError, LookupError, ValueError):
        if reader.declares:
            why = "it declares a document type (DTD), which is never read"
    else:
        if reader.is_gpx:
            return reader.positions
        why = "it has no gpx element"
    # Raised out here so that the original error, which may quote the file, is not its context. The
    # name of the file is often somebody's, so it is not told.
    raise DataError(
        f"A GPX file of traces cannot be read: {why}.",
        advice="Check that every file is whole, and GPX.",
    )


class _GpxReader:
    """Collects the track points of one file.

    A declaration of a document type is refused at sight: without one there are no entities that
    could grow, or be fetched from elsewhere.
    """

    def __init__(self, file: FoundFile) -> None:
        self.positions: list[_Position] = []
        self.declares = False
        self.is_gpx = False
        folders = file.inside.parts[:-1]
        self._person = id_or_none(folders[0] if folders else file.path.stem)
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
                lon, lat = (_degrees(self._point.get(axis)) for axis in ("lon", "lat"))
                trip = f"{self._name} {self._segment}"
                position = (self._person, trip, _microseconds(text), bool(text), lon, lat)
                self.positions.append(position)
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


def _degrees(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return float("nan")
