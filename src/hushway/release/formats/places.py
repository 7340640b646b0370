"""The public lists of a release as small CSV files that can be read back exactly."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushway.geography.locations import LOCATION_FACTS, Location, Locations, PlaceLabels
from hushway.geography.periods import Cycle, Periods
from hushway.geography.service_day import DAY_MINUTES, WEEKDAYS, DayPart, DayType, day_type
from hushway.release.untrusted.limits import (
    LIST_BYTES,
    csv_rows,
    guarded,
    read_plain,
    rewritten,
)

_DAY_COLUMNS = (
    "starts",
    "ends",
    "starts_at",
    "ends_at",
    "first_day",
    "last_day",
    "time_zone",
)
# What says which days a period is counted on.
_KIND_COLUMNS: Mapping[Cycle, tuple[str, ...]] = {
    "day": (),
    "week": ("weekday",),
    "day_type": ("day_type", "days", "holidays"),
    "window": ("day",),
}
_PART = "part"
# Only where an average day is published: a release of sums keeps its bytes.
DAYS_COUNTED = "days_counted"

_WHOLE = re.compile(r"-?\d+")
_SPECIAL = re.compile(r'[",\r\n]')
_ROWS_AT_ONCE = 1 << 14


def location_columns(locations: Locations) -> tuple[str, ...]:
    """Returns the columns of places.csv: what every place has, then the further labels."""
    return (*LOCATION_FACTS, *(labels.column for labels in locations.labels))


def period_columns(periods: Periods) -> tuple[str, ...]:
    """Returns the columns of periods.csv; a period of the day has neither weekday nor day."""
    return _period_columns(periods.cycle, named=bool(periods.named), average=periods.average)


def _period_columns(cycle: Cycle, *, named: bool, average: bool) -> tuple[str, ...]:
    part = (_PART,) if named else ()
    divisor = (DAYS_COUNTED,) if average else ()
    return ("period", *_KIND_COLUMNS[cycle], *part, *_DAY_COLUMNS, *divisor)


def locations_csv(locations: Locations) -> bytes:
    """Returns the public places as CSV, in index order."""
    rows = (
        (p.id, p.name, repr(p.lat), repr(p.lon), p.zone, *further)
        for p, further in zip(locations.places, _further(locations), strict=True)
    )
    return csv_bytes(location_columns(locations), rows)


def periods_csv(periods: Periods) -> bytes:
    """Returns the public periods as CSV, in index order, each row with the window of days."""
    window = (periods.first_day.isoformat(), periods.last_day.isoformat(), periods.zone)
    days: list[tuple[str, ...]] = [()]
    if periods.cycle == "week":
        days = [(weekday,) for weekday in WEEKDAYS]
    elif periods.cycle == "window":
        days = [(day.isoformat(),) for day in periods.days]
    elif periods.cycle == "day_type":
        holidays = " ".join(day.isoformat() for day in periods.holidays)
        days = [(each.name, each.members, holidays) for each in periods.day_types]
    parts = [(*((part.name,) if periods.named else ()), *part.clocks) for part in periods.day_parts]
    facts = ((*day, *part) for day in days for part in parts)
    moments = ((start.isoformat(), end.isoformat()) for start, end in periods.moments)
    divisors = ((str(days),) if periods.average else () for days in periods.days_counted)
    rows = (
        (label, *fact, *moment, *window, *divisor)
        for label, fact, moment, divisor in zip(
            periods.labels, facts, moments, divisors, strict=True
        )
    )
    return csv_bytes(period_columns(periods), rows)


def read_locations(data: bytes) -> Locations:
    """Reads the public places back."""
    header, rows = _table("places.csv", data)
    own = len(LOCATION_FACTS)
    if header[:own] != LOCATION_FACTS:
        raise rewritten("places.csv")
    places = tuple(
        Location(id=key, name=name, lat=_degrees(lat), lon=_degrees(lon), zone=zone)
        for key, name, lat, lon, zone in (row[:own] for row in rows)
    )
    labels = tuple(
        PlaceLabels(column=column, values=tuple(row[i] for row in rows))
        for i, column in enumerate(header[own:], start=own)
    )
    locations = Locations(places, labels)
    if locations_csv(locations) != data:
        raise rewritten("places.csv")
    return locations


def read_periods(data: bytes) -> Periods:
    """Reads the public periods back."""
    header, rows = _table("periods.csv", data)
    forms = {
        _period_columns(cycle, named=named, average=average): (cycle, named, average)
        for cycle in _KIND_COLUMNS
        for named in (False, True)
        for average in (False, True)
    }
    if header not in forms or not rows:
        raise rewritten("periods.csv")
    cycle, named, average = forms[header]
    every = [dict(zip(header, row, strict=True)) for row in rows]
    first, parts = every[0], _parts(every, named=named)
    types = _types(every) if cycle == "day_type" else ()
    periods = Periods(
        zone=first["time_zone"],
        first_day=date.fromisoformat(first["first_day"]),
        last_day=date.fromisoformat(first["last_day"]),
        opens=_minutes(first["starts"]),
        closes=parts[-1].ends,
        minutes=0 if named else parts[0].minutes,
        cycle=cycle,
        named=parts if named else (),
        day_types=types,
        holidays=tuple(map(date.fromisoformat, first["holidays"].split())) if types else (),
        average=average,
    )
    # A few bytes can claim a window of centuries: count its periods before writing them all.
    if len(periods) != len(rows) or periods_csv(periods) != data:
        raise rewritten("periods.csv")
    return periods


def published_places(folder: Path) -> Locations:
    """Reads places.csv of a release, which may be a stranger's.

    Raises:
        ReleaseError: It is not as hushway writes it, or larger than it may be.
    """
    return read_locations(read_plain(folder / "places.csv", LIST_BYTES))


def published_periods(folder: Path) -> Periods:
    """Reads periods.csv of a release likewise.

    Raises:
        ReleaseError: It is not as hushway writes it, or larger than it may be.
    """
    return read_periods(read_plain(folder / "periods.csv", LIST_BYTES))


def _parts(rows: Sequence[Mapping[str, str]], *, named: bool) -> tuple[DayPart, ...]:
    """Returns the parts of the day: those of the first kind of days, which others repeat.

    A clock that shows less than before has passed midnight.
    """
    parts: dict[str, DayPart] = {}
    clock = 0
    for row in rows:
        name = row[_PART] if named else row["starts"]
        if name in parts:
            break
        starts = _not_before(clock, _minutes(row["starts"]))
        clock = _not_before(starts + 1, _minutes(row["ends"]))
        parts[name] = DayPart(name=name, starts=starts, ends=clock)
    return tuple(parts.values())


def _not_before(minute: int, clock: int) -> int:
    return clock if clock >= minute else clock + DAY_MINUTES


def _types(rows: Sequence[Mapping[str, str]]) -> tuple[DayType, ...]:
    members = {row["day_type"]: row["days"].split() for row in rows}
    return tuple(day_type(name, days) for name, days in members.items())


def csv_bytes(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Returns a small table as CSV with a header and plain newlines.

    What a spreadsheet would run gets a quote in front.
    """
    return b"".join(csv_parts(columns, rows))


