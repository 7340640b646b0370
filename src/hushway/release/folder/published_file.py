"""One value per file of a release: what is said of it, how it is written and how it is checked.

A family lists its files in its `files/published.py`. The data package, the writer and the verifier
all go through that list, so that a further file is one more value there. What is common to all
releases speaks only these types, so that a new family is named in `families/registry.py`, and
nothing else changes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import pyarrow as pa

from hushway.errors import damaged
from hushway.geography.locations import Locations
from hushway.geography.periods import Cycle, Periods
from hushway.privacy.certificate import Certificate
from hushway.progress import Progress
from hushway.release.formats.columns import MOMENT, NUMBER, TEXT, WHOLE, Column, Columns
from hushway.release.formats.layers import Layer
from hushway.release.formats.places import DAYS_COUNTED, period_columns, periods_csv
from hushway.release.untrusted.limits import holds

CSV_TYPE = "text/csv"
PARQUET_TYPE = "application/vnd.apache.parquet"

_GUARD = "A ' before =, +, - or @ keeps spreadsheets from running the text, and is no part of it."


@dataclass(frozen=True, kw_only=True)
class Resource:
    """One file of a release, as its data package describes it.

    Attributes:
        path: Where it is, relative to the release, with forward slashes.
        title: What it is, in a few words.
        description: How to read it.
        mediatype: Its MIME type.
        schema: Its columns as a Frictionless table schema; None when it is not a table.
    """

    path: str
    title: str
    description: str
    mediatype: str
    schema: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """A name made of the path, as the data package wants it."""
        return self.path.lower().replace("/", "-").replace(".", "-").replace("_", "-")

    @property
    def columns(self) -> list[dict[str, Any]]:
        """Its columns; of texts in CSV files it is said how spreadsheets are kept quiet."""
        fields: list[dict[str, Any]] = [] if self.schema is None else self.schema["fields"]
        if self.mediatype != CSV_TYPE:
            return fields
        return [
            {**field, "description": f"{field['description']} {_GUARD}"}
            if field["type"] == "string"
            else field
            for field in fields
        ]


@dataclass(frozen=True, kw_only=True)
class Description:
    """Everything a data package says about the files of a family.

    Attributes:
        facts: Public facts about the table, such as its number of rows.
        resources: The files.
        omitted: Files that were left out, each with the reason.
        layers: Its tables for programs that people have already.
        further: Files beside those of the family and the papers that every release has.
    """

    facts: Mapping[str, Any]
    resources: tuple[Resource, ...]
    omitted: Mapping[str, str]
    layers: tuple[Layer, ...] = ()
    further: tuple[Resource, ...] = ()


class Contents(Protocol):
    """Something that can be written as the files of a release."""

    def check(self, certificate: Certificate) -> None:
        """Makes sure that the contents and the certificate belong together.

        Raises:
            PrivacyError: The contents are not safe to publish.
            ReleaseError: The certificate was made for something else.
        """
        ...

    @property
    def description(self) -> Description:
        """What the data package says about the files."""
        ...

    def write(self, folder: Path, progress: Progress) -> None:
        """Writes every file of the description into a folder."""
        ...

    def picture(self, certificate: Certificate) -> bytes:
        """Returns a picture of the release as PNG, made from what is published alone."""
        ...


def table_schema(*columns: tuple[str, str, str], key: list[str] | None = None) -> dict[str, Any]:
    """Returns a Frictionless table schema from names, types and descriptions of columns."""
    schema: dict[str, Any] = {
        "fields": [
            {"name": name, "type": kind, "description": words} for name, kind, words in columns
        ]
    }
    if key is not None:
        schema["primaryKey"] = key
    return schema


_LOCATION_COLUMNS = (
    Column("id", TEXT, "Id of the place."),
    Column("name", TEXT, "Name of the place."),
    Column("lat", NUMBER, "Latitude in degrees (WGS84)."),
    Column("lon", NUMBER, "Longitude in degrees (WGS84)."),
    Column("zone", TEXT, "Zone that the place belongs to."),
)
_PERIOD_COLUMNS = (
    Column("period", TEXT, "Label of the period."),
    Column("weekday", TEXT, "Day of the week."),
    Column("day", pa.date32(), "Day of the period."),
    Column("day_type", TEXT, "Type of the days that are counted together."),
    Column("days", TEXT, "Days of the type: weekdays, and holidays if they are of it."),
    Column("holidays", TEXT, "Days of the window that are holidays, whatever their weekday."),
    Column("part", TEXT, "Name of the part of the day."),
    Column("starts", TEXT, "Start on the wall clock."),
    Column("ends", TEXT, "End on the wall clock; 00:00 is the midnight after it."),
    Column("starts_at", MOMENT, "Start as a moment with its offset, on the first such day."),
    Column("ends_at", MOMENT, "End as a moment with its offset, on the first such day."),
    Column("first_day", pa.date32(), "First day of the window."),
    Column("last_day", pa.date32(), "Last day of the window, included."),
    Column("time_zone", TEXT, "IANA name of the time zone."),
    Column(DAYS_COUNTED, WHOLE, "Days of the window that averages by day are divided by."),
)
_COUNTED: Mapping[Cycle, str] = {
    "day": "counted over all days of the window",
    "week": "counted over all days of the window with the weekday of the period",
    "day_type": "counted over all days of the window that are of the type of the period",
    "window": "each counted by itself: every part of every day of the window",
}


def locations_columns(locations: Locations) -> Columns:
    """Returns the columns of places.csv: what every place has, then the further labels."""
    further = (
        Column(labels.column, TEXT, "A further public label of the place.")
        for labels in locations.labels
    )
    return Columns((*_LOCATION_COLUMNS, *further), key=("id",))


def periods_words(periods: Periods) -> str:
    """Returns what a data package says about the public periods."""
    words = f"Periods of the agency's wall clock, {_COUNTED[periods.cycle]}."
    if periods.last_touched_day > periods.last_day:
        words += (
            " Hours from 24:00 on are after the midnight that follows, of the same service day."
        )
    return words


def periods_columns(periods: Periods) -> Columns:
    """Returns the columns of periods.csv."""
    names = period_columns(periods)
    return Columns(
        tuple(column for column in _PERIOD_COLUMNS if column.name in names), key=("period",)
    )


Written = TypeVar("Written")
Read = TypeVar("Read")

FORMATS = "formats"
PERIODS = "periods.csv"

_MEDIATYPES = {
    "csv": CSV_TYPE,
    "geojson": "application/geo+json",
    "json": "application/json",
    "omx": "application/x-hdf5",
    "parquet": PARQUET_TYPE,
}


def _always(_: object) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class PublishedFile(Generic[Written, Read]):
    """One file that the releases of a family have, all or some of them.

    A publisher has a table (`Written`), a verifier what it has read from the folder so far
    (`Read`). What is said of a file follows from either. So do the bytes of most files: they are
    written from the table, and a verifier renders them again and compares.

    Attributes:
        path: Where it is, relative to the release, with forward slashes.
        title: What it is, in a few words.
        description: How to read it.
        mediatype: Its MIME type, where the ending of the path does not tell it.
        columns: Its columns; None when it is not a table.
        parts: Renders it, some bytes at a time.
        is_source: Whether a verifier reads the table from it, so that it is not compared.
        write: Writes it to a path, where that is not done by `parts`.
        check: Raises a `ReleaseError` if the file at a path does not agree with what was read,
            where bytes cannot be compared.
        finding: What a verification calls the check.
        is_there: Whether a release has it.
        left_out: Why a release does not have it, where readers will miss it.
    """

    path: str
    title: str
    description: str | Callable[[Written | Read], str]
    mediatype: str | None = None
    columns: Columns | Callable[[Written | Read], Columns] | None = None
    parts: Callable[[Written | Read], Iterable[bytes]] | None = None
    is_source: bool = False
    write: Callable[[Written, Path], object] | None = None
    check: Callable[[Read, Path], object] | None = None
    finding: str = FORMATS
    is_there: Callable[[Written | Read], bool] = _always
    left_out: str | None = None

    def resource(self, view: Written | Read) -> Resource:
        """Returns what the data package says about the file."""
        said, columns = self.description, self.columns
        if callable(columns):
            columns = columns(view)
        return Resource(
            path=self.path,
            title=self.title,
            description=said if isinstance(said, str) else said(view),
            mediatype=self.mediatype or _MEDIATYPES[self.path.rsplit(".", 1)[-1]],
            schema=None if columns is None else columns.described,
        )

    def written(self, table: Written, path: Path) -> None:
        """Writes the file to a path."""
        if self.write is not None:
            self.write(table, path)
        elif self.parts is not None:
            with path.open("wb") as file:
                file.writelines(self.parts(table))

    def checked(self, read: Read, path: Path) -> None:
        """Makes sure that the file at a path agrees with what was read from others.

        Raises:
            ReleaseError: It does not.
        """
        if self.check is not None:
            self.check(read, path)
        elif self.parts is not None and not self.is_source and not holds(path, self.parts(read)):
            raise damaged(f"{self.path} does not hold what the published table says.")


def describe_files(
    files: Sequence[PublishedFile[Written, Read]],
    view: Written | Read,
    facts: Mapping[str, Any],
    layers: tuple[Layer, ...] = (),
) -> Description:
    """Returns what a data package says about the files of a release.

    Args:
        files: All files of the family.
        view: What is written, or was read.
        facts: Public facts about the table.
        layers: Its tables for programs that people have already.
    """
    return Description(
        facts=facts,
        resources=tuple(file.resource(view) for file in files if file.is_there(view)),
        omitted={
            file.path: file.left_out
            for file in files
            if file.left_out is not None and not file.is_there(view)
        },
        layers=layers,
    )


def write_files(
    files: Sequence[PublishedFile[Written, Read]],
    table: Written,
    folder: Path,
    progress: Progress,
) -> None:
    """Writes every file that a release of a table has into a folder."""
    for file in files:
        if file.is_there(table):
            progress(f"Writing {file.path}")
            path = folder / file.path
            path.parent.mkdir(exist_ok=True)
            file.written(table, path)


def check_files(
    files: Sequence[PublishedFile[Written, Read]], read: Read, folder: Path, finding: str = FORMATS
) -> None:
    """Holds the files of one finding against what was read before.

    Raises:
        ReleaseError: One of them says something else.
    """
    for file in files:
        if file.finding == finding and file.is_there(read):
            file.checked(read, folder / file.path)


def compared_files(files: Sequence[PublishedFile[Written, Read]], read: Read) -> str:
    """Returns the names of the files that `check_files` holds against the table, in a list."""
    return ", ".join(
        file.path
        for file in files
        if file.finding == FORMATS
        and file.is_there(read)
        and (file.check is not None or (file.parts is not None and not file.is_source))
    )


def periods_file(
    periods_of: Callable[[Written | Read], Periods],
    is_there: Callable[[Written | Read], bool] = _always,
    path: str = PERIODS,
) -> PublishedFile[Written, Read]:
    """Returns periods.csv, which is the same in all families, or another list of periods."""
    return PublishedFile(
        path=path,
        title="Public periods",
        description=lambda view: periods_words(periods_of(view)),
        columns=lambda view: periods_columns(periods_of(view)),
        parts=lambda view: [periods_csv(periods_of(view))],
        is_source=True,
        is_there=is_there,
    )


@dataclass(frozen=True)
class TableContents(Generic[Written]):
    """A published table, ready to be written: what all families do alike."""

    table: Written

    files: ClassVar[Sequence[PublishedFile[Any, Any]]]
    describe: ClassVar["staticmethod[[Any], Description]"]

    @cached_property
    def view(self) -> Any:
        """What the files are made from: the table, unless more has to be worked out first."""
        return self.table

    @property
    def description(self) -> Description:
        """What the data package says about the files."""
        return self.describe(self.view)

    def write(self, folder: Path, progress: Progress) -> None:
        """Writes every file of the description into a folder."""
        write_files(self.files, self.view, folder, progress)
