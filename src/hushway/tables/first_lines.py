"""The first line of a text file, which names its columns. No row is read here."""

import csv
import gzip
from io import BytesIO
from pathlib import Path
from typing import Final, TextIO, cast

from hushway.tables.encodings import Encoding, encoding_told_by, may_be_in, utf8_pieces

DELIMITERS: Final = (",", ";", "\t", "|")
_LONGEST_HEADER: Final = 1 << 20


def read_header(path: Path, encoding: Encoding | None = None) -> tuple[str, list[str]]:
    """Returns the delimiter and the column names; no names if the file is empty.

    The delimiter is the one that cuts the first line into the most names. Rows are never looked at:
    what they hold must not decide how they are read.

    Args:
        path: The file.
        encoding: Its encoding; told from the first line unless given.

    Raises:
        OSError, EOFError, zlib.error: The file cannot be read.
        UnicodeError: The first line is not in this encoding.
        csv.Error: A quote of the first line is not closed, it is far too long, or it ends in CR.
    """
    line = _first_line(path, encoding)
    cuts = {delimiter: _cut(line, delimiter) for delimiter in DELIMITERS}
    names = {delimiter: cut for delimiter, cut in cuts.items() if cut is not None}
    if not names:
        raise csv.Error
    best = max(names, key=lambda delimiter: len(names[delimiter]))
    return best, names[best]


def header_encoding(path: Path) -> Encoding:
    """Returns the encoding that the first line looks like."""
    return encoding_told_by(_first_bytes(path))


def _first_line(path: Path, encoding: Encoding | None) -> str:
    # As bytes: text would be decoded beyond the first line, and rows must not decide.
    data = _first_bytes(path)
    encoding = encoding_told_by(data) if encoding is None else encoding
    if not may_be_in(data, encoding):
        raise UnicodeError
    text = b"".join(utf8_pieces(BytesIO(data), encoding)).lstrip(b"\r\n")
    first, _, _ = text.partition(b"\n")
    line = first.removesuffix(b"\r")
    # Where CR alone ends lines, the file would be nothing but a header.
    if len(data) >= _LONGEST_HEADER or b"\r" in line:
        raise csv.Error
    return line.decode("utf-8-sig")


def _first_bytes(path: Path) -> bytes:
    """Returns a file up to the end of its first line with a letter, in whatever encoding."""
    data = b""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        while len(data) < _LONGEST_HEADER and not _has_line(data):
            piece = file.readline(_LONGEST_HEADER)
            if not piece:
                break
            data += piece
    return data


def _has_line(data: bytes) -> bool:
    """Whether a line has ended: of UTF-16 a line feed has two bytes, and others end in it too."""
    if encoding_told_by(data) != "utf-16":
        return bool(data.strip())
    return any(line.strip() for line in data.decode("utf-16", "replace").split("\n")[:-1])


def open_text(path: Path, encoding: Encoding = "utf-8") -> TextIO:
    """Opens a text, with or without a byte order mark, gzipped or not."""
    codec = "utf-8-sig" if encoding == "utf-8" else encoding
    if path.suffix == ".gz":
        return cast("TextIO", gzip.open(path, "rt", encoding=codec, newline=""))
    return path.open(encoding=codec, newline="")


def _cut(line: str, delimiter: str) -> list[str] | None:
    """Returns the names between delimiters; None where a quote ends before a delimiter."""
    if not line.strip():
        return []
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error:
        return None
