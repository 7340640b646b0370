"""Records that were learnt as files: sequences, the prefixes that are sure, and what was asked."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.sequences.files.rows import (
    BATCH_STOPS,
    GROUP_STOPS,
    LIST,
    MOST_STOPS,
    SEPARATOR,
)
from hushway.families.sequences.fit.record_table import QuestionSummary, RecordTable
from hushway.geography.locations import Locations
from hushway.release.formats.csv import (
    BATCH_ROWS,
    positions_among,
    read_batches,
    stream_csv,
    whole_column,
)
from hushway.release.formats.places import (
    csv_bytes,
    number_array,
    numbers_of,
    required_columns,
    text_array,
)
from hushway.release.untrusted.limits import PAPER_BYTES, csv_rows, rewritten
from hushway.release.untrusted.parquet import open_parquet

SEQUENCE_COLUMNS = ("sequence", "count")
PREFIX_COLUMNS = ("prefix", "count", "standard_error")
QUESTION_COLUMNS = ("question", "cells", "worth", "standard_error")

_SEQUENCES = required_columns(("sequence", LIST), ("count", pa.int64()))
_LINES = required_columns(("sequence", pa.string()), ("count", pa.int64()))
_PREFIXES = required_columns(
    ("prefix", LIST), ("count", pa.int64()), ("standard_error", pa.float64())
)


def write_records(table: RecordTable, path: Path) -> None:
    """Writes the distinct sequences as one Parquet file."""
    lists = _lists(table.taxonomy.locations, table.start, table.stops)
    _write(path, pa.RecordBatch.from_arrays([lists, number_array(table.counts)], schema=_SEQUENCES))


def write_prefixes(table: RecordTable, path: Path) -> None:
    """Writes the prefixes that are sure as one Parquet file."""
    lists = _lists(table.taxonomy.locations, *prefix_lists(table))
    arrays = [lists, number_array(table.prefix_counts), number_array(table.prefix_errors)]
    _write(path, pa.RecordBatch.from_arrays(arrays, schema=_PREFIXES))


def write_records_csv(table: RecordTable, path: Path) -> None:
    """Writes the distinct sequences as one CSV file, stops joined by " > "."""
    escaped = _escaped(table.taxonomy.locations)
    batches = (_lines(table, rows, escaped) for rows in _batches(table.start))
    stream_csv(path, _LINES, batches, labels=iter(escaped.to_pylist()))


def check_records_csv(table: RecordTable, path: Path) -> None:
    """Makes sure that a CSV file holds the sequences of a table, in order.

    Raises:
        ReleaseError: It does not.
    """
    escaped, row = _escaped(table.taxonomy.locations), 0
    for batch in read_batches(path, _LINES, labels=iter(escaped.to_pylist())):
        rows = slice(row, row + len(batch))
        row = rows.stop
        same = row <= len(table.counts) and batch.schema.names == _LINES.names
        if not same or not all(
            map(pa.Array.equals, batch.columns, _lines(table, rows, escaped).columns)
        ):
            raise _disagreement(path)
    if row != len(table.counts):
        raise _disagreement(path)


def read_records(locations: Locations, path: Path) -> tuple[IntArray, IntArray, IntArray]:
    """Reads sequences back: where each begins, the places of all, and counts.

    Raises:
        ReleaseError: The rows are not lists of public places with counts above 0.
    """
    start, stops, (counts,) = _read(locations, path, _SEQUENCES)
    if np.any(counts < 1) or np.any(np.diff(start) < 1):
        raise _odd(path)
    return start, stops, counts.astype(np.int64)


def read_prefixes(
    locations: Locations, path: Path
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Reads prefixes back: the prefix that each continues, its last place, counts and errors.

    Raises:
        ReleaseError: The rows are not prefixes in order, with counts above 0 and errors.
    """
    start, stops, (counts, errors) = _read(locations, path, _PREFIXES)
    length = np.diff(start)
    if np.any(counts < 1) or np.any(length < 1) or not np.all(np.isfinite(errors) & (errors > 0)):
        raise _odd(path)
    parent = np.full(len(counts), -1, dtype=np.int64)
    known: dict[bytes, int] = {}
    for number, (begin, end) in enumerate(
        zip(start[:-1].tolist(), start[1:].tolist(), strict=True)
    ):
        whole, before = stops[begin:end].tobytes(), stops[begin : end - 1].tobytes()
        if whole in known or (before and before not in known):
            raise _odd(path)
        known[whole] = number
        parent[number] = known[before] if before else -1
    place = stops[start[1:] - 1]
    return parent, place, counts.astype(np.int64), errors.astype(np.float64)


