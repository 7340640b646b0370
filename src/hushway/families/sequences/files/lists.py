r"""Sequences of stops as columns: lists of ids in Parquet, ids joined by " > " in CSV.

In CSV a ">" or "\\" that belongs to an id has a "\\" before it, so that a bare " > " always stands
between two stops.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.geography.locations import Locations
from hushway.release.formats.columns import BATCH_ROWS
from hushway.release.formats.csv import positions_among, whole_column
from hushway.release.formats.names import place_names
from hushway.release.formats.places import number_array, numbers_of, text_array
from hushway.release.untrusted.parquet import open_parquet

LIST = pa.list_(pa.field("element", pa.string(), nullable=False))
SEPARATOR = " > "
# Stops in one batch: long sequences come fewer at a time.
BATCH_STOPS = 1 << 20
# No release that this version writes has more stops in a file.
MOST_STOPS = 1 << 28
GROUP_STOPS = 1 << 22


def list_array(texts: pa.Array, start: IntArray, chosen: IntArray) -> pa.ListArray:
    """Returns lists of texts: where each begins, and the number of every text in a row."""
    return pa.ListArray.from_arrays(_offsets(start), texts.take(number_array(chosen)), type=LIST)


def place_texts(locations: Locations) -> tuple[tuple[str, ...], ...]:
    """Returns what places are called: their ids, and their names if these say more."""
    if place_names(locations) is None:
        return (locations.ids,)
    return locations.ids, tuple(place.name for place in locations.places)


def place_lists(locations: Locations, start: IntArray, stops: IntArray) -> list[pa.ListArray]:
    """Returns lists of places: their ids, and their names if these say more."""
    return [list_array(text_array(texts), start, stops) for texts in place_texts(locations)]


def same_texts(column: pa.Array, start: IntArray, texts: pa.Array, chosen: IntArray) -> bool:
    """Says whether lists begin where they should and hold the chosen texts."""
    offsets = numbers_of(column.offsets).astype(np.int64)
    return np.array_equal(offsets - offsets[0], start) and bool(
        column.flatten().equals(texts.take(number_array(chosen)))
    )


def joined_array(escaped_texts: pa.Array, start: IntArray, chosen: IntArray) -> pa.Array:
    """Returns the same lists as texts with separators."""
    # An Arrow value: for a text of Python's own, Arrow would load pandas.
    separator = text_array([SEPARATOR])[0]
    lists = pa.ListArray.from_arrays(_offsets(start), escaped_texts.take(number_array(chosen)))
    return pc.binary_join(lists, separator)


def _offsets(start: IntArray) -> pa.Array:
    return number_array((start - start[0]).astype(np.int32))


def escaped(texts: Sequence[str]) -> pa.Array:
    """Returns texts that can be told apart between separators."""
    return text_array([text.replace("\\", "\\\\").replace(">", "\\>") for text in texts])


def write_lists(path: Path, batch: pa.RecordBatch) -> None:
    """Writes rows whose first columns are lists of the same stops as one Parquet file."""
    stops = len(batch.column(0).flatten())
    # A reader holds a row group at a time.
    rows = max(1, len(batch) * GROUP_STOPS // max(1, stops))
    # Texts without a dictionary: a verifier then knows what a file takes before it reads it.
    with pq.ParquetWriter(path, batch.schema, compression="zstd", use_dictionary=False) as writer:
        writer.write_batch(batch, row_group_size=rows)


def read_lists(
    locations: Locations, path: Path, schema: pa.Schema
) -> tuple[IntArray, IntArray, list[Any]]:
    """Returns where lists of places begin, the places in all of them, and the other columns."""
    ids, *names = map(text_array, place_texts(locations))
    lists_first = 1 + len(names)
    lengths, stops = ([np.empty(0, dtype=np.int64)] for _ in range(2))
    others = [[np.empty(0, dtype=kind.to_pandas_dtype())] for kind in schema.types[lists_first:]]
    with open_parquet(path, schema, rows=MOST_STOPS, values=MOST_STOPS) as file:
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            lists = batch.column(0)
            if lists.null_count or np.any(whole_column(batch.column("count")) < 1):
                raise not_as_written(path)
            start = numbers_of(lists.offsets).astype(np.int64)
            values = lists.values.slice(int(start[0]), int(start[-1] - start[0]))
            lengths.append(np.diff(start))
            stops.append(positions_among(values, ids))
            begins = start - start[0]
            if not all(
                same_texts(column, begins, texts, stops[-1])
                for column, texts in zip(batch.columns[1:lists_first], names, strict=True)
            ):
                raise not_as_written(path)
            for column, found in zip(batch.columns[lists_first:], others, strict=True):
                found.append(whole_column(column))
    begins = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
    return begins, np.concatenate(stops), [np.concatenate(column) for column in others]


def records_through(
    node: IntArray,
    parent: IntArray,
    place: IntArray,
    *,
    places: int,
    start: IntArray,
    stops: IntArray,
    counts: IntArray,
) -> IntArray:
    """Returns how many records begin with each prefix, walking all of them stop by stop.

    Args:
        node: The number of each prefix.
        parent: The number of the prefix that it continues; -1 for those of one stop.
        place: Its last place.
        places: How many places there are.
        start: Where each sequence begins; one entry more than sequences.
        stops: The places of all sequences in a row.
        counts: How many records each sequence stands for.
    """
    keys = (parent + 1) * places + place
    order = np.argsort(keys, kind="stable")
    known = keys[order]
    through = np.zeros(len(keys), dtype=np.int64)
    record, above = np.arange(len(counts)), np.zeros(len(counts), dtype=np.int64)
    stop = 0
    while len(record) and len(known):
        inside = start[record] + stop < start[record + 1]
        record, above = record[inside], above[inside]
        wanted = above * places + stops[start[record] + stop]
        where = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        hit = known[where] == wanted
        record, found = record[hit], order[where[hit]]
        np.add.at(through, found, counts[record])
        above, stop = node[found] + 1, stop + 1
    return through


def not_as_written(path: Path) -> ReleaseError:
    """Returns the error of a file that hushway does not write like this."""
    return ReleaseError(
        f"{path.name} is not as hushway writes it.", advice="The file was edited or rewritten."
    )
