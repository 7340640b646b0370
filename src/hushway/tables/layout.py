"""The layout of the protected rows' files: which columns, of which types. No row is read here."""

import csv
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Final, Generic, Literal, Protocol, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from hushway.errors import DataError
from hushway.escaping import some_of
from hushway.tables.encodings import ENCODINGS, Encoding
from hushway.tables.first_lines import header_encoding, read_header
from hushway.tables.header import Clock, Header
from hushway.tables.row_files import RowFiles, find_files
from hushway.tables.time_format import SINCE_1970

Kind = Literal[
    "integer",
    "text",
    "number",
    "day",
    "naive time",
    "zoned time",
    "list of integers",
    "list of texts",
]

_NUMBERS: Final = (
    *("lon", "lat", "speed", "heading"),
    *("origin_lon", "origin_lat", "destination_lon", "destination_lat"),
)
_LISTS: Final = (pa.ListType, pa.LargeListType, pa.FixedSizeListType)


def kind_of(role: str, column: str, kind: pa.DataType) -> Kind:
    """Returns what the values of a column are, by its type and what it is for."""
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
    if role in ("service_date", "day", "date") and pa.types.is_date(kind):
        return "day"
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
    if pa.types.is_integer(kind):
        return "integer"
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


class Columns:
    """Which column holds what: a dataclass with a field for each purpose."""

    def __post_init__(self) -> None:
        names = list(self.roles.values())
        twice = sorted({column for column in names if names.count(column) > 1})
        if twice:
            raise DataError(
                f"Column {', '.join(map(repr, twice))} is named for two purposes.",
                advice=f"Every purpose ({', '.join(vars(self))}) needs its own.",
            )

    @property
    def roles(self) -> dict[str, str]:
        """The columns in use, by purpose."""
        return {role: column for role, column in vars(self).items() if column is not None}


class Source(Protocol):
    """Where the protected rows of a family lie."""

    @property
    def path(self) -> Path | str:
        """A file, a folder or a glob; or a table, such as "table:schema.trips"."""
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
    def time_format(self) -> str | None:
        """How their times are written; None for ISO 8601."""
        ...

    @property
    def encoding(self) -> Encoding:
        """How bytes of CSV files stand for letters."""
        ...

    @property
    def noun(self) -> str:
        """What the rows are called."""
        ...


AnyColumns = TypeVar("AnyColumns", bound=Columns)


