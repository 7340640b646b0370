"""The first line of a text file, which names its columns. No row is read here."""

import csv
import gzip
from pathlib import Path
from typing import Final, TextIO, cast

DELIMITERS: Final = (",", ";", "\t", "|")
_LONGEST_HEADER: Final = 1 << 20


def read_header(path: Path) -> tuple[str, list[str]]:
    """Returns the delimiter and the column names; no names if the file is empty.

    The delimiter is the one that cuts the first line into the most names. Rows are never looked at:
    what they hold must not decide how they are read.

    Raises:
        OSError, EOFError, zlib.error: The file cannot be read.
        UnicodeDecodeError: The first line is not UTF-8.
        csv.Error: A quote of the first line is not closed, it is far too long, or it ends in CR.
    """
    line = _first_line(path)
    cuts = {delimiter: _cut(line, delimiter) for delimiter in DELIMITERS}
    names = {delimiter: cut for delimiter, cut in cuts.items() if cut is not None}
    if not names:
        raise csv.Error
    best = max(names, key=lambda delimiter: len(names[delimiter]))
    return best, names[best]


def _first_line(path: Path) -> str:
    # As bytes: text would be decoded beyond the first line, and rows must not decide.
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        data = file.readline(_LONGEST_HEADER)
    line = data.removesuffix(b"\n").removesuffix(b"\r")
    # Where CR alone ends lines, the file would be nothing but a header.
    if len(data) == _LONGEST_HEADER or b"\r" in line:
        raise csv.Error
    return line.decode("utf-8-sig")


def open_text(path: Path) -> TextIO:
    """Opens a UTF-8 text, with or without a byte order mark, gzipped or not."""
    if path.suffix == ".gz":
        return cast("TextIO", gzip.open(path, "rt", encoding="utf-8-sig", newline=""))
    return path.open(encoding="utf-8-sig", newline="")


def _cut(line: str, delimiter: str) -> list[str] | None:
    """Returns the names between delimiters; None where a quote ends before a delimiter."""
    if not line.strip():
        return []
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error:
        return None
