"""One value per file of a release: what is said of it, how it is written and how it is checked.

A family lists its files in its `files/published.py`. The data package, the writer and the verifier
all go through that list, so that a further file is one more value there. What is common to all
releases speaks only these types, so that a new family is named in `families/registry.py`, and
nothing else changes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from hushway.errors import damaged
from hushway.geography.locations import LOCATION_FACTS
from hushway.geography.periods import Cycle, Periods
from hushway.privacy.certificate import Certificate
from hushway.progress import Progress
from hushway.release.formats.places import period_columns, periods_csv
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
    """

    facts: Mapping[str, Any]
    resources: tuple[Resource, ...]
    omitted: Mapping[str, str]


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


def columns_schema(
    names: Sequence[str], words: Sequence[tuple[str, str]], *, key: Sequence[str]
) -> dict[str, Any]:
    """Returns a table schema from the names of columns and, in order, their types and words."""
    columns = ((name, *rest) for name, rest in zip(names, words, strict=True))
    return table_schema(*columns, key=list(key))


_LOCATION_WORDS = (
    ("string", "Id of the place."),
    ("string", "Name of the place."),
    ("number", "Latitude in degrees (WGS84)."),
    ("number", "Longitude in degrees (WGS84)."),
    ("string", "Zone that the place belongs to."),
)
_PERIOD_WORDS = {
    "period": ("string", "Label of the period."),
    "weekday": ("string", "Day of the week."),
    "day": ("date", "Day of the period."),
    "day_type": ("string", "Type of the days that are counted together."),
    "days": ("string", "Days of the type: weekdays, and holidays if they are of it."),
    "holidays": ("string", "Days of the window that are holidays, whatever their weekday."),
    "part": ("string", "Name of the part of the day."),
    "starts": ("string", "Start on the wall clock."),
    "ends": ("string", "End on the wall clock; 00:00 is the midnight after it."),
    "starts_at": ("datetime", "Start as a moment with its offset, on the first such day."),
    "ends_at": ("datetime", "End as a moment with its offset, on the first such day."),
    "first_day": ("date", "First day of the window."),
    "last_day": ("date", "Last day of the window, included."),
    "time_zone": ("string", "IANA name of the time zone."),
}
_COUNTED: Mapping[Cycle, str] = {
    "day": "counted over all days of the window",
    "week": "counted over all days of the window with the weekday of the period",
    "day_type": "counted over all days of the window that are of the type of the period",
    "window": "each counted by itself: every part of every day of the window",
}


def locations_schema(columns: Sequence[str]) -> dict[str, Any]:
    """Returns the schema of places.csv, given its columns."""
    facts = zip(LOCATION_FACTS, _LOCATION_WORDS, strict=True)
    return table_schema(
        *((name, *words) for name, words in facts),
        *(
            (name, "string", "A further public label of the place.")
            for name in columns[len(LOCATION_FACTS) :]
        ),
        key=["id"],
    )


def periods_words(periods: Periods) -> str:
    """Returns what a data package says about the public periods."""
    words = f"Periods of the agency's wall clock, {_COUNTED[periods.cycle]}."
    if periods.last_touched_day > periods.last_day:
        words += (
            " Hours from 24:00 on are after the midnight that follows, of the same service day."
        )
    return words


def periods_schema(periods: Periods) -> dict[str, Any]:
    """Returns the schema of periods.csv."""
    columns = ((name, *_PERIOD_WORDS[name]) for name in period_columns(periods))
    return table_schema(*columns, key=["period"])


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

    A publisher has a table (`Written`), a verifier what it read from the folder so far (`Read`).
    What is said of a file follows from either.

    Attributes:
        path: Where it is, relative to the release, with forward slashes. Its ending tells its type.
        title: What it is, in a few words.
        description: How to read it.
        schema: Its columns as a Frictionless table schema; None when it is not a table.
        write: Writes it to a path.
        check: Raises a `ReleaseError` if the file at a path does not say what was read from others.
            None where it is among the files that are read first, or cannot be checked.
        finding: What a verification calls the check.
        is_there: Whether a release has it.
        left_out: Why a release does not have it, where readers will miss it.
    """

    path: str
    title: str
    description: str | Callable[[Written | Read], str]
    schema: Mapping[str, Any] | Callable[[Written | Read], Mapping[str, Any]] | None = None
    write: Callable[[Written, Path], object]
    check: Callable[[Read, Path], object] | None = None
    finding: str = FORMATS
    is_there: Callable[[Written | Read], bool] = _always
    left_out: str | None = None

    def resource(self, view: Written | Read) -> Resource:
        """Returns what the data package says about the file."""
        said, schema = self.description, self.schema
        return Resource(
            path=self.path,
            title=self.title,
            description=said if isinstance(said, str) else said(view),
            mediatype=_MEDIATYPES[self.path.rsplit(".", 1)[-1]],
            schema=schema(view) if callable(schema) else schema,
        )


def describe_files(
    files: Sequence[PublishedFile[Written, Read]], view: Written | Read, facts: Mapping[str, Any]
) -> Description:
    """Returns what a data package says about the files of a release.

    Args:
        files: All files of the family.
        view: What is written, or was read.
        facts: Public facts about the table.
    """
    return Description(
        facts=facts,
        resources=tuple(file.resource(view) for file in files if file.is_there(view)),
        omitted={
            file.path: file.left_out
            for file in files
            if file.left_out is not None and not file.is_there(view)
        },
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
            file.write(table, path)


def check_files(
    files: Sequence[PublishedFile[Written, Read]], read: Read, folder: Path, finding: str = FORMATS
) -> None:
    """Holds the files of one finding against what was read before.

    Raises:
        ReleaseError: One of them says something else.
    """
    for file in files:
        if file.check is not None and file.finding == finding and file.is_there(read):
            file.check(read, folder / file.path)


def periods_file(
    periods_of: Callable[[Written | Read], Periods],
    is_there: Callable[[Written | Read], bool] = _always,
) -> PublishedFile[Written, Read]:
    """Returns periods.csv, which is written alike by all families."""
    return PublishedFile(
        path=PERIODS,
        title="Public periods",
        description=lambda view: periods_words(periods_of(view)),
        schema=lambda view: periods_schema(periods_of(view)),
        write=lambda view, path: path.write_bytes(periods_csv(periods_of(view))),
        is_there=is_there,
    )


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Writes a file part by part."""
    with path.open("wb") as file:
        file.writelines(parts)


def check_parts(path: Path, parts: Iterable[bytes], message: str) -> None:
    """Makes sure that a file holds just these parts.

    Raises:
        ReleaseError: It does not, as the message says.
    """
    if not holds(path, parts):
        raise damaged(message)
