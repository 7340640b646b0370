"""Two quite different sets of rows for the same plan and the same public files.

Both are made from the little files, so that a new family has them with its little plan.
"""

import csv
from collections.abc import Callable, Iterable
from pathlib import Path

from support.little_plans import write_little_files

Row = dict[str, str]
Crowd = Callable[[list[Row]], list[Row]]

_PUBLIC = {"places.csv", "pairs.csv"}
_PAIRS = "origin,destination,mode\n" + "".join(
    f"{origin},{destination},{'bus' if origin < destination else 'tram'}\n"
    for origin in "abcd"
    for destination in "abcd"
    if origin != destination
)
_MANY_FIELDS = "1,2,3,4,5,6,7,8"


def write_public_and(crowd: Crowd, folder: Path) -> None:
    """Writes public files that never differ, and the rows of one crowd."""
    folder.mkdir()
    write_little_files(folder)
    (folder / "pairs.csv").write_text(_PAIRS, encoding="utf-8")
    for path in folder.glob("*.csv"):
        if path.name not in _PUBLIC:
            _rewrite(path, crowd)


def one_crowd(rows: list[Row]) -> list[Row]:
    """Ten of everybody, a few rows without anything in them, and one long before the window."""
    many = [_named(row, f"{i}") for i in range(10) for row in rows]
    return [*many, *[_blank(rows[0])] * 3, _changed(rows[0], time="1999-01-01T08:00:00")]


def another_crowd(rows: list[Row]) -> list[Row]:
    """Other people, more of them, with fewer rows each; last rows first, and others to drop.

    One id is shared by somebody at every place, and rows are there several times.
    """
    many = [_named(row, f"else{i}") for i in range(23) for row in rows[::3]]
    shared = [_changed(row, person="shared") for row in rows]
    nonsense = [dict.fromkeys(rows[0], "nonsense")] * 7
    crowded = [dict(zip(rows[0], _MANY_FIELDS.split(","), strict=False)) | {"more": _MANY_FIELDS}]
    return [*reversed(many), *nonsense, *shared, *many[:6], _blank(rows[0]), *crowded * 5]


def _named(row: Row, whose: str) -> Row:
    return _changed(row, person=f"{whose}-{row.get('person')}")


def _changed(row: Row, **fields: str) -> Row:
    return row | {name: value for name, value in fields.items() if name in row}


def _blank(row: Row) -> Row:
    return dict.fromkeys(row, "")


def _rewrite(path: Path, crowd: Crowd) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows, header = list(reader), list(reader.fieldnames or ())
    _write(path, header, crowd(rows))


def _write(path: Path, header: list[str], rows: Iterable[Row]) -> None:
    lines = [",".join(row.values()) for row in rows]
    path.write_text("\n".join([",".join(header), *lines, ""]), encoding="utf-8")
