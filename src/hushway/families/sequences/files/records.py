"""Records that were learnt as files: sequences, the prefixes that are sure, and what was asked."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.files.lists import (
    BATCH_STOPS,
    LIST,
    escaped,
    joined_array,
    not_as_written,
    place_lists,
    place_texts,
    read_lists,
    write_lists,
)
from hushway.families.sequences.files.rows import sequences_columns, stop_columns
from hushway.families.sequences.fit.table import (
    QuestionSummary,
    RecordTable,
    SequenceTable,
    StepSummary,
)
from hushway.geography.locations import Locations
from hushway.release.formats.columns import NUMBER, TEXT, WHOLE, Column, Columns
from hushway.release.formats.csv import table_csv
from hushway.release.formats.interval import INTERVAL, are_intervals, interval_of
from hushway.release.formats.places import csv_bytes, number_array
from hushway.release.untrusted.limits import PAPER_BYTES, csv_rows, rewritten

_PREFIX_NUMBERS = (
    Column("count", WHOLE, "Number of the published records that begin with these stops."),
    Column("standard_error", NUMBER, "Standard error of that, as learnt from the noisy answers."),
    *INTERVAL,
)
QUESTIONS = Columns(
    (
        Column("question", TEXT, "What was counted."),
        Column("cells", WHOLE, "In how many cells."),
        Column(
            "worth", WHOLE, "What one count added to its cell before noise; 1 unless shared out."
        ),
        Column("standard_error", NUMBER, "Standard deviation of the noise in one count."),
    ),
    key=("question",),
)


def write_records(table: RecordTable, path: Path) -> None:
    """Writes the distinct sequences as one Parquet file."""
    locations = table.taxonomy.locations
    arrays = [*place_lists(locations, table.start, table.stops), number_array(table.counts)]
    schema = sequences_columns(LIST, locations).schema
    write_lists(path, pa.RecordBatch.from_arrays(arrays, schema=schema))


def write_prefixes(table: RecordTable, path: Path) -> None:
    """Writes the prefixes that are sure as one Parquet file."""
    locations = table.taxonomy.locations
    arrays = [*place_lists(locations, *prefix_lists(table)), *_prefix_numbers(table)]
    schema = prefix_columns(LIST, locations).schema
    write_lists(path, pa.RecordBatch.from_arrays(arrays, schema=schema))


def _prefix_numbers(table: RecordTable) -> list[pa.Array]:
    counts, errors = table.prefix_counts, table.prefix_errors
    return list(map(number_array, (counts, errors, *interval_of(counts, errors))))


def records_csv(table: RecordTable) -> Iterator[bytes]:
    """Yields the distinct sequences as CSV, stops joined by " > "."""
    labels = (text for one in _texts(table) for text in one.to_pylist())
    batches = (batch for batch, *_ in lines_with_stops(table))
    return table_csv(lines_columns(table).names, batches, labels=labels)


def lists_columns(table: RecordTable) -> Columns:
    """Returns the columns of sequences as lists."""
    return sequences_columns(LIST, table.taxonomy.locations)


def lines_columns(table: RecordTable) -> Columns:
    """Returns the columns of sequences as texts."""
    return sequences_columns(TEXT, table.taxonomy.locations)


def _texts(table: RecordTable) -> list[pa.Array]:
    """Returns the ids of places, and their names if they have any, as they stand in texts."""
    return [escaped(texts) for texts in place_texts(table.taxonomy.locations)]


def read_records(locations: Locations, path: Path) -> tuple[IntArray, IntArray, IntArray]:
    """Reads sequences back: where each begins, the places of all, and counts."""
    start, stops, (counts,) = read_lists(locations, path, sequences_columns(LIST, locations).schema)
    if np.any(np.diff(start) < 1):
        raise not_as_written(path)
    return start, stops, counts


def read_prefixes(
    locations: Locations, path: Path
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Reads prefixes back: the prefix that each continues, its last place, counts and errors."""
    schema = prefix_columns(LIST, locations).schema
    start, stops, (counts, errors, low, high) = read_lists(locations, path, schema)
    sound = np.all(np.isfinite(errors) & (errors > 0)) and are_intervals(low, high, counts, errors)
    if np.any(np.diff(start) < 1) or not sound:
        raise not_as_written(path)
    parent = np.full(len(counts), -1, dtype=np.int64)
    known: dict[bytes, int] = {}
    for number, (begin, end) in enumerate(
        zip(start[:-1].tolist(), start[1:].tolist(), strict=True)
    ):
        whole, before = stops[begin:end].tobytes(), stops[begin : end - 1].tobytes()
        if whole in known or (before and before not in known):
            raise not_as_written(path)
        known[whole] = number
        parent[number] = known[before] if before else -1
    place = stops[start[1:] - 1]
    return parent, place, counts, errors


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


