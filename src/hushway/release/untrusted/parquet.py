"""Opens untrusted Parquet files only after checking how much memory they would take."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from hushway.errors import ReleaseError, damaged
from hushway.release.untrusted.limits import TABLE_BYTES, open_plain

# The pages of a Parquet file as they are, not as its footer says they are.
#
# A few compressed bytes can stand for any number of values, and the footer may claim less. What a
# reader will take in memory is told by the header in front of each page, so a verifier looks at
# these headers before it lets a library decompress anything. They are written in Thrift's compact
# protocol, of which this is as much as headers need.

# Statistics in a header may repeat the smallest and the largest text of a page.
_MOST_HEADER = 1 << 16
_MOST_PAGES = 1 << 17
_MOST_DEEP = 8
_BITS, _MORE = 0x7F, 0x80

_SIZE, _COMPRESSED, _DATA, _DICTIONARY = 2, 3, 5, 7
_VALUES, _ENCODING = 1, 2


class Encoding(IntEnum):
    """How values are written, as far as hushway writes them so."""

    PLAIN = 0
    PLAIN_DICTIONARY = 2
    RLE = 3
    RLE_DICTIONARY = 8


class _Kind(IntEnum):
    """What a field of the compact protocol holds."""

    TRUE = 1
    FALSE = 2
    BYTE = 3
    SHORT = 4
    WHOLE = 5
    LONG = 6
    DOUBLE = 7
    BINARY = 8
    STRUCT = 12


@dataclass(frozen=True, kw_only=True)
class Page:
    """What one page holds.

    Attributes:
        values: Its values; none that rows would show, if it is a dictionary.
    """

    size: int
    values: int
    encoding: Encoding


def pages_of(file: BinaryIO, chunk: Any) -> Iterator[Page]:
    """Yields the pages of a column in a row group."""
    place = chunk.data_page_offset
    if chunk.has_dictionary_page:
        place = min(place, chunk.dictionary_page_offset)
    end = place + chunk.total_compressed_size
    for _ in range(_MOST_PAGES):
        if place == end:
            return
        file.seek(place)
        header = _Reader(file.read(_MOST_HEADER))
        facts = header.struct()
        place += header.place + _count(facts, _COMPRESSED)
        if place > end:
            break
        yield _page(facts)
    raise ValueError("pages do not fill their chunk")


def _page(facts: dict[int, Any]) -> Page:
    # Each page is of one kind, and the part of the header that belongs to it is there.
    data, dictionary = facts.get(_DATA), facts.get(_DICTIONARY)
    if (data is None) == (dictionary is None):
        raise ValueError("a page is neither data nor dictionary")
    own = dictionary if data is None else data
    return Page(
        size=_count(facts, _SIZE),
        values=0 if data is None else _count(own, _VALUES),
        encoding=Encoding(_count(own, _ENCODING)),
    )


def _count(facts: Any, field: int) -> int:
    number = facts[field]
    if type(number) is not int or number < 0:
        raise ValueError("a header counts below 0")
    return number


class _Reader:
    """Reads one structure from the beginning of some bytes."""

    def __init__(self, data: bytes) -> None:
        self._data, self.place = data, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Returns the fields of a structure by their number; lists do not occur in headers."""
        if depth > _MOST_DEEP:
            raise ValueError("a header is nested too deeply")
        facts: dict[int, Any] = {}
        field = 0
        while (mark := self._byte()) != 0:
            step, kind = mark >> 4, mark & 0x0F
            field = field + step if step else self._zigzag()
            facts[field] = self._value(_Kind(kind), depth)
        return facts

    def _value(self, kind: _Kind, depth: int) -> Any:
        match kind:
            case _Kind.TRUE | _Kind.FALSE:
                return kind is _Kind.TRUE
            case _Kind.BYTE:
                return self._byte()
            case _Kind.SHORT | _Kind.WHOLE | _Kind.LONG:
                return self._zigzag()
            case _Kind.DOUBLE:
                return self._skip(8)
            case _Kind.BINARY:
                return self._skip(self._varint())
            case _Kind.STRUCT:
                return self.struct(depth + 1)

    def _byte(self) -> int:
        self._skip(1)
        return self._data[self.place - 1]

    def _skip(self, count: int) -> None:
        self.place += count
        if self.place > len(self._data):
            raise ValueError("a header is too long")

    def _varint(self) -> int:
        number, shift = 0, 0
        while True:
            byte = self._byte()
            number |= (byte & _BITS) << shift
            shift += 7
            if not byte & _MORE:
                return number
            if shift > 63:  # noqa: PLR2004 - no number in a header has more bits
                raise ValueError("a number in a header is too long")

    def _zigzag(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)


