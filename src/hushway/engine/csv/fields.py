"""The fields of CSV lines: each line is a row, and what it says depends on that line alone.

RFC 4180 without line breaks in fields: a field may be quoted, quotes within quotes are doubled, and
every other use of quotes is malformed, as are lines with too many or too few fields.
"""

from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushway.arrays import IntArray
from hushway.engine.csv.lines import LONGEST_LINE, lines_of_text
from hushway.numerics.compiled import compiled_for_threads

Bytes = NDArray[np.uint8]

_LF: Final = 10
_CR: Final = 13
_QUOTE: Final = 34


def fields_of_lines(
    block: bytes, delimiter: str, width: int, columns: IntArray
) -> tuple[pa.RecordBatch, int]:
    """Returns some columns of well-formed lines, and the number of malformed ones.

    Empty fields are null; empty lines are no rows.

    Args:
        block: Whole lines, each with its line feed.
        delimiter: What fields are divided by.
        width: How many fields a line has.
        columns: Which of them are wanted, in ascending order.
    """
    text, dropped = lines_of_text(block)
    data = np.frombuffer(text, np.uint8)
    most = int(np.count_nonzero(data == _LF))
    wanted = np.full(width, -1)
    wanted[columns] = np.arange(len(columns))
    texts = np.empty((len(columns), len(data)), np.uint8)
    ends = np.zeros((len(columns), most + 1), np.int32)
    rows, malformed = _split(data, ord(delimiter), wanted, texts, ends)
    arrays = [_text_array(texts[i], ends[i, : rows + 1]) for i in range(len(columns))]
    return pa.record_batch(arrays, schema=schema_of(columns)), malformed + dropped


def schema_of(columns: IntArray) -> pa.Schema:
    """Returns what the columns are called: "c" and their place in a line."""
    return pa.schema([(f"c{place}", pa.string()) for place in columns])


def _text_array(text: Bytes, ends: NDArray[np.int32]) -> pa.Array:
    filled = np.packbits(ends[1:] > ends[:-1], bitorder="little")
    buffers = [pa.py_buffer(one) for one in (filled, ends, text[: ends[-1]])]
    return pa.StringArray.from_buffers(len(ends) - 1, buffers[1], buffers[2], buffers[0])


@compiled_for_threads
def _split(
    data: Bytes, delimiter: int, wanted: IntArray, texts: Bytes, ends: Any
) -> tuple[int, int]:
    """Writes the wanted fields of well-formed lines; returns the numbers of rows and others."""
    rows = malformed = start = 0
    for stop in range(len(data)):
        if data[stop] != _LF:
            continue
        last = stop - 1 if stop > start and data[stop - 1] == _CR else stop
        if last > start:
            if stop - start <= LONGEST_LINE and _copy_fields(
                data[start:last], delimiter, wanted, texts, ends, rows
            ):
                rows += 1
            else:
                malformed += 1
        start = stop + 1
    return rows, malformed


@compiled_for_threads
def _copy_fields(  # noqa: PLR0917  compiled code takes plain arrays
    line: Bytes, delimiter: int, wanted: IntArray, texts: Bytes, ends: Any, row: int
) -> bool:
    """Writes the wanted fields of one line to a row; False if the line is malformed."""
    start, width = 0, len(wanted)
    for field in range(width):
        end = _end_of_field(line, start, delimiter)
        if end < 0 or (end == len(line)) != (field == width - 1):
            return False
        column = wanted[field]
        if column >= 0:
            before = ends[column, row]
            ends[column, row + 1] = _copy_field(line[start:end], texts[column], before)
        start = end + 1
    return True


@compiled_for_threads
def _end_of_field(line: Bytes, at: int, delimiter: int) -> int:
    """Returns where the delimiter after a field is, or the line's end; -1 if it is malformed."""
    quoted = at < len(line) and line[at] == _QUOTE
    at += quoted
    while at < len(line):
        if line[at] == _QUOTE:
            if not quoted:
                return -1
            at += 1
            if at == len(line) or line[at] == delimiter:
                return at
            if line[at] != _QUOTE:
                return -1
        elif line[at] == delimiter and not quoted:
            return at
        at += 1
    return -1 if quoted else at


@compiled_for_threads
def _copy_field(field: Bytes, text: Bytes, length: int) -> int:
    """Writes a field, without its quotes, after a text of some length; returns the new length."""
    quoted = len(field) > 0 and field[0] == _QUOTE
    at, end = (1, len(field) - 1) if quoted else (0, len(field))
    while at < end:
        text[length] = field[at]
        length += 1
        # The only quotes within a field are doubled.
        at += 2 if field[at] == _QUOTE else 1
    return length
