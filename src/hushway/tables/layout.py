"""The layout of the protected rows' files: which columns, of which types. No row is read here."""

import csv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from hushway.errors import DataError
from hushway.tables.clock import Clock
from hushway.tables.csv_header import read_header
from hushway.tables.files import RowFiles, find_files

Kind = Literal[
    "integer", "text", "number", "naive time", "zoned time", "list of integers", "list of texts"
]

_NUMBERS = ("lon", "lat", "speed", "heading")
_LISTS = (pa.ListType, pa.LargeListType, pa.FixedSizeListType)


class Columns(Protocol):
    """The columns of rows, by purpose."""

    @property
    def roles(self) -> dict[str, str]:
        """The columns in use, by purpose."""
        ...


class Source(Protocol):
    """Where the protected rows of a family lie."""

    @property
    def path(self) -> Path | str:
        """A file, a folder or a glob."""
        ...

    @property
    def columns(self) -> Columns:
        """Their columns."""
        ...

    @property
    def clock(self) -> Clock | None:
        """How their times are meant; None without times."""
        ...

    @property
    def noun(self) -> str:
        """What the rows are called."""
        ...


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How to read the rows.

    Attributes:
        files: The files.
        width: Number of columns of a CSV file; 0 for Parquet.
        delimiter: Between the fields of a CSV file; empty for Parquet.
        names: Name of each purpose's column.
        places: Position of each purpose's column in a CSV file; empty for Parquet.
        kinds: What each purpose's column holds.
    """

    files: RowFiles
    width: int = 0
    delimiter: str = ""
    names: dict[str, str]
    places: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, Kind]


def layout_of(source: Source) -> Layout:
    """Returns the layout, after checking that every file has it.

    Privacy:
        Messages name columns that the plan names, never what a file's first line says: a file
        without a header starts with somebody's trip.

    Raises:
        DataError: A file is missing, empty, damaged, or lacks a column or its proper type.
    """
    files = find_files(source.path, source.noun)
    layout = _csv_layout(files, source) if files.format == "csv" else _parquet(files, source)
    if source.clock == "wall" and layout.kinds["time"] == "zoned time":
        raise DataError(
            f"Column {layout.names['time']!r} (time) carries a time zone, so it holds instants.",
            advice='Set clock = "instant".',
        )
    return layout


def _csv_layout(files: RowFiles, source: Source) -> Layout:
    first = _csv_header(files.paths[0], source.noun)
    for path in files.paths:
        own = _csv_header(path, source.noun)
        _check_names(path, own[1], source)
        if own != first:
            raise DataError(
                f"The {source.noun} file {path.name} does not have the same first line as the "
                "others.",
                advice="Give files with the same columns in the same order.",
            )
    delimiter, header = first
    roles = source.columns.roles
    return Layout(
        files=files,
        width=len(header),
        delimiter=delimiter,
        names=roles,
        places={role: header.index(column) for role, column in roles.items()},
        kinds=dict.fromkeys(roles, "text"),
    )


def _csv_header(path: Path, noun: str) -> tuple[str, list[str]]:
    problem = "is empty"
    try:
        delimiter, header = read_header(path)
    except UnicodeDecodeError:
        problem = "is not UTF-8"
    except (OSError, EOFError, csv.Error):
        problem = "cannot be read"
    else:
        if header:
            return delimiter, header
    # Raised out here so that the original error, which quotes the file, is not its context.
    raise _unreadable(path, noun, problem)


def _parquet(files: RowFiles, source: Source) -> Layout:
    kinds: dict[str, Kind] = {}
    for path in files.paths:
        schema = _parquet_schema(path, source.noun)
        _check_names(path, schema.names, source)
        for role, column in source.columns.roles.items():
            kind = _kind(role, column, schema.field(column).type)
            if kinds.setdefault(role, kind) != kind:
                # Turning one into the other could make one person of "07" and 7, and two people
                # who share a cap are not bounded one by one.
                raise DataError(
                    f"Column {column!r} ({role}) is not of the same type in all files.",
                    advice="Write all files with the same types.",
                )
    return Layout(files=files, names=source.columns.roles, kinds=kinds)


def _parquet_schema(path: Path, noun: str) -> pa.Schema:
    try:
        return pq.read_schema(path)
    except (OSError, EOFError, pa.ArrowException):
        pass
    raise _unreadable(path, noun, "cannot be read")


def _unreadable(path: Path, noun: str, problem: str) -> DataError:
    """Returns the error of a file that is damaged, without a word of what is in it."""
    return DataError(
        f"The {noun} file {path.name} {problem}.",
        advice="Check that it is whole, in UTF-8, and that every row has the fields of the first.",
    )


def _check_names(path: Path, names: list[str], source: Source) -> None:
    roles = source.columns.roles
    missing = [f"{column!r} ({role})" for role, column in roles.items() if column not in names]
    if missing:
        raise DataError(
            f"The {source.noun} file {path.name} has no column {', '.join(missing)}.",
            advice="Correct the names of the columns in the plan, or add the column.",
        )
    folded = [name.casefold() for name in names]
    twice = [f"{c!r} ({role})" for role, c in roles.items() if folded.count(c.casefold()) > 1]
    if twice:
        raise DataError(
            f"The {source.noun} file {path.name} has two columns named alike: {', '.join(twice)}.",
            advice="Rename one of them; capitals do not make a difference.",
        )


def _kind(role: str, column: str, kind: pa.DataType) -> Kind:
    if role == "stops" and isinstance(kind, _LISTS):
        listed = _id_kind(role, column, kind.value_type)
        return "list of integers" if listed == "integer" else "list of texts"
    if role == "stops":
        if _is_text(kind):
            return "text"
        raise DataError(
            f"Column {column!r} ({role}) holds neither lists nor text.",
            advice="Write the stops as a list of ids, or as a text with a separator.",
        )
    if role in _NUMBERS:
        return _number_kind(role, column, kind)
    return _time_kind(role, column, kind) if role == "time" else _id_kind(role, column, kind)


def _is_text(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.DictionaryType):
        kind = kind.value_type
    text: bool = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return text or bool(pa.types.is_string_view(kind))


def _time_kind(role: str, column: str, kind: pa.DataType) -> Kind:
    if _is_text(kind):
        return "text"
    if isinstance(kind, pa.TimestampType):
        return "naive time" if kind.tz is None else "zoned time"
    raise DataError(
        f"Column {column!r} ({role}) holds neither timestamps nor text.",
        advice="Write it as a timestamp, or as text such as 2026-03-02T08:15:00.",
    )


def _number_kind(role: str, column: str, kind: pa.DataType) -> Kind:
    if pa.types.is_floating(kind):
        return "number"
    raise DataError(
        f"Column {column!r} ({role}) does not hold floating-point numbers.",
        advice="Write it as floating-point numbers; longitude and latitude in degrees.",
    )


def _id_kind(role: str, column: str, kind: pa.DataType) -> Literal["integer", "text"]:
    if isinstance(kind, pa.DictionaryType):
        kind = kind.value_type
    if _is_text(kind):
        return "text"
    if pa.types.is_integer(kind):
        # Beyond 64 signed bits numbers are compared as what they are written as.
        return "text" if pa.types.is_uint64(kind) else "integer"
    raise DataError(
        f"Column {column!r} ({role}) holds ids that are neither integers nor text.",
        advice="Write ids as integers or text. Decimal numbers such as 7.0 often come from a "
        "column of integers with gaps: turn it into nullable integers first.",
    )
