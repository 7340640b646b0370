r"""Published sequences, and likely whole records, as Parquet (lists) and CSV (ids joined by " > ").

In the CSV file a ">" or "\" that belongs to an id has a "\" before it, so that a bare " > " always
stands between two stops.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hushway.arrays import IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.sequences.files.taxonomy import node_labels
from hushway.families.sequences.files.tree import ROOT
from hushway.families.sequences.fit.completion import CompletedSequences, complete
from hushway.families.sequences.fit.table import SequenceTable
from hushway.geography.locations import Locations
from hushway.release.formats.csv import (
    BATCH_ROWS,
    positions_among,
    read_batches,
    stream_csv,
    whole_column,
)
from hushway.release.formats.places import number_array, numbers_of, required_columns, text_array
from hushway.release.untrusted.parquet import open_parquet

# Stops in one batch: long sequences come fewer at a time.
BATCH_STOPS = 1 << 20


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
    """Returns the sequences that end at some nodes.

    Args:
        table: The published tree.
        prefix: For each node the node of the stop before (`prefixes_of`).
        nodes: Where the sequences end.
    """
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


SEPARATOR = " > "

LIST = pa.list_(pa.field("element", pa.string(), nullable=False))


def column_names(*, times: bool) -> tuple[str, ...]:
    """Returns the columns of both files."""
    return ("sequence", "periods", "count") if times else ("sequence", "count")


def write_sequences_parquet(table: SequenceTable, prefix: IntArray, path: Path) -> None:
    """Writes the distinct sequences of a tree as one Parquet file."""
    schema = _schema(table, LIST)
    texts = _texts(table)
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as writer:
        for part in batches_of_sequences(table, prefix):
            offsets = number_array(part.start.astype(np.int32))
            lists = [
                pa.ListArray.from_arrays(offsets, texts[i].take(number_array(chosen)), type=LIST)
                for i, chosen in enumerate(_chosen(table, part))
            ]
            arrays = [*lists, number_array(part.counts)]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))


def write_sequences_csv(table: SequenceTable, prefix: IntArray, path: Path) -> None:
    """Writes the distinct sequences of a tree as one CSV file."""
    escaped = _escaped(table)
    batches = (_joined(table, part, escaped) for part in batches_of_sequences(table, prefix))
    stream_csv(path, _schema(table, pa.string()), batches, labels=_labels(escaped))


def check_sequences_parquet(table: SequenceTable, prefix: IntArray, path: Path) -> None:
    """Makes sure that a Parquet file holds the sequences of a tree, in order.

    Raises:
        ReleaseError: It does not.
    """
    nodes, schema, row = ending_nodes(table), _schema(table, LIST), 0
    known = _texts(table)
    lists = range(len(schema.names) - 1)
    stops = int(lengths_of(table, nodes).sum())
    with open_parquet(path, schema, rows=len(nodes), values=stops) as file:
        for batch in file.iter_batches(batch_size=_rows_at_once(table)):
            part = sequences_ending_at(table, prefix, nodes[row : row + len(batch)])
            row += len(batch)
            chosen = _chosen(table, part)
            same = row <= len(nodes) and np.array_equal(_counts(batch), part.counts)
            if not same or not all(
                _same_lists(batch.column(i), part.start, known[i], chosen[i]) for i in lists
            ):
                raise _disagreement(path)
    if row != len(nodes):
        raise _disagreement(path)


def check_sequences_csv(table: SequenceTable, prefix: IntArray, path: Path) -> None:
    """Makes sure that a CSV file holds the sequences of a tree, in order.

    Raises:
        ReleaseError: It does not.
    """
    nodes, row = ending_nodes(table), 0
    escaped = _escaped(table)
    schema = _schema(table, pa.string())
    for batch in read_batches(path, schema, labels=_labels(escaped)):
        part = sequences_ending_at(table, prefix, nodes[row : row + len(batch)])
        row += len(batch)
        expected = _joined(table, part, escaped)
        if (
            row > len(nodes)
            or batch.schema.names != schema.names
            or not all(map(pa.Array.equals, batch.columns, expected.columns))
        ):
            raise _disagreement(path)
    if row != len(nodes):
        raise _disagreement(path)


def _rows_at_once(table: SequenceTable) -> int:
    """Returns how many of the longest sequences make one batch."""
    return max(1, BATCH_STOPS // (table.steps[-1].stop + 1))


def _schema(table: SequenceTable, kind: pa.DataType) -> pa.Schema:
    *lists, count = column_names(times=table.periods is not None)
    fields = [pa.field(name, kind, nullable=False) for name in lists]
    return pa.schema([*fields, pa.field(count, pa.int64(), nullable=False)])


def _texts(table: SequenceTable) -> list[pa.Array]:
    """Returns what the numbers in each column of lists stand for."""
    ids = text_array(node_labels(table.taxonomy, table.taxonomy.grains - 1))
    return [ids] if table.periods is None else [ids, text_array(table.periods.labels)]


def _chosen(table: SequenceTable, part: Sequences) -> list[IntArray]:
    """Returns the numbers in each column of lists."""
    codes = table.code[part.stops]
    return [codes] if table.periods is None else [codes, table.period[part.stops]]


def _escaped(table: SequenceTable) -> list[pa.Array]:
    return [
        text_array([text.replace("\\", "\\\\").replace(">", "\\>") for text in texts.to_pylist()])
        for texts in _texts(table)
    ]


def _labels(texts: list[pa.Array]) -> Iterator[str]:
    return (text for column in texts for text in column.to_pylist())


def _joined(table: SequenceTable, part: Sequences, texts: list[pa.Array]) -> pa.RecordBatch:
    offsets = number_array(part.start.astype(np.int32))
    # An Arrow value: for a text of Python's own, Arrow would load pandas.
    separator = text_array([SEPARATOR])[0]
    joined = [
        pc.binary_join(
            pa.ListArray.from_arrays(offsets, texts[i].take(number_array(chosen))), separator
        )
        for i, chosen in enumerate(_chosen(table, part))
    ]
    arrays = [*joined, number_array(part.counts)]
    return pa.RecordBatch.from_arrays(arrays, schema=_schema(table, pa.string()))


def _counts(batch: pa.RecordBatch) -> IntArray:
    counts = batch.column("count")
    if counts.type != pa.int64():
        raise ReleaseError("The counts are not whole numbers.", advice="The table was rewritten.")
    return whole_column(counts)


def _same_lists(column: pa.Array, start: IntArray, known: pa.Array, chosen: IntArray) -> bool:
    if not pa.types.is_list(column.type) or column.null_count:
        return False
    offsets = numbers_of(column.offsets).astype(np.int64)
    return np.array_equal(offsets - offsets[0], start) and np.array_equal(
        positions_among(column.flatten(), known), chosen
    )


def _disagreement(path: Path) -> ReleaseError:
    return damaged(f"{path.name} does not hold the sequences that end in the tree, in order.")


COLUMNS = ("sequence", "count")

_SCHEMA = required_columns(
    ("sequence", LIST),
    ("count", pa.int64()),
)
# No release that this version writes has more stops in this file.
MOST_STOPS = 1 << 28
GROUP_STOPS = 1 << 22


def can_be_completed(table: SequenceTable) -> bool:
    """Says whether a tree has completed records: one without times does."""
    return table.periods is None


def write_completed(table: SequenceTable, path: Path) -> None:
    """Writes the completed records of a tree as one Parquet file."""
    found = complete(table)
    ids = text_array(table.taxonomy.locations.ids)
    lists = pa.ListArray.from_arrays(
        number_array(found.start.astype(np.int32)), ids.take(number_array(found.stops)), type=LIST
    )
    batch = pa.RecordBatch.from_arrays([lists, number_array(found.counts)], schema=_SCHEMA)
    # A reader holds a row group at a time.
    rows = max(1, len(found.counts) * GROUP_STOPS // max(1, len(found.stops)))
    # Texts one by one: a verifier then knows what a file takes before it reads it.
    with pq.ParquetWriter(path, _SCHEMA, compression="zstd", use_dictionary=False) as writer:
        writer.write_batch(batch, row_group_size=rows)


def check_completed(table: SequenceTable, prefix: IntArray, path: Path) -> int:
    """Makes sure that completed records begin as often with each kept prefix as the tree says.

    What follows beyond kept prefixes is a likely course, which nobody can check.

    Args:
        table: The published tree.
        prefix: For each node the node of the stop before.
        path: The file.

    Returns:
        The number of distinct records.

    Raises:
        ReleaseError: It does not agree with the tree.
    """
    found = read_completed(table.taxonomy.locations, path)
    finest = table.grains == table.taxonomy.grains - 1
    begun = _records_through(table, prefix, np.flatnonzero(finest), found)
    same = np.array_equal(begun[finest], table.counts[finest])
    if not same or int(found.counts.sum()) != int(table.ends.sum()):
        raise damaged(f"{path.name} does not agree with the tree.")
    return len(found.counts)


def read_completed(locations: Locations, path: Path) -> CompletedSequences:
    """Reads completed records.

    Raises:
        ReleaseError: The rows are not lists of public places with counts above 0.
    """
    ids = text_array(locations.ids)
    lengths, stops, counts = ([np.empty(0, dtype=np.int64)] for _ in range(3))
    with open_parquet(path, _SCHEMA, rows=MOST_STOPS, values=MOST_STOPS) as file:
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            lists, own = batch.column(0), whole_column(batch.column(1))
            if lists.null_count or np.any(own < 1):
                raise ReleaseError(
                    f"{path.name} is not as hushway writes it.",
                    advice="The file was edited or rewritten.",
                )
            start = numbers_of(lists.offsets).astype(np.int64)
            values = lists.values.slice(int(start[0]), int(start[-1] - start[0]))
            lengths.append(np.diff(start))
            stops.append(positions_among(values, ids))
            counts.append(own)
    ends = np.cumsum(np.concatenate(lengths))
    return CompletedSequences(
        start=np.concatenate([[0], ends]),
        stops=np.concatenate(stops),
        counts=np.concatenate(counts),
    )


def _records_through(
    table: SequenceTable, prefix: IntArray, stops: IntArray, found: CompletedSequences
) -> IntArray:
    """Returns how many records go through each node, walking all records stop by stop."""
    places = len(table.taxonomy.locations)
    keys = (prefix[stops] - ROOT) * places + table.code[stops]
    order = np.argsort(keys)
    known, nodes = keys[order], stops[order]
    codes = table.taxonomy.codes(table.taxonomy.grains - 1)[found.stops]
    through = np.zeros(len(table.parent), dtype=np.int64)
    record = np.flatnonzero(np.diff(found.start) > 0)
    at = np.full(len(record), ROOT, dtype=np.int64)
    stop = 0
    while len(record) and len(known):
        wanted = (at - ROOT) * places + codes[found.start[record] + stop]
        where = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        hit = known[where] == wanted
        at, record = nodes[where[hit]], record[hit]
        np.add.at(through, at, found.counts[record])
        stop += 1
        further = found.start[record] + stop < found.start[record + 1]
        at, record = at[further], record[further]
    return through