def read_questions(data: bytes) -> tuple[QuestionSummary, ...]:
    """Reads the questions back."""
    _, *rows = csv_rows("questions.csv", data, most=PAPER_BYTES, width=len(QUESTIONS.names))
    try:
        found = tuple(
            QuestionSummary(
                name=name, cells=int(cells), worth=int(worth), standard_error=float(error)
            )
            for name, cells, worth, error in rows
        )
    except ValueError:
        raise rewritten("questions.csv") from None
    if questions_csv(found) != data or not all(math.isfinite(one.standard_error) for one in found):
        raise rewritten("questions.csv")
    return found


def questions_csv(questions: Iterable[QuestionSummary]) -> bytes:
    """Returns what is public about every question."""
    return csv_bytes(
        QUESTIONS.names,
        ((one.name, str(one.cells), str(one.worth), repr(one.standard_error)) for one in questions),
    )


def _batches(start: IntArray) -> Iterator[slice]:
    """Yields rows with about as many stops as a batch has."""
    first, rows = 0, len(start) - 1
    while first < rows:
        last = int(np.searchsorted(start, start[first] + BATCH_STOPS, side="right")) - 1
        last = min(max(last, first + 1), rows)
        yield slice(first, last)
        first = last


def lines_with_stops(table: RecordTable) -> Iterator[tuple[pa.RecordBatch, IntArray, IntArray]]:
    """Yields the distinct sequences as texts, some at a time, with where each begins and stops."""
    schema, texts = lines_columns(table).schema, _texts(table)
    for rows in _batches(table.start):
        start = table.start[rows.start : rows.stop + 1]
        stops = table.stops[start[0] : start[-1]]
        joined = [joined_array(each, start, stops) for each in texts]
        arrays = [*joined, number_array(table.counts[rows])]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema), start, stops


def prefix_columns(kind: pa.DataType, locations: Locations) -> Columns:
    """Returns the columns of prefixes, as lists or as texts."""
    stops = stop_columns("prefix", "first stops", kind, locations)
    return Columns((*stops, *_PREFIX_NUMBERS), key=("prefix",))


def prefix_lines(table: RecordTable) -> pa.RecordBatch:
    """Returns the prefixes that are sure as texts."""
    start, stops = prefix_lists(table)
    joined = [joined_array(each, start, stops) for each in _texts(table)]
    arrays = [*joined, *_prefix_numbers(table)]
    schema = prefix_columns(TEXT, table.taxonomy.locations).schema
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def trie_of(table: RecordTable) -> SequenceTable:
    """Returns the tree of all prefixes of published records.

    The noise of every node is that of the last question, which looked at whole records.
    """
    places, grain = len(table.taxonomy.locations), table.taxonomy.grains - 1
    codes = table.taxonomy.codes(grain)
    length = np.diff(table.start)
    record, above = np.arange(len(length)), np.full(len(length), -1, dtype=np.int64)
    parents, places_of, counts, ends, steps = [], [], [], [], []
    nodes = 0
    for stop in range(int(length.max(initial=0))):
        inside = length[record] > stop
        record, above = record[inside], above[inside]
        at = table.stops[table.start[record] + stop]
        keys, number = np.unique((above + 1) * places + at, return_inverse=True)
        here = np.zeros(len(keys), dtype=np.int64)
        np.add.at(here, number, table.counts[record])
        ending = np.zeros(len(keys), dtype=np.int64)
        last = length[record] == stop + 1
        np.add.at(ending, number[last], table.counts[record[last]])
        parents.append(keys // places - 1)
        places_of.append(codes[keys % places])
        counts.append(here)
        ends.append(ending)
        steps.append(
            StepSummary(
                stop=stop,
                grain=grain,
                candidates=len(keys),
                threshold=1,
                kept=len(keys),
                standard_error=table.questions[-1].standard_error,
            )
        )
        above = nodes + number.astype(np.int64)
        nodes += len(keys)
    together = np.concatenate(counts) if counts else np.empty(0, dtype=np.int64)
    empty = [np.empty(0, dtype=np.int64)]
    return SequenceTable(
        taxonomy=table.taxonomy,
        periods=None,
        parent=np.concatenate(parents or empty).astype(np.int64),
        step=np.repeat(np.arange(len(steps)), [step.kept for step in steps]).astype(np.int64),
        period=np.zeros(nodes, dtype=np.int64),
        code=np.concatenate(places_of or empty).astype(np.int64),
        measured=together,
        counts=together,
        ends=np.concatenate(ends or empty),
        steps=tuple(steps),
    )
