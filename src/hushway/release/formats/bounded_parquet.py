"""Parquet files of strangers, opened only when all that they would take in memory is known."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from hushway.errors import ReleaseError, damaged
from hushway.release.bounded import TABLE_BYTES, open_plain
from hushway.release.formats.parquet_pages import Encoding, pages_of

# Decompressed, all columns: a reader holds one row group at a time.
GROUP_BYTES = 1 << 29

# A footer has some hundred bytes for each column of a row group.
_FOOTER_BYTES = 1 << 22
_MOST_GROUPS = 1 << 12
_MAGIC, _TAIL = b"PAR1", struct.Struct("<I4s")
_PLAIN = frozenset({Encoding.PLAIN, Encoding.RLE})
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
        path: The file.
        schema: Its columns.
        rows: The most rows that it may have.
        values: The most values in a column of lists, if that is more.
        size: The most bytes of all columns, decompressed.

    Raises:
        ReleaseError: It has other columns, or is larger.
    """
    _check_footer(path)
    limits = {"thrift_string_size_limit": _FOOTER_BYTES, "thrift_container_size_limit": 1 << 16}
    with pq.ParquetFile(path, **limits) as file:
        facts = file.metadata
        found = file.schema_arrow
        same = found.names == schema.names and found.types == schema.types
        if not same or facts.num_columns != len(schema):
            raise ReleaseError(
                f"The columns of {path.name} are not {', '.join(schema.names)}, or not of the "
                "kinds that hushway writes.",
                advice="The table was rewritten.",
            )
        if facts.num_rows > rows or facts.num_row_groups > _MOST_GROUPS:
            raise _too_large(path)
        with open_plain(path, TABLE_BYTES) as plain:
            taken = _check_pages(path, plain, facts, schema, max(rows, values))
        if taken > size:
            raise _too_large(path)
        yield file


def _check_footer(path: Path) -> None:
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
                if texts and page.encoding not in _PLAIN:
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
