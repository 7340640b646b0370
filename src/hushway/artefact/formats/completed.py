"""Likely whole records as Parquet: what the tree says, continued where it broke off."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.artefact.formats.arrow import number_array, numbers_of, text_array
from hushway.artefact.formats.rows import positions_among, whole_column
from hushway.artefact.tree_shape import ROOT
from hushway.errors import ReleaseError
from hushway.geography.od import IntArray
from hushway.releases.sequences.completion import CompletedSequences, complete
from hushway.releases.sequences.table import SequenceTable

COLUMNS = ("sequence", "count")

_LIST = pa.list_(pa.field("element", pa.string(), nullable=False))
_SCHEMA = pa.schema(
    [
        pa.field("sequence", _LIST, nullable=False),
        pa.field("count", pa.int64(), nullable=False),
    ]
)
# No release that this version writes has more stops in this file.
_MOST_STOPS = 1 << 28


def can_be_completed(table: SequenceTable) -> bool:
    """Says whether a tree has completed records: one without times does."""
    return table.periods is None


def write_completed(table: SequenceTable, path: Path) -> None:
    """Writes the completed records of a tree as one Parquet file."""
    found = complete(table)
    ids = text_array(table.taxonomy.locations.ids)
    lists = pa.ListArray.from_arrays(
        number_array(found.start.astype(np.int32)), ids.take(number_array(found.stops)), type=_LIST
    )
    batch = pa.RecordBatch.from_arrays([lists, number_array(found.counts)], schema=_SCHEMA)
    with pq.ParquetWriter(path, _SCHEMA, compression="zstd") as writer:
        writer.write_batch(batch)


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
    found = _read(table, path)
    finest = table.grains == table.taxonomy.grains - 1
    begun = _records_through(table, prefix, np.flatnonzero(finest), found)
    same = np.array_equal(begun[finest], table.counts[finest])
    if not same or int(found.counts.sum()) != int(table.ends.sum()):
        raise ReleaseError(
            f"{path.name} does not agree with the tree.",
            advice="Ask the publisher for an intact copy of the release.",
        )
    return len(found.counts)


def _read(table: SequenceTable, path: Path) -> CompletedSequences:
    with pq.ParquetFile(path) as file:
        facts = file.metadata
        claimed = sum(facts.row_group(i).column(0).num_values for i in range(facts.num_row_groups))
        # A few bytes can claim a list of any length: look at the claim before reading it.
        if tuple(file.schema_arrow.names) != COLUMNS or claimed > _MOST_STOPS:
            raise _rewritten(path)
        read = file.read().combine_chunks()
    if read.schema.field(1).type != pa.int64() or not pa.types.is_list(read.schema.field(0).type):
        raise _rewritten(path)
    if not read.num_rows:
        nothing = np.empty(0, dtype=np.int64)
        return CompletedSequences(start=np.zeros(1, dtype=np.int64), stops=nothing, counts=nothing)
    lists, counts = read.column(0).chunk(0), whole_column(read.column(1).chunk(0))
    start = numbers_of(lists.offsets).astype(np.int64)
    if lists.null_count or np.any(counts < 1):
        raise _rewritten(path)
    values = lists.values.slice(int(start[0]), int(start[-1] - start[0]))
    ids = text_array(table.taxonomy.locations.ids)
    return CompletedSequences(
        start=start - start[0], stops=positions_among(values, ids), counts=counts
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


def _rewritten(path: Path) -> ReleaseError:
    return ReleaseError(
        f"{path.name} is not as hushway writes it.", advice="The file was edited or rewritten."
    )
