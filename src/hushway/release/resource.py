"""What a family gives to be published: described files, a picture, and a way to look at them again.

What is common to all releases speaks only these types, so that a new family of releases brings its
own files (`published_file.py`), is named in `families/registry.py`, and nothing else changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hushway.geography.locations import LOCATION_FACTS
from hushway.geography.periods import Cycle, Periods
from hushway.privacy.certificate import Certificate
from hushway.progress import Progress
from hushway.release.formats.places import period_columns


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
    "starts": ("string", "Start on the wall clock."),
    "ends": ("string", "End on the wall clock; 24:00 is midnight."),
    "first_day": ("date", "First day of the window."),
    "last_day": ("date", "Last day of the window, included."),
    "time_zone": ("string", "IANA name of the time zone."),
}
_COUNTED: Mapping[Cycle, str] = {
    "day": "counted over all days of the window",
    "week": "counted over all days of the window with the weekday of the period",
    "window": "each counted by itself: every part of every day of the window",
}


def locations_schema(columns: Sequence[str]) -> dict[str, Any]:
    """Returns the schema of locations.csv, given its columns."""
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
    return f"Periods of the agency's wall clock, {_COUNTED[periods.cycle]}."


def periods_schema(periods: Periods) -> dict[str, Any]:
    """Returns the schema of periods.csv."""
    columns = ((name, *_PERIOD_WORDS[name]) for name in period_columns(periods))
    return table_schema(*columns, key=["period"])