# Decompressed, all columns: a reader holds one row group at a time.
GROUP_BYTES = 1 << 29

# A footer has some hundred bytes for each column of a row group.
_FOOTER_BYTES = 1 << 22
MOST_GROUPS = 1 << 12
_MAGIC, _TAIL = b"PAR1", struct.Struct("<I4s")
PLAIN = frozenset({Encoding.PLAIN, Encoding.RLE})
READER_LIMITS = {"thrift_string_size_limit": _FOOTER_BYTES, "thrift_container_size_limit": 1 << 16}
_BINARY = "BYTE_ARRAY"


@contextmanager
def open_parquet(
    path: Path, schema: pa.Schema, *, rows: int, values: int = 0, size: int = TABLE_BYTES
) -> Iterator[pq.ParquetFile]:
    """Opens a Parquet file with known columns that is not larger than it may be.

    Nothing is decompressed before it is known how much that takes: the footer is short, there are
    no more rows than there may be, and the header of every page says what follows from that. Texts
    that are not read as numbers into a dictionary have to stand there one by one, so that a long
    one cannot be repeated for nothing.

    Args:
        rows: The most rows that it may have.
        values: The most values in a column of lists, if that is more.
        size: The most bytes of all columns, decompressed.
    """
    check_footer(path)
    with pq.ParquetFile(path, **READER_LIMITS) as file:
        facts = file.metadata
        found = file.schema_arrow
        same = found.names == schema.names and found.types == schema.types
        if not same or facts.num_columns != len(schema):
            raise ReleaseError(
                f"The columns of {path.name} are not {', '.join(schema.names)}, or not of the "
                "kinds that hushway writes.",
                advice="The table was rewritten.",
            )
        if facts.num_rows > rows or facts.num_row_groups > MOST_GROUPS:
            raise _too_large(path)
        with open_plain(path, TABLE_BYTES) as plain:
            taken = _check_pages(path, plain, facts, schema, max(rows, values))
        if taken > size:
            raise _too_large(path)
        yield file


def check_footer(path: Path) -> None:
    """Makes sure that a file ends as a Parquet file, with a footer that is not too long."""
    with open_plain(path, TABLE_BYTES) as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL.size))
        tail = file.read(_TAIL.size)
    length, magic = _TAIL.unpack(tail) if len(tail) == _TAIL.size else (0, b"")
    if magic != _MAGIC or length > min(size, _FOOTER_BYTES):
        raise damaged(f"{path.name} is not a Parquet file, or its footer is larger than it may be.")


def _check_pages(path: Path, file: BinaryIO, facts: Any, schema: pa.Schema, values: int) -> int:
    """Makes sure that what the columns take in memory is what their pages have in bytes.

    Returns:
        How many these are.
    """
    left, whole = [values] * len(schema), 0
    for number in range(facts.num_row_groups):
        group, size = facts.row_group(number), 0
        for column, kind in enumerate(schema.types):
            chunk = group.column(column)
            texts = chunk.physical_type == _BINARY and not pa.types.is_dictionary(kind)
            for page in _pages(path, file, chunk):
                size += page.size
                left[column] -= page.values
                if texts and page.encoding not in PLAIN:
                    raise _too_large(path)
            size = max(size, chunk.total_compressed_size)
        if size > GROUP_BYTES or min(left) < 0:
            raise _too_large(path)
        whole += size
    return whole


def _pages(path: Path, file: BinaryIO, chunk: Any) -> Iterator[Any]:
    try:
        yield from pages_of(file, chunk)
    except (ValueError, KeyError, TypeError):
        raise _too_large(path) from None


def _too_large(path: Path) -> ReleaseError:
    return damaged(
        f"{path.name} would take more memory than such a table needs, or its pages are not as "
        "hushway writes them; it was not read."
    )
