"""Public labels of pairs of places as Parquet: one row a pair, one column a labelling.

Written and read in batches: a city of thousands of places has tens of millions of pairs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.arrays import BoolArray, Int32Array, IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.od.files.rows import cells_of
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.geography.locations import Labels
from hushway.release.formats.csv import BATCH_ROWS, LABEL, labelled, positions_among
from hushway.release.formats.places import text_array
from hushway.release.untrusted.parquet import open_parquet

ENDS = ("origin", "destination")
# Pairs times labellings. They take a gigabyte; a stranger's file may not ask for more.
MOST_LABELS = 1 << 28


@dataclass(frozen=True, kw_only=True, eq=False)
class PairColumns:
    """Where the pair labels of some features are stored.

    Attributes:
        labels: The distinct labellings of pairs by the column that holds each.
        used: The column that each feature uses, in order; None if all pairs are alike to it.
    """

    labels: Mapping[str, Labels]
    used: tuple[str | None, ...]


def pair_columns(features: Sequence[Feature]) -> PairColumns:
    """Finds a column for every distinct labelling of pairs.

    A labelling is stored under its own name, unless another column has that name already.
    """
    columns: dict[str, Labels] = {}
    used: list[str | None] = []
    for feature in features:
        labels = feature.pairs
        if labels is None:
            used.append(None)
            continue
        column = next((name for name, known in columns.items() if _same(known, labels)), None)
        if column is None:
            column = _free_name(labels.column, (*ENDS, *columns))
            columns[column] = labels
        used.append(column)
    return PairColumns(labels=columns, used=tuple(used))


def write_pairs(universe: ODCells, columns: Mapping[str, Labels], path: Path) -> None:
    """Writes the labels of every pair as one Parquet file."""
    names = {name: text_array(labels.names) for name, labels in columns.items()}
    places = text_array(universe.locations.ids)
    schema = _schema(columns)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, universe.pairs, BATCH_ROWS):
            stop = min(start + BATCH_ROWS, universe.pairs)
            _, origin, destination = universe.decode(np.arange(start, stop, dtype=np.int64))
            labels = [
                _labelled_codes(labels.codes[start:stop], names[name])
                for name, labels in columns.items()
            ]
            arrays = [labelled(origin, places), labelled(destination, places), *labels]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))


def read_pairs(
    path: Path, universe: ODCells, classes: Mapping[str, Sequence[str]]
) -> dict[str, Int32Array]:
    """Reads the class of every pair in every labelling.

    Args:
        path: The file.
        universe: The public cells.
        classes: The names of the classes of each column, in order.

    Raises:
        ReleaseError: The rows are not the public pairs in order, or a label is not a class.
    """
    known = {name: text_array(labels) for name, labels in classes.items()}
    if universe.pairs * len(classes) > MOST_LABELS:
        raise _rewritten(path)
    with open_parquet(path, _schema(classes), rows=universe.pairs) as file:
        if file.metadata.num_rows != universe.pairs:
            raise _rewritten(path)
        codes = {name: np.empty(universe.pairs, dtype=np.int32) for name in classes}
        row = 0
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            part = slice(row, row + len(batch))
            if not np.array_equal(_pairs_of(universe, batch), np.arange(part.start, part.stop)):
                raise _rewritten(path)
            for name, labels in known.items():
                codes[name][part] = positions_among(batch.column(name), labels)
            row = part.stop
    if row != universe.pairs:
        raise _rewritten(path)
    return codes


def _schema(columns: Iterable[str]) -> pa.Schema:
    return pa.schema([pa.field(name, LABEL, nullable=False) for name in (*ENDS, *columns)])


def _pairs_of(universe: ODCells, batch: pa.RecordBatch) -> IntArray:
    places = text_array(universe.locations.ids)
    origin, destination = (positions_among(batch.column(name), places) for name in ENDS)
    return cells_of(universe, np.zeros_like(origin), origin, destination)


def _labelled_codes(codes: Int32Array, names: pa.Array) -> pa.DictionaryArray:
    # Only the classes that occur: a batch must not carry the names of a million others.
    used = np.bincount(codes, minlength=len(names)) > 0
    place = np.cumsum(used) - 1
    return labelled(place[codes], names.filter(_mask(used)))


def _mask(used: BoolArray) -> pa.Array:
    packed = np.packbits(used, bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(used), [None, pa.py_buffer(packed)])


def _same(one: Labels, other: Labels) -> bool:
    return one is other or (
        one.column == other.column
        and one.names == other.names
        and np.array_equal(one.codes, other.codes)
    )


def _free_name(name: str, taken: Sequence[str]) -> str:
    return next(free for free in _names(name) if free not in taken)


def _names(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name} ({number})"
        number += 1


def _rewritten(path: Path) -> ReleaseError:
    return damaged(f"{path.name} does not label the public pairs of places in order.")
