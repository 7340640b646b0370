r"""Published sequences as Parquet (lists of ids) and as CSV (ids joined by " > ").

In the CSV file a ">" or "\" that belongs to an id has a "\" before it, so that a bare " > " always
stands between two stops.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hushway.arrays import IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.sequences.files.paths import (
    BATCH_STOPS,
    Sequences,
    batches_of_sequences,
    ending_nodes,
    lengths_of,
    sequences_ending_at,
)
from hushway.families.sequences.files.taxonomy import node_labels
from hushway.families.sequences.mechanism.table import SequenceTable
from hushway.release.formats.bounded_parquet import open_parquet
from hushway.release.formats.columns import positions_among, whole_column
from hushway.release.formats.csv import read_batches, stream_csv
from hushway.release.formats.places import number_array, numbers_of, text_array

SEPARATOR = " > "

_LIST = pa.list_(pa.field("element", pa.string(), nullable=False))


def column_names(*, times: bool) -> tuple[str, ...]:
    """Returns the columns of both files."""
    return ("sequence", "periods", "count") if times else ("sequence", "count")


def write_sequences_parquet(table: SequenceTable, prefix: IntArray, path: Path) -> None:
    """Writes the distinct sequences of a tree as one Parquet file."""
    schema = _schema(table, _LIST)
    texts = _texts(table)
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as writer:
        for part in batches_of_sequences(table, prefix):
            offsets = number_array(part.start.astype(np.int32))
            lists = [
                pa.ListArray.from_arrays(offsets, texts[i].take(number_array(chosen)), type=_LIST)
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
    nodes, schema, row = ending_nodes(table), _schema(table, _LIST), 0
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
