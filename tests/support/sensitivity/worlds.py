"""Rows of people who are as nasty as rows can be, and the same rows without one unit."""

import csv
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from hushway.privacy.bound import Unit
from support.little_plans import good_row, rows_file, write_little_files
from support.sensitivity.plans import Bounding

Row = dict[str, Any]

_NUMBERS = ("lon", "lat")
_LONG_AGO, _LATE, _EARLY = "1925-07-01T10:30:00", "2026-03-06T00:00:00", "2026-03-01T23:59:59"
# Ids of household surveys: everybody has made trip 1.
_FIRST = "1"


def nasty_rows(bounding: Bounding, folder: Path) -> dict[str, list[Row]]:
    """Returns rows by what is nasty about those who made them; also writes the public files.

    Everybody has numbered trips, so that many share a trip id.
    """
    write_little_files(folder)
    with (folder / rows_file(bounding.family)).open(encoding="utf-8", newline="") as file:
        usual = [_numbers(row) for row in csv.DictReader(file)]
    plain = _numbers(good_row(bounding.family))
    return {name: make(usual, plain) for name, make in _KINDS.items()}


def neighbours(
    bounding: Bounding, groups: Mapping[str, list[Row]]
) -> Iterator[tuple[str, list[Row]]]:
    """Yields all rows without one unit: of each kind the unit that comes first, and that last."""
    rows = [row for group in groups.values() for row in group]
    owners = [owner_of(bounding, row, number) for number, row in enumerate(rows)]
    begin = 0
    for name, group in groups.items():
        end = begin + len(group)
        for gone in {owners[begin]: "first", owners[end - 1]: "last"}.items():
            kept = [row for row, owner in zip(rows, owners, strict=True) if owner != gone[0]]
            yield f"{name}, the {gone[1]} of them", kept
        begin = end


def owner_of(bounding: Bounding, row: Row, number: int) -> tuple[Any, ...]:
    """Returns the unit that a row belongs to, by what a certificate says and not by any code.

    A row that does not say whose it is belongs to nobody else.
    """
    unit, columns = bounding.unit, bounding.columns or {"person": "person"}
    told: tuple[Any, ...] = ()
    if unit.has_many_records:
        told = (row["person"],)
    elif unit is Unit.TRIP and "trip_id" in columns:
        told = (row["person"], row["trip"]) if "person" in columns else (row["trip"],)
    elif unit is Unit.RECORD and "stops" not in columns:
        told = (row["person"], str(row["time"])[:10])
    named = told and all(text is not None and text.strip() for text in told)
    return told if named else (number,)


def as_table(rows: list[Row], bounding: Bounding) -> pa.Table:
    """Returns rows as a table, all of them as text but for positions."""
    if "stops" in bounding.columns:
        rows = [{"person": row["person"], "stops": _stops(row)} for row in rows]
    names = list(rows[0])
    types = [pa.float64() if name in _NUMBERS else pa.string() for name in names]
    columns = [
        pa.array([row[name] for row in rows], kind) for name, kind in zip(names, types, strict=True)
    ]
    return pa.table(dict(zip(names, columns, strict=True)))


def _stops(row: Row) -> str | None:
    """Returns a ready sequence that follows from a tap: longer, the later it is."""
    hour = int(str(row["time"])[11:13] or 0)
    return None if row["place"] is None else " ".join([row["place"], *"abcd"[: hour % 4]])


def _numbers(row: Mapping[str, str]) -> Row:
    return {name: float(value) if name in _NUMBERS else value for name, value in row.items()} | {
        "trip": _FIRST
    }


def _daily(rows: list[Row]) -> list[Row]:
    """Returns rows of one day, and the same on every other day of the window."""
    return [
        row | {"time": row["time"].replace("-02T", f"-0{day}T")}
        for day in (2, 3, 4, 5)
        for row in rows
    ]


def _by(person: str | None, rows: list[Row], trip: str | None = None) -> list[Row]:
    """Gives rows to a person, numbered unless all are one trip."""
    return [
        row | {"person": person, "trip": str(number) if trip is None else trip}
        for number, row in enumerate(rows, start=1)
    ]


_KINDS: dict[str, Callable[[list[Row], Row], list[Row]]] = {
    "usual people": lambda usual, _: usual,
    "a single row": lambda _, plain: _by("single", [plain]),
    "very many rows": lambda usual, _: _by("tireless", 2 * _daily(usual)),
    "one cell again and again": lambda _, plain: _by("regular", 40 * [plain]),
    "a trip id again and again": lambda usual, _: _by("repeating", _daily(usual), _FIRST),
    # Whichever of them counts if they are taken for one, the other takes its place without it.
    "two who share a trip id": lambda usual, _: (
        _by("one", usual[:1], "shared") + _by("another", usual[1:2], "shared")
    ),
    "everything at once": lambda usual, plain: _by(
        "everywhere", [row | {"time": plain["time"]} for row in usual]
    ),
    "rows outside of the window": lambda usual, plain: _by(
        "outside",
        [plain, *(row | {"time": t} for row in usual[:3] for t in (_LONG_AGO, _EARLY, _LATE))],
    ),
    "somebody else's rows": lambda usual, _: [
        row | {"person": f"{row['person']} "} for row in usual
    ],
    "no person": lambda usual, _: _by(None, usual[:4]) + _by(" ", usual[:4]),
    "no trip id": lambda usual, _: [
        row | {"person": "unnumbered", "trip": trip} for row in usual[:4] for trip in (None, " ")
    ],
    "no time and no place": lambda usual, _: [
        row | {"person": "empty", name: None}
        for row in usual[:2]
        for name in row
        if name not in ("person", "trip")
    ],
}
