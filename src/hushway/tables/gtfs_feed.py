"""Files of a GTFS feed: in a folder, or in a .zip archive."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from hushway.errors import GeographyError
from hushway.tables.unpacking import read_part, refuse_unfit, refuse_unfit_archive

STOPS: Final = "stops.txt"
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
