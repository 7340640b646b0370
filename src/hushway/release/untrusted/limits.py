"""Reads untrusted files within size limits; every reader of a release goes through here.

A verifier does not know who wrote a folder. So it checks what a file is and how large it is before
it opens it, and never holds more of it than files of its kind may have. Each limit is far
above what any release needs, and all of them together keep a verification within the memory of an
ordinary machine; `docs/reference/verify.md` lists them.
"""

import csv
import io
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hushway.errors import ReleaseError, damaged

# A signature is 64 bytes, and its file a few hundred.
SIGNATURE_BYTES = 1 << 12
# The seal, the data package, the label, the steps of a tree: a few lines for each file or column.
PAPER_BYTES = 1 << 22
# Each event is about 300 bytes, and the longest plan has some ten thousand of them.
CERTIFICATE_BYTES = 1 << 24
PICTURE_BYTES = 1 << 24
# Public lists become texts of Python, which take ten times as much room and more.
LIST_BYTES = 1 << 25
# Shapes of areas, with all their digits, and where they meet the cells of sites.
GEOMETRY_BYTES = 1 << 26
# Tables are read some rows at a time, but all of their bytes have to be hashed and parsed.
TABLE_BYTES = 1 << 34
RELEASE_BYTES = 1 << 35
# More files than any family has.
MOST_FILES = 256

_MOST_LIST_ROWS = 1 << 20


@contextmanager
def open_plain(path: Path, most: int) -> Iterator[io.BufferedReader]:
    """Opens a plain file that is not larger than it may be.

    Args:
        path: The file; not a link, and not known by another name.
    """
    try:
        # Opening a pipe without a writer would wait for one.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as problem:
        raise damaged(
            f"{path.name} cannot be opened as a plain file: {problem.strerror}."
        ) from None
    try:
        refuse_odd(path.name, os.fstat(handle))
        refuse_large(path.name, os.fstat(handle).st_size, most)
    except ReleaseError:
        os.close(handle)
        raise
    with os.fdopen(handle, "rb") as file:
        yield file


def read_plain(path: Path, most: int) -> bytes:
    """Returns the bytes of a plain file that is not larger than it may be."""
    with open_plain(path, most) as file:
        # One byte more than allowed: a file may grow while it is read.
        data = file.read(most + 1)
    refuse_large(path.name, len(data), most)
    return data


def holds(path: Path, expected: Iterable[bytes]) -> bool:
    """Whether a file holds just these bytes, part by part; more of it is never read."""
    try:
        with open_plain(path, TABLE_BYTES) as file:
            return all(file.read(len(part)) == part for part in expected) and not file.read(1)
    except ReleaseError:
        return False


def csv_rows(
    name: str, data: bytes, *, most: int = LIST_BYTES, width: int | None = None
) -> list[list[str]]:
    """Returns the rows of a small CSV file, its header first, all of the same length.

    Quotes in front of what a spreadsheet would run are taken away.

    Args:
        width: How many columns there must be; as many as in the header if left out.
    """
    refuse_large(name, len(data), most)
    rows: list[list[str]] = []
    # Row by row: an empty line is a byte of the file, and sixty bytes as a row of Python.
    for row in csv.reader(io.StringIO(data.decode(), newline=""), strict=True):
        width = len(row) if width is None else width
        if len(row) != width or not row or len(rows) > _MOST_LIST_ROWS:
            raise damaged(
                f"{name} is not as hushway writes it: it has rows of different lengths, or more "
                f"than {_MOST_LIST_ROWS:,} of them."
            )
        rows.append([unguarded(text) for text in row])
    return rows


def rewritten(name: str) -> ReleaseError:
    """Returns the error of a public list that was read, and would be written with other bytes."""
    return ReleaseError(
        f"{name} is not as hushway writes it.", advice="The list was edited or rewritten."
    )


def refuse_odd(name: str, facts: os.stat_result) -> None:
    """Makes sure that something is a file, and has no other name."""
    if not stat.S_ISREG(facts.st_mode):
        raise ReleaseError(
            f"{name} is {_kind(facts.st_mode)}, and no plain file.",
            advice="A release consists of plain files only; take out what was added.",
        )
    if facts.st_nlink > 1:
        raise ReleaseError(
            f"{name} is a hard link: the same file has another name, through which it can be "
            "changed.",
            advice="Copy the release to a folder of its own (cp -r), and verify the copy.",
        )


def refuse_large(name: str, size: int, most: int) -> None:
    """Makes sure that a file is not larger than it may be."""
    if size > most:
        raise damaged(
            f"{name} is larger than it may be: no file of its kind needs more than {most:,} bytes. "
            "It was not read."
        )


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFLNK: "a link",
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
    }
    return kinds.get(stat.S_IFMT(mode), "a device")


# Text in CSV files that no spreadsheet takes for a formula.
#
# Spreadsheets run what begins with =, +, - or @, and so with a stranger's name of a place. As OWASP
# advises, a quote is put in front of such text: spreadsheets then show it and do nothing. Who reads
# the file takes the quote away again; text that has quotes there already gets one more, so that
# nothing is lost.

# Spreadsheets skip blanks, and take full-width forms for the narrow ones. A tab or a line break in
# front can push the rest into another cell.
_RISKY = re.compile(
    r"'*(?:[\s\x00-\x1f\ufeff\u200b]*[=+\-@＝＋－＠﹢﹣﹦﹫−]|[^\S\t\r\n]*[\t\r\n])"  # noqa: RUF001
)
# What a spreadsheet reads as a number it does not run.
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?", re.ASCII)


def is_risky(text: str) -> bool:
    """Whether text begins as a formula does, after any number of quotes."""
    return _RISKY.match(text) is not None


def guarded(text: str) -> str:
    """Returns text as it is written to a CSV file; numbers stay as they are."""
    return f"'{text}" if is_risky(text) and not _NUMBER.fullmatch(text) else text


def unguarded(text: str) -> str:
    """Returns the text that `guarded` made this of."""
    return text[1:] if text.startswith("'") and is_risky(text) else text
