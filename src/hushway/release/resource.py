"""What a family gives to be published: described files, a picture, and a way to look at them again.

What is common to all releases speaks only these types, so that a new family of releases brings its
own files, is named in `families.py`, and nothing else changes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hushway.privacy.certificate import Certificate

Progress = Callable[[str], None]


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
