"""Reads whole untrusted tables after checking how much memory they would take.

A verifier knows the columns and the most rows of each table, because it knows the public lists. A
reader who only opens a release does not. So what a table takes in memory is counted
from the headers of its pages before any of them is decompressed, with every value as wide as it
will be: a page of one repeated number is short, and its values are not.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from hushway.errors import ReleaseError, damaged
from hushway.release.untrusted.limits import TABLE_BYTES, open_plain
from hushway.release.untrusted.parquet import (
    GROUP_BYTES,
    MOST_GROUPS,
    PLAIN,
    READER_LIMITS,
    check_footer,
    pages_of,
)

# As much as a verification may take (`confined`).
OPENED_BYTES = 2 << 30
# Cells of two letters take twenty times as much as texts of Python.
OPENED_CSV_BYTES = 1 << 26

_WIDTHS = {
    "BOOLEAN": 1,
    "INT32": 8,
    "INT64": 8,
    "FLOAT": 4,
    "DOUBLE": 8,
    # As a number in a dictionary, or where a text begins and ends.
    "BYTE_ARRAY": 8,
}
_TEXT = "BYTE_ARRAY"
# Where each list begins.
_OFFSET = 4


@contextmanager
def open_table(path: Path, *, limited: bool = True) -> Iterator[pq.ParquetFile]:
    """Opens a Parquet file of any columns that does not take more than `OPENED_BYTES` when read.

    Args:
        limited: False to open it whatever it takes.
    """
    check_footer(path)
    try:
        with pq.ParquetFile(path, **READER_LIMITS) as file:
            if limited:
                _refuse_large(path, file)
            yield file
    except (pa.ArrowException, OSError):
        raise damaged(f"{path.name} cannot be read as a Parquet file.") from None


def read_csv(path: Path, types: dict[str, pa.DataType], *, limited: bool = True) -> pa.Table:
    """Reads a CSV file of known columns that is not larger than `OPENED_CSV_BYTES`.

    Args:
        types: The type of each column; of others Arrow finds it out.
        limited: False to read it however large it is.
    """
    with open_plain(path, TABLE_BYTES) as file:
        if limited and file.seek(0, 2) > OPENED_CSV_BYTES:
            raise _too_large(path)
        file.seek(0)
        try:
            return arrow_csv.read_csv(
                file,
                parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=types, strings_can_be_null=False
                ),
            )
        except pa.ArrowException:
            raise damaged(f"{path.name} is not a table as its data package describes it.") from None


def _refuse_large(path: Path, file: pq.ParquetFile) -> None:
    facts, kinds = file.metadata, file.schema_arrow.types
    if facts.num_columns != len(kinds) or facts.num_row_groups > MOST_GROUPS:
        raise _odd(path)
    whole = 0
    with open_plain(path, TABLE_BYTES) as plain:
        for number in range(facts.num_row_groups):
            group = facts.row_group(number)
            sizes = [
                _taken(path, plain, group.column(column), kind) for column, kind in enumerate(kinds)
            ]
            if sum(decompressed for decompressed, _ in sizes) > GROUP_BYTES:
                raise _too_large(path)
            whole += sum(held for _, held in sizes)
    if whole > OPENED_BYTES:
        raise _too_large(path)


def _taken(path: Path, file: BinaryIO, chunk: Any, kind: pa.DataType) -> tuple[int, int]:
    """Returns how many bytes a column of a row group has decompressed, and how many as a table."""
    width = _width(path, chunk, kind)
    is_text = chunk.physical_type == _TEXT and not pa.types.is_dictionary(kind)
    decompressed = held = 0
    try:
        for page in pages_of(file, chunk):
            # A long text that is repeated by its number would be written out each time.
            if is_text and page.encoding not in PLAIN:
                raise _odd(path)
            decompressed += page.size
            held += max(page.size, page.values * width)
    except (ValueError, KeyError, TypeError):
        raise _odd(path) from None
    return max(decompressed, chunk.total_compressed_size), held


def _width(path: Path, chunk: Any, kind: pa.DataType) -> int:
    is_list = pa.types.is_list(kind)
    inner = kind.value_type if is_list else kind
    if pa.types.is_nested(inner) or chunk.physical_type not in _WIDTHS:
        raise _odd(path)
    return int(_WIDTHS[chunk.physical_type]) + (_OFFSET if is_list else 0)


def _odd(path: Path) -> ReleaseError:
    return damaged(f"{path.name} is not written as hushway writes tables; it was not read.")


def _too_large(path: Path) -> ReleaseError:
    return ReleaseError(
        f"{path.name} would take more memory than a table of an unknown publisher may; it was not "
        "read.",
        advice="If you know the publisher, open the release with hushway.open(folder, "
        "trusted=True).",
    )
