"""Blocks of whole lines of a CSV file, as bytes, after its header.

Privacy:
    A line ends where its line feed is, whatever the lines before it hold: no quote, no byte and no
    length of one line changes where another one begins.
"""

import zlib
from collections.abc import Iterator
from gzip import GzipFile
from pathlib import Path
from typing import BinaryIO, Final

# A longer line is malformed. Lines of ordinary files have some hundred bytes.
LONGEST_LINE: Final = 1 << 20
_BLOCK_BYTES: Final = 1 << 22


class DamagedFileError(Exception):
    """A compressed file that is cut off or has other bytes than were once written."""


def blocks_of_lines(path: Path, opened: BinaryIO) -> Iterator[bytes]:
    """Returns the lines after the header in blocks, each line with its line feed.

    Of a line that is too long only the beginning is kept, which is too long as well.

    Args:
        path: The file; ends in .gz if it is compressed.
        opened: The same file, opened; where it stands tells how much of it was read.

    Raises:
        DamagedFileError: It is compressed and damaged, or not whole.
        OSError: It cannot be read.
    """
    rest = b""
    for piece in _pieces(path, opened):
        end = piece.rfind(b"\n") + 1
        if end:
            yield rest + piece[:end]
            rest = b""
        rest = (rest + piece[end:])[: LONGEST_LINE + 1]
    if rest:
        yield rest + b"\n"


def _pieces(path: Path, opened: BinaryIO) -> Iterator[bytes]:
    """Reads a file to its end: only there a compressed one says what it should have been."""
    file = GzipFile(fileobj=opened) if path.suffix == ".gz" else opened
    damaged = False
    try:
        file.readline()
        while piece := file.read(_BLOCK_BYTES):
            yield piece
    except (EOFError, zlib.error):
        damaged = True
    except OSError:
        # What gzip calls a bad file is an error of the system to Python.
        if file is opened:
            raise
        damaged = True
    if damaged:
        raise DamagedFileError(path.name)


def lines_of_text(block: bytes) -> tuple[bytes, int]:
    """Returns the lines of a block that are text, and the number of those that are not.

    Text is UTF-8 without NUL, and with CR nowhere but before a line feed: others would end texts
    or lines for some readers.
    """
    if _is_text(block):
        return block, 0
    lines = [line + b"\n" for line in block[:-1].split(b"\n")]
    text = [line for line in lines if _is_text(line)]
    return b"".join(text), len(lines) - len(text)


def _is_text(data: bytes) -> bool:
    if b"\0" in data or data.count(b"\r") != data.count(b"\r\n"):
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
