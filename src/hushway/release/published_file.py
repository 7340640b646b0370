"""One value per file of a release: what is said of it, how it is written and how it is checked.

A family lists its files in its `files/published.py`. The data package, the writer and the verifier
all go through that list, so that a further file is one more value there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from hushway.errors import damaged
from hushway.geography.periods import Periods
from hushway.progress import Progress
from hushway.release.bounded import holds
from hushway.release.formats.places import periods_csv
from hushway.release.resource import Description, Resource, periods_schema, periods_words

Written = TypeVar("Written")
Read = TypeVar("Read")

FORMATS = "formats"
PERIODS = "periods.csv"

_MEDIATYPES = {
    "csv": "text/csv",
    "geojson": "application/geo+json",
    "json": "application/json",
    "omx": "application/x-hdf5",
    "parquet": "application/vnd.apache.parquet",
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
