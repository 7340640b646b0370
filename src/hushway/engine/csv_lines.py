"""Blocks of whole lines of a CSV file, as bytes, after its header.

Privacy:
    A line ends where its line feed is, whatever the lines before it hold: no quote, no byte and no
    length of one line changes where another one begins.
"""

import zlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from gzip import GzipFile
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushway.arrays import IntArray
from hushway.numerics.compiled import compiled_for_threads
from hushway.tables.encodings import Encoding, utf8_pieces
from hushway.tables.layout import Layout

# A longer line is malformed. Lines of ordinary files have some hundred bytes.
LONGEST_LINE: Final = 1 << 20


class DamagedFileError(Exception):
    """A compressed file that is cut off or has other bytes than were once written."""


def blocks_of_lines(path: Path, opened: BinaryIO, encoding: Encoding = "utf-8") -> Iterator[bytes]:
    """Returns the lines after the header in blocks of UTF-8, each line with its line feed.

    Of a line that is too long only the beginning is kept, which is too long as well.

    Args:
        path: The file; ends in .gz if it is compressed.
        opened: The same file, opened; where it stands tells how much of it was read.
        encoding: How its bytes stand for letters.

    Raises:
        DamagedFileError: It is compressed and damaged, or not whole.
        OSError: It cannot be read.
    """
    rest = b""
    for piece in _pieces(path, opened, encoding):
        end = piece.rfind(b"\n") + 1
        if end:
            yield rest + piece[:end]
            rest = b""
        rest = (rest + piece[end:])[: LONGEST_LINE + 1]
    if rest:
        yield rest + b"\n"


def _pieces(path: Path, opened: BinaryIO, encoding: Encoding) -> Iterator[bytes]:
    """Reads a file to its end: only there a compressed one says what it should have been."""
    file = GzipFile(fileobj=opened) if path.suffix == ".gz" else opened
    damaged = False
    try:
        pieces = utf8_pieces(file, encoding)
        # A header is far shorter than a piece; lines without a letter may stand before it.
        yield next(pieces, b"").lstrip(b"\r\n").partition(b"\n")[2]
        yield from pieces
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


class CsvStream:
    """The rows of CSV files, the columns of a layout alone, as texts.

    Attributes:
        malformed: How many lines were malformed, known after a scan to the end.
        share: Which share of the files the latest scan has read.

    Raises:
        OSError: A file is not there.
    """

    def __init__(self, layout: Layout, threads: int) -> None:
        self.malformed = 0
        self.share = 0.0
        self._layout = layout
        self._threads = threads
        self._bytes = sum(path.stat().st_size for path in layout.files.paths)
        self._columns = np.array(sorted(set(layout.places.values())), dtype=np.int64)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Begins a scan; DuckDB also asks for one to know the columns, and reads none of it."""
        reader = pa.RecordBatchReader.from_batches(schema_of(self._columns), self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        malformed, self.share = 0, 0.0
        with ThreadPoolExecutor(max_workers=self._threads) as pool:
            waiting: deque[Future[tuple[pa.RecordBatch, int]]] = deque()
            for block in self._blocks():
                waiting.append(pool.submit(self._parsed, block))
                if len(waiting) > self._threads:
                    batch, some = waiting.popleft().result()
                    malformed += some
                    yield batch
            for future in waiting:
                batch, some = future.result()
                malformed += some
                yield batch
        self.malformed = malformed

    def _parsed(self, block: bytes) -> tuple[pa.RecordBatch, int]:
        return fields_of_lines(block, self._layout.delimiter, self._layout.width, self._columns)

    def _blocks(self) -> Iterator[bytes]:
        before = 0
        for path in self._layout.files.paths:
            with path.open("rb") as opened:
                for block in blocks_of_lines(path, opened, self._layout.encoding):
                    self.share = (before + opened.tell()) / max(self._bytes, 1)
                    yield block
                before += opened.tell()
