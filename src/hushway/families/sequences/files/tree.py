"""The nodes of a prefix tree as Parquet: one row a node, step by step."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.arrays import IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.sequences.files.taxonomy import grain_name, node_labels
from hushway.families.sequences.files.tree_shape import MOST_NODES, step_slices
from hushway.families.sequences.mechanism.table import SequenceTable, StepSummary
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.periods import Periods
from hushway.release.formats.bounded_parquet import open_parquet
from hushway.release.formats.columns import (
    BATCH_ROWS,
    LABEL,
    labelled,
    positions_among,
    whole_column,
)
from hushway.release.formats.places import number_array, text_array

SCHEMA = pa.schema(
    [
        pa.field("node", pa.int64(), nullable=False),
        pa.field("parent", pa.int64(), nullable=False),
        pa.field("stop", pa.int64(), nullable=False),
        pa.field("granularity", LABEL, nullable=False),
        pa.field("label", LABEL, nullable=False),
        pa.field("period", LABEL, nullable=False),
        pa.field("measured", pa.int64(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("ends", pa.int64(), nullable=False),
    ]
)
COLUMNS = tuple(SCHEMA.names)

_NUMBERS = ("node", "parent", "stop", "measured", "count", "ends")


def write_tree(table: SequenceTable, path: Path) -> None:
    """Writes the nodes of a tree as one Parquet file."""
    periods = text_array(_period_labels(table.periods))
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        for step, nodes in zip(table.steps, step_slices(table.steps), strict=True):
            labels = text_array(node_labels(table.taxonomy, step.grain))
            grain = text_array([grain_name(table.taxonomy, step.grain)])
            for start in range(nodes.start, nodes.stop, BATCH_ROWS):
                rows = slice(start, min(start + BATCH_ROWS, nodes.stop))
                arrays = [
                    number_array(np.arange(rows.start, rows.stop, dtype=np.int64)),
                    number_array(table.parent[rows]),
                    number_array(np.full(rows.stop - rows.start, step.stop + 1, dtype=np.int64)),
                    labelled(np.zeros(rows.stop - rows.start, dtype=np.int64), grain),
                    labelled(table.code[rows], labels),
                    labelled(table.period[rows], periods),
                    number_array(table.measured[rows]),
                    number_array(table.counts[rows]),
                    number_array(table.ends[rows]),
                ]
                writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA))


def read_tree(
    path: Path, taxonomy: Taxonomy, periods: Periods | None, steps: tuple[StepSummary, ...]
) -> SequenceTable:
    """Reads a tree whose steps are known.

    Raises:
        ReleaseError: The rows are not nodes of these steps in order.
    """
    nodes = sum(step.kept for step in steps)
    columns: dict[str, Any] = {
        name: np.empty(nodes if nodes <= MOST_NODES else 0, dtype=np.int64)
        for name in ("parent", "step", "period", "code", "measured", "counts", "ends")
    }
    known = text_array(_period_labels(periods))
    with open_parquet(path, SCHEMA, rows=min(nodes, MOST_NODES)) as file:
        if file.metadata.num_rows != nodes or nodes > MOST_NODES:
            raise _rewritten()
        for number, batch, rows in _pieces(file, steps):
            step = steps[number]
            numbers = _numbers(batch)
            grain = text_array([grain_name(taxonomy, step.grain)])
            positions_among(batch.column("granularity"), grain)
            expected = np.arange(rows.start, rows.stop)
            if not np.array_equal(numbers["node"], expected) or np.any(
                numbers["stop"] != step.stop + 1
            ):
                raise _rewritten()
            labels = text_array(node_labels(taxonomy, step.grain))
            columns["parent"][rows] = numbers["parent"]
            columns["step"][rows] = number
            columns["period"][rows] = positions_among(batch.column("period"), known)
            columns["code"][rows] = positions_among(batch.column("label"), labels)
            columns["measured"][rows] = numbers["measured"]
            columns["counts"][rows] = numbers["count"]
            columns["ends"][rows] = numbers["ends"]
    return SequenceTable(taxonomy=taxonomy, periods=periods, steps=steps, **columns)


def _pieces(
    file: pq.ParquetFile, steps: tuple[StepSummary, ...]
) -> Iterator[tuple[int, pa.RecordBatch, slice]]:
    """Yields the rows of a file, cut where a step ends: the step, the rows, and where they stand.

    Raises:
        ReleaseError: There are other rows than the steps have nodes.
    """
    slices = step_slices(steps)
    step, row = 0, 0
    for batch in file.iter_batches(batch_size=BATCH_ROWS):
        first = 0
        while first < len(batch):
            while step < len(slices) and slices[step].stop == row:
                step += 1
            if step == len(slices):
                raise _rewritten()
            length = min(len(batch) - first, slices[step].stop - row)
            yield step, batch.slice(first, length), slice(row, row + length)
            first, row = first + length, row + length
    if slices and row != slices[-1].stop:
        raise _rewritten()


def _numbers(batch: pa.RecordBatch) -> dict[str, IntArray]:
    if any(batch.column(name).type != pa.int64() for name in _NUMBERS):
        raise _rewritten()
    return {name: whole_column(batch.column(name)) for name in _NUMBERS}


def _period_labels(periods: Periods | None) -> tuple[str, ...]:
    return ("",) if periods is None else periods.labels


def _rewritten() -> ReleaseError:
    return damaged("tree.parquet does not hold the nodes that levels.csv names, in order.")
