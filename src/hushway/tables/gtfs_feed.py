"""Files of a GTFS feed: in a folder, or in a .zip archive."""

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pyarrow as pa
import pyarrow.csv as pcsv

from hushway.errors import GeographyError
from hushway.tables.unpacking import read_part, refuse_unfit, refuse_unfit_archive

STOPS: Final = "stops.txt"
_WHOLE: Final = "Trip chaining needs stops, routes, trips and stop times of one feed."
_DAMAGED = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,  # also of ways to pack that Python does not know
    zipfile.BadZipFile,
    zlib.error,
)


def is_feed(file: Path) -> bool:
    """Whether a public file is a feed, or the stops of one."""
    return file.name == STOPS or file.suffix == ".zip" or file.is_dir()


@contextmanager
def stops_file(feed: Path) -> Iterator[Path]:
    """Gives the stops of a feed as a file at rest."""
    if feed.name == STOPS and not feed.is_dir():
        yield feed
        return
    if not feed.is_dir():
        refuse_unfit_archive(feed)
    with TemporaryDirectory() as folder:
        file = Path(folder) / STOPS
        file.write_bytes(feed_part(feed, STOPS, advice="Places of a feed are in its stops.txt."))
        yield file


def feed_part(feed: Path, name: str, *, advice: str) -> bytes:
    """Returns one file of a feed.

    Raises:
        GeographyError: It is not there, or cannot be read.
    """
    try:
        if feed.is_dir():
            refuse_unfit(feed / name)
            return (feed / name).read_bytes()
        with zipfile.ZipFile(feed) as archive:
            return read_part(archive, name)
    except (FileNotFoundError, KeyError):
        found = feed.exists()
    except _DAMAGED:
        raise GeographyError(
            f"The timetable {feed.name} cannot be read.",
            advice="Give the .zip file of a GTFS feed, or a folder with its files.",
        ) from None
    raise GeographyError(
        f"The timetable {feed.name} has no {name}." if found else f"There is no {feed.name}.",
        advice=advice,
    )


def has_part(feed: Path, name: str) -> bool:
    """Whether a feed has a file."""
    if feed.is_dir():
        return (feed / name).is_file()
    try:
        with zipfile.ZipFile(feed) as archive:
            return name in archive.namelist()
    except _DAMAGED:
        return False


def feed_columns(
    feed: Path, name: str, needed: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, list[str]]:
    """Returns columns of a file of a feed as texts; optional ones that are missing are empty."""
    table = feed_table(feed, name, needed, optional)
    return {column: table[column].to_pylist() for column in (*needed, *optional)}


def feed_table(
    feed: Path, name: str, needed: tuple[str, ...], optional: tuple[str, ...] = ()
) -> pa.Table:
    """Returns the same as a table.

    Raises:
        GeographyError: The file is missing, cannot be read, or lacks a column that is needed.
    """
    content = feed_part(feed, name, advice=_WHOLE)
    wanted = (*needed, *optional)
    try:
        header = pcsv.open_csv(io.BytesIO(content)).schema.names
        given = [column for column in wanted if column in header]
        table = pcsv.read_csv(
            io.BytesIO(content),
            convert_options=pcsv.ConvertOptions(
                include_columns=given,
                column_types=dict.fromkeys(given, pa.string()),
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        raise GeographyError(f"The {name} of {feed.name} cannot be read.", advice=_WHOLE) from None
    missing = [column for column in needed if column not in given]
    if missing:
        raise GeographyError(
            f"The {name} of {feed.name} has no column {', '.join(missing)}.",
            advice="Give a feed with all columns that GTFS demands.",
        )
    for column in wanted:
        if column not in given:
            table = table.append_column(column, pa.array([""] * len(table), pa.string()))
    return table
