"""How the bytes of a text stand for letters, and the same text as UTF-8.

Privacy:
    What cannot be decoded spoils the line that it stands in and no other one: a letter never
    reaches over the end of a line.
"""

import gzip
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, Literal, get_args

# Windows-1252 has all letters of Latin-1 at the same bytes.
Encoding = Literal["utf-8", "utf-16", "windows-1252"]
ENCODINGS: Final[tuple[Encoding, ...]] = get_args(Encoding)
_PIECE_BYTES: Final = 1 << 22
# Passed on as bytes that are not UTF-8, by which whoever reads lines knows the ones to drop.
_PASSED_ON: Final = {"utf-16": "surrogatepass", "windows-1252": "surrogateescape"}
_NOT_UTF8: Final = b"\xff"


def encoding_told_by(text: bytes) -> Encoding:
    """Returns the encoding that bytes look like; a text in plain English letters is UTF-8."""
    if text.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or b"\0" in text:
        return "utf-16"
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"


def may_be_in(text: bytes, encoding: Encoding) -> bool:
    """Whether a first line can be in an encoding: plain letters are alike in two of them."""
    told = encoding_told_by(text)
    return told == encoding or (text.isascii() and {told, encoding} == {"utf-8", "windows-1252"})


def encoding_of_public(file: Path) -> Encoding:
    """Returns the encoding that a whole file looks like: for public files alone."""
    with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as opened:
        return encoding_told_by(opened.read())


def utf8_pieces(file: BinaryIO | gzip.GzipFile, encoding: Encoding) -> Iterator[bytes]:
    """Yields a text as UTF-8, piece by piece; what it cannot decode is no UTF-8 there either."""
    piece = file.read(_PIECE_BYTES)
    if encoding == "utf-8":
        while piece:
            yield piece
            piece = file.read(_PIECE_BYTES)
        return
    decoder = getincrementaldecoder(_codec(piece, encoding))(_PASSED_ON[encoding])
    while piece:
        yield decoder.decode(piece).encode("utf-8", _PASSED_ON[encoding])
        piece = file.read(_PIECE_BYTES)
    if decoder.getstate()[0]:
        # Half a letter at the end.
        yield _NOT_UTF8


def _codec(beginning: bytes, encoding: Encoding) -> str:
    if encoding != "utf-16":
        return encoding
    return "utf-16-be" if beginning.startswith(BOM_UTF16_BE) else "utf-16-le"
