"""Published sequences of a tree, and likely whole records, as Parquet and CSV."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import numpy as np
import pyarrow as pa

from hushway.arrays import IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.sequences.files.lists import (
    BATCH_STOPS,
    LIST,
    escaped,
    joined_array,
    list_array,
    place_lists,
    place_texts,
    read_lists,
    records_through,
    same_texts,
    write_lists,
)
from hushway.families.sequences.files.taxonomy import LOCATIONS
from hushway.families.sequences.files.tree import ROOT
from hushway.families.sequences.fit.completion import CompletedSequences, complete
from hushway.families.sequences.fit.table import SequenceTable
from hushway.geography.locations import Locations
from hushway.release.folder.published_file import PERIODS
from hushway.release.formats.columns import TEXT, WHOLE, Column, Columns, write_parquet
from hushway.release.formats.csv import table_csv, whole_column
from hushway.release.formats.names import place_names
from hushway.release.formats.places import number_array, text_array
from hushway.release.untrusted.parquet import open_parquet


@dataclass(frozen=True, kw_only=True, eq=False)
class Sequences:
    """Some published sequences, in the order of the nodes at which they end.

    Attributes:
        start: Where each sequence begins among the stops; one entry more than sequences.
        stops: The nodes of their stops, one sequence after the other.
        counts: How many records each sequence stands for.
    """

    start: IntArray
    stops: IntArray
    counts: IntArray


def ending_nodes(table: SequenceTable) -> IntArray:
    """Returns the nodes at which sequences end: one for each distinct published sequence."""
    return np.flatnonzero(table.ends > 0)


def lengths_of(table: SequenceTable, nodes: IntArray) -> IntArray:
    """Returns the number of stops up to each node."""
    stops = np.array([step.stop + 1 for step in table.steps], dtype=np.int64)
    return stops[table.step[nodes]]


def sequences_ending_at(table: SequenceTable, prefix: IntArray, nodes: IntArray) -> Sequences:
    """Returns the sequences that end at some nodes."""
    start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths_of(table, nodes))])
    stops = np.empty(start[-1], dtype=np.int64)
    at, place = nodes, start[1:] - 1
    while len(at):
        stops[place] = at
        at = prefix[at]
        inside = at != ROOT
        at, place = at[inside], place[inside] - 1
    return Sequences(start=start, stops=stops, counts=table.ends[nodes])


def batches_of_sequences(table: SequenceTable, prefix: IntArray) -> Iterator[Sequences]:
    """Yields all published sequences in order, some at a time."""
    nodes = ending_nodes(table)
    # Where each sequence would end if the stops of all stood in a row.
    ends = np.cumsum(lengths_of(table, nodes))
    first = 0
    while first < len(nodes):
        begun = int(ends[first - 1]) if first else 0
        last = int(np.searchsorted(ends, begun + BATCH_STOPS, side="right"))
        # A sequence that is longer than a batch still comes whole.
        last = max(last, first + 1)
        yield sequences_ending_at(table, prefix, nodes[first:last])
        first = last


def stop_columns(
    of: str, which: str, kind: pa.DataType, locations: Locations
) -> tuple[Column, ...]:
    """Returns the columns of stops in order: ids, and names where places have any."""
    how = "as a list" if kind is LIST else "joined by ' > '"
    ids = Column(of, kind, f"Ids of the {which} in order, as in {LOCATIONS}, {how}.")
    if place_names(locations) is None:
        return (ids,)
    return ids, Column("names", kind, f"Names of the {which} in order, {how}.")


def sequences_columns(kind: pa.DataType, locations: Locations, *, times: bool = False) -> Columns:
    """Returns the columns of sequences as lists, or as texts with separators."""
    stops = stop_columns("sequence", "stops", kind, locations)
    how = "as a list" if kind is LIST else "joined by ' > '"
    periods = Column(
        "periods", kind, f"Labels of the periods of the stops, as in {PERIODS}, {how}."
    )
    count = Column(
        "count", WHOLE, "Published number of records with these stops and no further ones."
    )
    lists = (*stops, periods) if times else stops
    key = ("sequence", "periods") if times else ("sequence",)
    return Columns((*lists, count), key=key)


def lines_columns(table: SequenceTable) -> Columns:
    """Returns the columns of sequences as texts."""
    return sequences_columns(TEXT, table.taxonomy.locations, times=table.periods is not None)


def lists_columns(table: SequenceTable) -> Columns:
    """Returns the columns of sequences as lists."""
    return sequences_columns(LIST, table.taxonomy.locations, times=table.periods is not None)


def write_sequences_parquet(table: SequenceTable, prefix: IntArray, path: Path) -> None:
    """Writes the distinct sequences of a tree as one Parquet file."""
    schema, texts = lists_columns(table).schema, _texts(table)
    batches = (
        _batch(schema, part, map(list_array, texts, repeat(part.start), _chosen(table, part)))
        for part in batches_of_sequences(table, prefix)
    )
    write_parquet(path, schema, batches, use_dictionary=False)


def sequences_csv(table: SequenceTable, prefix: IntArray) -> Iterator[bytes]:
    """Yields the distinct sequences of a tree as CSV."""
    labels = (text for column in _escaped_texts(table) for text in column.to_pylist())
    return table_csv(lines_columns(table).names, line_batches(table, prefix), labels=labels)


def line_batches(table: SequenceTable, prefix: IntArray) -> Iterator[pa.RecordBatch]:
    """Yields the distinct sequences of a tree as texts, some at a time."""
    schema, texts = lines_columns(table).schema, _escaped_texts(table)
    for part in batches_of_sequences(table, prefix):
        chosen = _chosen(table, part)
        yield _batch(schema, part, map(joined_array, texts, repeat(part.start), chosen))


def _escaped_texts(table: SequenceTable) -> list[pa.Array]:
    return [escaped(column.to_pylist()) for column in _texts(table)]


def _batch(schema: pa.Schema, part: Sequences, lists: Iterable[pa.Array]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([*lists, number_array(part.counts)], schema=schema)


def check_sequences_parquet(table: SequenceTable, prefix: IntArray, path: Path) -> None:
    """Makes sure that a Parquet file holds the sequences of a tree, in order."""
    nodes, schema, row = ending_nodes(table), lists_columns(table).schema, 0
    known = _texts(table)
    lists = range(len(schema.names) - 1)
    stops = int(lengths_of(table, nodes).sum())
    # So many of the longest sequences make one batch.
    most = max(1, BATCH_STOPS // (table.steps[-1].stop + 1))
    with open_parquet(path, schema, rows=len(nodes), values=stops) as file:
        for batch in file.iter_batches(batch_size=most):
            part = sequences_ending_at(table, prefix, nodes[row : row + len(batch)])
            row += len(batch)
            chosen = _chosen(table, part)
            same = row <= len(nodes) and np.array_equal(
                whole_column(batch.column("count")), part.counts
            )
            if not same or not all(
                _same_lists(batch.column(i), part.start, known[i], chosen[i]) for i in lists
            ):
                raise _disagreement(path)
    if row != len(nodes):
        raise _disagreement(path)


def _texts(table: SequenceTable) -> list[pa.Array]:
    """Returns what the numbers in each column of lists stand for."""
    locations = table.taxonomy.locations
    order = table.taxonomy.location_of(np.arange(len(locations))).tolist()
    stops = [text_array([texts[place] for place in order]) for texts in place_texts(locations)]
    return stops if table.periods is None else [*stops, text_array(table.periods.labels)]


def _chosen(table: SequenceTable, part: Sequences) -> list[IntArray]:
    """Returns the numbers in each column of lists."""
    stops = [table.code[part.stops]] * len(place_texts(table.taxonomy.locations))
    return stops if table.periods is None else [*stops, table.period[part.stops]]


def _same_lists(column: pa.Array, start: IntArray, known: pa.Array, chosen: IntArray) -> bool:
    if not pa.types.is_list(column.type) or column.null_count:
        return False
    return same_texts(column, start, known, chosen)


def _disagreement(path: Path) -> ReleaseError:
    return damaged(f"{path.name} does not hold the sequences that end in the tree, in order.")


def can_be_completed(table: SequenceTable) -> bool:
    """Says whether a tree has completed records: one without times does."""
    return table.periods is None


def write_completed(table: SequenceTable, path: Path) -> None:
    """Writes the completed records of a tree as one Parquet file."""
    found, locations = complete(table), table.taxonomy.locations
    arrays = [*place_lists(locations, found.start, found.stops), number_array(found.counts)]
    schema = sequences_columns(LIST, locations).schema
    write_lists(path, pa.RecordBatch.from_arrays(arrays, schema=schema))


def check_completed(table: SequenceTable, prefix: IntArray, path: Path) -> int:
    """Makes sure that completed records begin as often with each kept prefix as the tree says.

    What follows beyond kept prefixes is a likely course, which cannot be checked.

    Returns:
        The number of distinct records.
    """
    found = read_completed(table.taxonomy.locations, path)
    stops = np.flatnonzero(table.grains == table.taxonomy.grains - 1)
    begun = records_through(
        stops,
        prefix[stops],
        table.code[stops],
        places=len(table.taxonomy.locations),
        start=found.start,
        stops=table.taxonomy.codes(table.taxonomy.grains - 1)[found.stops],
        counts=found.counts,
    )
    same = np.array_equal(begun, table.counts[stops])
    if not same or int(found.counts.sum()) != int(table.ends.sum()):
        raise damaged(f"{path.name} does not agree with the tree.")
    return len(found.counts)


def read_completed(locations: Locations, path: Path) -> CompletedSequences:
    """Reads completed records."""
    schema = sequences_columns(LIST, locations).schema
    start, stops, (counts,) = read_lists(locations, path, schema)
    return CompletedSequences(start=start, stops=stops, counts=counts)