def csv_parts(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[bytes]:
    """Yields what `csv_bytes` returns, some rows at a time."""
    lines = (_line(row) for row in chain([columns], rows))
    while part := "".join(islice(lines, _ROWS_AT_ONCE)):
        yield part.encode()


def _line(row: Iterable[str]) -> str:
    # Python's own writer leaves a carriage return bare in some versions, and readers end a line
    # there.
    line = ",".join(map(_cell, row))
    return f"{line}\n" if line else '""\n'


def _cell(text: str) -> str:
    text = guarded(text)
    if not _SPECIAL.search(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _table(name: str, data: bytes) -> tuple[tuple[str, ...], list[list[str]]]:
    header, *rows = csv_rows(name, data)
    return tuple(header), rows


def _further(locations: Locations) -> Iterable[tuple[str, ...]]:
    if not locations.labels:
        return ((),) * len(locations)
    return zip(*(labels.values for labels in locations.labels), strict=True)


def _degrees(text: str) -> float:
    # A whole number stays whole: the digest of the places tells 5 from 5.0.
    return int(text) if _WHOLE.fullmatch(text) else float(text)


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def free_name(name: str, taken: Container[str]) -> str:
    """Returns a name that no other column has: the name itself, or with a number behind it."""
    numbered = (f"{name} ({number})" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)


# Between numpy and Arrow, by sharing memory.
#
# `pyarrow.array` and `to_numpy` would load pandas first, which takes longer than a verification.

_KINDS: dict[Any, Any] = {
    np.dtype(np.int32): pa.int32(),
    np.dtype(np.int64): pa.int64(),
    np.dtype(np.float64): pa.float64(),
}


def required_columns(*columns: tuple[str, pa.DataType]) -> pa.Schema:
    """Returns a schema of columns in which nothing is missing."""
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns])


def number_array(numbers: NDArray[Any]) -> pa.Array:
    """Returns numbers as an Arrow array."""
    plain = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(_KINDS[plain.dtype], len(plain), [None, pa.py_buffer(plain)])


def optional_array(numbers: NDArray[Any], present: NDArray[np.bool_]) -> pa.Array:
    """Returns numbers as an Arrow array in which some are missing."""
    plain = np.ascontiguousarray(numbers)
    buffers = [_bits(present), pa.py_buffer(plain)]
    return pa.Array.from_buffers(_KINDS[plain.dtype], len(plain), buffers)


def nullable_array(numbers: NDArray[Any]) -> pa.Array:
    """Returns numbers as an Arrow array in which NaN is missing."""
    return optional_array(numbers, ~np.isnan(numbers))


def optional_texts(texts: Sequence[str]) -> pa.Array:
    """Returns texts as an Arrow array in which empty ones are missing."""
    _, ends, letters = text_array(texts).buffers()
    present = _bits(np.array([bool(text) for text in texts], dtype=np.bool_))
    return pa.StringArray.from_buffers(len(texts), ends, letters, present)


def _bits(present: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(present, bitorder="little"))


def text_array(texts: Sequence[str]) -> pa.Array:
    """Returns texts as an Arrow array."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)]).astype(np.int32)
    return pa.StringArray.from_buffers(
        len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))
    )


def numbers_of(column: pa.Array) -> NDArray[Any]:
    """Returns the numbers of an Arrow array without missing values."""
    kind = column.type.to_pandas_dtype()
    whole = np.frombuffer(column.buffers()[1] or b"", dtype=kind)
    return whole[column.offset : column.offset + len(column)]


def numbers_or(column: pa.Array, missing: float) -> NDArray[Any]:
    """Returns the numbers of an Arrow array, with another number where one is missing."""
    numbers = numbers_of(column)
    if not column.null_count:
        return numbers
    bits = np.unpackbits(np.frombuffer(column.buffers()[0], dtype=np.uint8), bitorder="little")
    present = bits[column.offset : column.offset + len(column)].astype(np.bool_)
    return np.where(present, numbers, numbers.dtype.type(missing))
