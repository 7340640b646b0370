"""Likely whole records as Parquet: what the tree says, continued where it broke off."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.arrays import IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.sequences.files.tree import ROOT
from hushway.families.sequences.mechanism.completion import CompletedSequences, complete
from hushway.families.sequences.mechanism.table import SequenceTable
from hushway.geography.locations import Locations
from hushway.release.formats.bounded_parquet import open_parquet
from hushway.release.formats.csv import BATCH_ROWS, positions_among, whole_column
from hushway.release.formats.places import number_array, numbers_of, text_array

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
_GROUP_STOPS = 1 << 22


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
    # A reader holds a row group at a time.
    rows = max(1, len(found.counts) * _GROUP_STOPS // max(1, len(found.stops)))
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

    Args:
        locations: The public places.
        path: The file.

    Raises:
        ReleaseError: The rows are not lists of public places with counts above 0.
    """
    ids = text_array(locations.ids)
    lengths, stops, counts = ([np.empty(0, dtype=np.int64)] for _ in range(3))
    with open_parquet(path, _SCHEMA, rows=_MOST_STOPS, values=_MOST_STOPS) as file:
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            lists, own = batch.column(0), whole_column(batch.column(1))
            if lists.null_count or np.any(own < 1):
                raise _rewritten(path)
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


def _rewritten(path: Path) -> ReleaseError:
    return ReleaseError(
        f"{path.name} is not as hushway writes it.", advice="The file was edited or rewritten."
    )
