"""Positions of formats that are no tables, as the rows of a table."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from hushway.errors import DataError

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