@dataclass(frozen=True)
class TimedSource(Generic[AnyColumns]):
    """Protected rows with times: a CSV or Parquet file, a folder of them, a glob, or a table.

    Attributes:
        path: A file, a folder (searched with its subfolders), a glob such as `2026/*.parquet`, or
            a table of the engine such as `table:schema.trips`.
        columns: Which column holds what.
        clock: "local" for times on the agency's wall clock, without an offset; "utc" for times
            in UTC or with an offset; "service" for hours of a service day, which may go on after
            midnight ("25:30"), beside a column of service dates.
        time_format: How texts and numbers tell times (`hushway.tables.time_format`); None for ISO
            8601.
        encoding: How bytes of CSV files stand for letters.
        noun: What the rows are called.
    """

    path: Path | str
    columns: AnyColumns
    clock: Clock = "local"
    time_format: str | None = None
    encoding: Encoding = "utf-8"
    noun: ClassVar[str]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How to read the rows.

    Attributes:
        files: The files, or the table.
        width: Number of columns of a CSV file; 0 for any other.
        delimiter: Between the fields of a CSV file; empty for any other.
        names: Name of each purpose's column.
        places: Position of each purpose's column in a CSV file; empty for any other.
        kinds: What each purpose's column holds.
        time_format: How times are written; None for ISO 8601.
        encoding: How bytes of CSV files stand for letters.
    """

    files: RowFiles
    width: int = 0
    delimiter: str = ""
    names: dict[str, str]
    places: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, Kind]
    time_format: str | None = None
    encoding: Encoding = "utf-8"


def layout_of(source: Source) -> Layout:
    """Returns the layout, after checking that every file has it.

    Privacy:
        Messages name columns that the plan names, never what a file's first line says: a file
        without a header starts with somebody's trip.
    """
    files = find_files(source.path, source.noun)
    layout = _csv_layout(files, source) if files.format == "csv" else _parquet(files, source)
    return _as_written(layout, source)


def layout_of_table(table: str, schema: pa.Schema, source: Source) -> Layout:
    """Returns the layout of a table, after checking that it has what is needed."""
    _check_names(f"table {table}", schema.names, source)
    layout = Layout(
        files=RowFiles(format="table", table=table),
        names=source.columns.roles,
        kinds={
            role: kind_of(role, column, schema.field(column).type)
            for role, column in source.columns.roles.items()
        },
    )
    return _as_written(layout, source)


def _as_written(layout: Layout, source: Source) -> Layout:
    """Adds how times are written, after checking that their column can hold such times."""
    kind = layout.kinds.get("time")
    if kind == "integer" and source.time_format not in SINCE_1970:
        raise DataError(
            f"Column {layout.names['time']!r} (time) holds whole numbers.",
            advice='Say in [data] what they count from 1970 on: time_format = "epoch_s" for '
            'seconds or "epoch_ms" for milliseconds, and clock = "utc".',
        )
    if source.clock == "local" and kind == "zoned time":
        raise DataError(
            f"Column {layout.names['time']!r} (time) carries a time zone, so it holds instants.",
            advice='Set clock = "utc".',
        )
    if source.clock == "service" and kind != "text":
        raise DataError(
            f"Column {layout.names['time']!r} (time) holds no hours of a service day.",
            advice='Write them as text such as 25:30:00; or set clock = "local" or "utc".',
        )
    return replace(layout, time_format=source.time_format)


def _csv_layout(files: RowFiles, source: Source) -> Layout:
    first = _csv_header(files.paths[0], source.noun, source.encoding)
    for path in files.paths:
        own = _csv_header(path, source.noun, source.encoding)
        _check_names(f"file {path.name}", own[1], source)
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
        encoding=source.encoding,
    )


def _csv_header(path: Path, noun: str, encoding: Encoding | None) -> tuple[str, list[str]]:
    problem = "is empty"
    try:
        delimiter, header = read_header(path, encoding)
    except UnicodeError:
        problem = f"is not {(encoding or ENCODINGS[0]).upper()}"
    except (OSError, EOFError, zlib.error, csv.Error):
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
        _check_names(f"file {path.name}", schema.names, source)
        for role, column in source.columns.roles.items():
            kind = kind_of(role, column, schema.field(column).type)
            if kinds.setdefault(role, kind) != kind:
                # Turning one into the other could make one person of "07" and 7, and two people
                # who share a limit are not bounded one by one.
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
        advice="Check that it is whole, that [data] says its encoding "
        f"({', '.join(ENCODINGS)}), and that every row is a line with the fields of the first, "
        "which ends in LF or CRLF.",
    )


def _check_names(where: str, names: list[str], source: Source) -> None:
    roles = source.columns.roles
    missing = [f"{column!r} ({role})" for role, column in roles.items() if column not in names]
    if missing:
        raise DataError(
            f"The {source.noun} {where} has no column {', '.join(missing)}.",
            advice="Correct the names of the columns in the plan, or add the column.",
        )
    folded = [name.casefold() for name in names]
    twice = [f"{c!r} ({role})" for role, c in roles.items() if folded.count(c.casefold()) > 1]
    if twice:
        raise DataError(
            f"The {source.noun} {where} has two columns named alike: {some_of(twice)}.",
            advice="Rename one of them; capitals do not make a difference.",
        )


def header_of(path: Path, noun: str = "rows", encoding: Encoding | None = None) -> Header:
    """Returns the names and types of the columns of the first file; no row is looked at.

    The encoding of a CSV file is told from its first line unless it is given.
    """
    files = find_files(path, noun)
    first = files.paths[0]
    if files.format == "csv":
        names = tuple(_csv_header(first, noun, encoding)[1])
        return Header(names=names, clocks={}, encoding=encoding or header_encoding(first))
    schema = _parquet_schema(first, noun)
    clocks: dict[str, Clock] = {
        one.name: "local" if one.type.tz is None else "utc"
        for one in schema
        if pa.types.is_timestamp(one.type)
    }
    return Header(names=tuple(schema.names), clocks=clocks)