def prefix_lists(table: RecordTable) -> tuple[IntArray, IntArray]:
    """Returns where each prefix begins, and the places of all of them in a row."""
    depth = np.zeros(len(table.parent), dtype=np.int64)
    at, row = table.parent, np.arange(len(table.parent))
    depth += 1
    while len(at):
        inside = at >= 0
        at, row = at[inside], row[inside]
        depth[row] += 1
        at = table.parent[at]
    start = np.concatenate([[0], np.cumsum(depth)]).astype(np.int64)
    stops = np.empty(int(start[-1]), dtype=np.int64)
    at, slot = np.arange(len(table.parent)), start[1:] - 1
    while len(at):
        stops[slot] = table.place[at]
        at = table.parent[at]
        inside = at >= 0
        at, slot = at[inside], slot[inside] - 1
    return start, stops


def questions_csv(table: RecordTable) -> bytes:
    """Returns what is public about every question."""
    return _render(table.questions)


def read_questions(data: bytes) -> tuple[QuestionSummary, ...]:
    """Reads the questions back.

    Raises:
        ReleaseError: The bytes are not what `questions_csv` writes.
    """
    _, *rows = csv_rows("questions.csv", data, most=PAPER_BYTES, width=len(QUESTION_COLUMNS))
    try:
        found = tuple(
            QuestionSummary(
                name=name, cells=int(cells), worth=int(worth), standard_error=float(error)
            )
            for name, cells, worth, error in rows
        )
    except ValueError:
        raise rewritten("questions.csv") from None
    if _render(found) != data or not all(math.isfinite(one.standard_error) for one in found):
        raise rewritten("questions.csv")
    return found


def _render(questions: tuple[QuestionSummary, ...]) -> bytes:
    return csv_bytes(
        QUESTION_COLUMNS,
        ((one.name, str(one.cells), str(one.worth), repr(one.standard_error)) for one in questions),
    )


def _lists(locations: Locations, start: IntArray, stops: IntArray) -> pa.ListArray:
    ids = text_array(locations.ids)
    return pa.ListArray.from_arrays(
        number_array(start.astype(np.int32)), ids.take(number_array(stops)), type=LIST
    )


def _write(path: Path, batch: pa.RecordBatch) -> None:
    stops = len(batch.column(0).flatten())
    # A reader holds a row group at a time.
    rows = max(1, len(batch) * GROUP_STOPS // max(1, stops))
    # Texts one by one: a verifier then knows what a file takes before it reads it.
    with pq.ParquetWriter(path, batch.schema, compression="zstd", use_dictionary=False) as writer:
        writer.write_batch(batch, row_group_size=rows)


def _read(
    locations: Locations, path: Path, schema: pa.Schema
) -> tuple[IntArray, IntArray, list[FloatArray]]:
    """Returns where lists begin, the places in all of them, and the other columns."""
    ids = text_array(locations.ids)
    lengths, stops = ([np.empty(0, dtype=np.int64)] for _ in range(2))
    others: list[list[FloatArray]] = [[np.empty(0)] for _ in schema.names[1:]]
    with open_parquet(path, schema, rows=MOST_STOPS, values=MOST_STOPS) as file:
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            lists = batch.column(0)
            if any(column.null_count for column in batch.columns):
                raise _odd(path)
            start = numbers_of(lists.offsets).astype(np.int64)
            values = lists.values.slice(int(start[0]), int(start[-1] - start[0]))
            lengths.append(np.diff(start))
            stops.append(positions_among(values, ids))
            for column, found in zip(batch.columns[1:], others, strict=True):
                found.append(
                    whole_column(column) if column.type == pa.int64() else numbers_of(column)
                )
    ends = np.cumsum(np.concatenate(lengths))
    begins = np.concatenate([[0], ends]).astype(np.int64)
    return begins, np.concatenate(stops), [np.concatenate(column) for column in others]


def _batches(start: IntArray) -> Iterator[slice]:
    """Yields rows with about as many stops as a batch has."""
    first, rows = 0, len(start) - 1
    while first < rows:
        last = int(np.searchsorted(start, start[first] + BATCH_STOPS, side="right")) - 1
        last = min(max(last, first + 1), rows)
        yield slice(first, last)
        first = last


def _lines(table: RecordTable, rows: slice, escaped: pa.Array) -> pa.RecordBatch:
    start = table.start[rows.start : rows.stop + 1]
    stops = table.stops[start[0] : start[-1]]
    offsets = number_array((start - start[0]).astype(np.int32))
    # An Arrow value: for a text of Python's own, Arrow would load pandas.
    joined = pc.binary_join(
        pa.ListArray.from_arrays(offsets, escaped.take(number_array(stops))),
        text_array([SEPARATOR])[0],
    )
    return pa.RecordBatch.from_arrays([joined, number_array(table.counts[rows])], schema=_LINES)


def _escaped(locations: Locations) -> pa.Array:
    return text_array([text.replace("\\", "\\\\").replace(">", "\\>") for text in locations.ids])


def _odd(path: Path) -> ReleaseError:
    return ReleaseError(
        f"{path.name} is not as hushway writes it.", advice="The file was edited or rewritten."
    )


def _disagreement(path: Path) -> ReleaseError:
    return damaged(f"{path.name} does not hold the sequences of the table, in order.")
