"""Small files that would grow into large ones, and things that are no files, are not read.

What a stranger packed may be a thousand times as large unpacked. So a packed public file may grow
to a hundred times its size, and to a hundred million bytes in any case: timetables, maps and tables
grow ten to thirty times. It is unpacked once, piece by piece, before anything reads it.

The protected rows are the steward's own, may be far too many to be unpacked twice, and are read by
an engine that keeps to its limits of memory and disk. There it is enough to look at how large a
file says it is: a thousand times its size is what gzip reaches where all bytes are the same.
"""

import os
import tomllib
import zlib
from bz2 import BZ2File
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import GzipFile
from pathlib import Path
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from hushway.errors import DataError, GeographyError

MOST_TIMES: Final = 100
MOST_TIMES_OF_ROWS: Final = 1000
ALWAYS_BYTES: Final = 100_000_000

_PIECE: Final = 1 << 20
# How much deflate can make of one byte, rounded up.
_GZIP_REACHES: Final = 1100
_ENCRYPTED: Final = 1


def refuse_unfit(file: Path) -> None:
    """Refuses a public file that is a pipe, a socket or a device, or that grows too much.

    A folder, and a file that is not there or damaged, are left to whoever reads them.
    """
    if not file.exists() or file.is_dir():
        return
    if not file.is_file():
        raise GeographyError(
            f"{file.name} is not a file but a pipe, a socket or a device.",
            advice="Write what comes out of it to a file, and name that.",
        )
    most = max(ALWAYS_BYTES, MOST_TIMES * file.stat().st_size)
    try:
        grows = _grows_beyond(file, most)
    except (OSError, EOFError, zlib.error):
        return
    if grows:
        raise _too_large(file, most)


@contextmanager
def public_file(file: Path, noun: str) -> Iterator[None]:
    """Refuses an unfit file, and names the file in the errors of whoever reads it."""
    refuse_unfit(file)
    try:
        yield
    except FileNotFoundError as missing:
        name = Path(missing.filename).name if missing.filename else file.name
        raise GeographyError(f"There is no {noun} file {name}.", advice="Check its path.") from None
    except UnicodeError:
        raise GeographyError(
            f"The {noun} file {file.name} is not UTF-8.", advice="Save it as UTF-8."
        ) from None
    except (OSError, EOFError, zlib.error):
        raise GeographyError(
            f"The {noun} file {file.name} cannot be read.",
            advice="Check that it is a file, that it is whole and that you may read it.",
        ) from None


def refuse_unfit_archive(file: Path) -> None:
    """Refuses a public zip archive that is unfit, or whose parts together grow too much."""
    refuse_unfit(file)
    try:
        with ZipFile(file) as archive:
            parts = archive.infolist()
    except (OSError, BadZipFile, ValueError, NotImplementedError):
        return  # left to whoever reads it
    if any(part.flag_bits & _ENCRYPTED for part in parts):
        raise GeographyError(
            f"The archive {file.name} is encrypted.",
            advice="Give it unpacked, or packed without encryption.",
        )
    if any(part.compress_type not in {ZIP_STORED, ZIP_DEFLATED} for part in parts):
        raise GeographyError(
            f"The archive {file.name} is packed in an unusual way.",
            advice="Pack it again with any zip program, by its usual method (deflate).",
        )
    most = max(ALWAYS_BYTES, MOST_TIMES * file.stat().st_size)
    # Nothing comes out of a part beyond what it says, if it is taken out piece by piece.
    if sum(part.file_size for part in parts) > most:
        raise _too_large(file, most)


def read_part(archive: ZipFile, name: str) -> bytes:
    """Returns a part of an archive that is fit; never more than the part says it holds.

    Raises:
        KeyError: There is no such part.
        BadZipFile: It is damaged, or not what it says.
        OSError, EOFError, RuntimeError, zlib.error: It cannot be unpacked.
    """
    pieces = []
    with archive.open(name) as part:
        while piece := part.read(_PIECE):
            pieces.append(piece)
    return b"".join(pieces)


def refuse_unfit_rows(file: Path, noun: str) -> None:
    """Refuses a file of protected rows that is none, or that says it grows too much."""
    if not file.is_file():
        raise DataError(
            f"The {noun} at {file.name} are not in a file but in a pipe, a socket or a device.",
            advice="Write them to a file, and name that.",
        )
    most = max(ALWAYS_BYTES, MOST_TIMES_OF_ROWS * file.stat().st_size)
    if file.suffix == ".gz" and _said_size(file) > most and _really_grows_beyond(file, most):
        raise DataError(
            f"The {noun} file {file.name} is more than {MOST_TIMES_OF_ROWS:,} times as large when "
            "it is unpacked, so it can hardly be rows.",
            advice="If it is, unpack it first and name the unpacked file.",
        )


def _grows_beyond(file: Path, most: int) -> bool:
    ending = file.suffix.lower()
    if ending == ".gz" and file.stat().st_size * _GZIP_REACHES > most:
        with GzipFile(file) as opened:
            return _longer(opened, most)
    if ending == ".bz2":
        with BZ2File(file) as opened:
            return _longer(opened, most)
    return False


def _really_grows_beyond(file: Path, most: int) -> bool:
    """Unpacks what says it is too large: where a file is cut off it does not say anything."""
    try:
        with GzipFile(file) as opened:
            return _longer(opened, most)
    except (OSError, EOFError, zlib.error):
        return False  # left to whoever reads it


def _longer(opened: GzipFile | BZ2File, most: int) -> bool:
    length = 0
    while piece := opened.read(_PIECE):
        length += len(piece)
        if length > most:
            return True
    return False


def _said_size(file: Path) -> int:
    """Returns the size that the end of a gzip file states: that of its last part, up to 4 GB."""
    try:
        with file.open("rb") as opened:
            opened.seek(-4, os.SEEK_END)
            return int.from_bytes(opened.read(4), "little")
    except OSError:
        return 0


def _too_large(file: Path, most: int) -> GeographyError:
    return GeographyError(
        f"{file.name} would grow to more than {most / 1e6:,.0f} MB when it is unpacked: more than "
        f"{MOST_TIMES} times its size.",
        advice="If it is what you mean to read, unpack it first and name what comes out.",
    )


# The longest of them that is any use has some thousand bytes.
MOST_BYTES: Final = 1_000_000


def read_toml(file: Path) -> dict[str, Any]:
    """Returns what a file says, unless it is no file at rest, or far too long.

    Raises:
        FileNotFoundError: There is no such file.
        tomllib.TOMLDecodeError: It is not TOML; the text says where.
        OSError: It cannot be read, is too long, or holds what no program needs: lists in lists in
            lists, or numbers of thousands of digits.
    """
    # A pipe would be waited for, perhaps for ever.
    if not file.is_file() and file.exists():
        raise OSError
    with file.open("rb") as opened:
        data = opened.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise OSError
    try:
        return tomllib.loads(data.decode("utf-8"))
    except tomllib.TOMLDecodeError:
        raise
    except (ValueError, RecursionError):
        raise OSError from None
