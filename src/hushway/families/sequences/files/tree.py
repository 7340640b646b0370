"""What every published prefix tree looks like: its nodes as Parquet, its steps as CSV."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.arrays import IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.sequences.files.taxonomy import TAXONOMY, grain_name, node_labels
from hushway.families.sequences.fit.table import SequenceTable, StepSummary
from hushway.families.sequences.public.prefixes import PrefixCells, SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.periods import Periods
from hushway.release.formats.columns import (
    BATCH_ROWS,
    LABEL,
    NUMBER,
    TEXT,
    WHOLE,
    Column,
    Columns,
    write_parquet,
)
from hushway.release.formats.csv import labelled, positions_among, whole_column
from hushway.release.formats.places import (
    csv_bytes,
    number_array,
    numbers_or,
    optional_array,
    text_array,
)
from hushway.release.untrusted.limits import PAPER_BYTES, csv_rows, rewritten
from hushway.release.untrusted.parquet import open_parquet

NODES = Columns(
    (
        Column("node", WHOLE, "Number of the node, from 0."),
        Column(
            "parent",
            WHOLE,
            "Number of the node above; missing if the prefix begins here.",
            optional=True,
            # Readers that know no missing whole numbers read it as a number.
            described_as="number",
        ),
        Column("stop", WHOLE, "Which stop of the sequence the node is about, from 1."),
        Column("granularity", LABEL, f"Level of its group, as in {TAXONOMY}, or place."),
        Column("label", LABEL, "Name of its group, or id of its place."),
        Column(
            "period",
            LABEL,
            "Label of the period of the stop; missing if times are not kept.",
            optional=True,
        ),
        Column(
            "measured",
            WHOLE,
            "Noisy number of records with this prefix, as measured before the fit.",
        ),
        Column("count", WHOLE, "Published number of records with this prefix."),
        Column("ends", WHOLE, "Published number of records that end here; 0 for groups."),
    ),
    key=("node",),
)
SCHEMA = NODES.schema

_NO_PARENT = -1
_NUMBERS = ("node", "stop", "measured", "count", "ends")


def write_tree(table: SequenceTable, path: Path) -> None:
    """Writes the nodes of a tree as one Parquet file."""
    write_parquet(path, SCHEMA, _batches(table))


def _batches(table: SequenceTable) -> Iterator[pa.RecordBatch]:
    for step, nodes in zip(table.steps, step_slices(table.steps), strict=True):
        labels = text_array(node_labels(table.taxonomy, step.grain))
        grain = text_array([grain_name(table.taxonomy, step.grain)])
        for start in range(nodes.start, nodes.stop, BATCH_ROWS):
            rows = slice(start, min(start + BATCH_ROWS, nodes.stop))
            number = np.arange(rows.start, rows.stop, dtype=np.int64)
            arrays = [
                number_array(number),
                optional_array(table.parent[rows], table.parent[rows] != _NO_PARENT),
                number_array(np.full_like(number, step.stop + 1)),
                labelled(np.zeros_like(number), grain),
                labelled(table.code[rows], labels),
                _period_column(table.periods, table.period[rows]),
                number_array(table.measured[rows]),
                number_array(table.counts[rows]),
                number_array(table.ends[rows]),
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def read_tree(
    path: Path, taxonomy: Taxonomy, periods: Periods | None, steps: tuple[StepSummary, ...]
) -> SequenceTable:
    """Reads a tree whose steps are known."""
    nodes = sum(step.kept for step in steps)
    columns: dict[str, Any] = {
        name: np.empty(nodes if nodes <= MOST_NODES else 0, dtype=np.int64)
        for name in ("parent", "step", "period", "code", "measured", "counts", "ends")
    }
    with open_parquet(path, SCHEMA, rows=min(nodes, MOST_NODES)) as file:
        if file.metadata.num_rows != nodes or nodes > MOST_NODES:
            raise _rewritten()
        for number, batch, rows in _pieces(file, steps):
            step = steps[number]
            numbers = {name: whole_column(batch.column(name)) for name in _NUMBERS}
            grain = text_array([grain_name(taxonomy, step.grain)])
            positions_among(batch.column("granularity"), grain)
            expected = np.arange(rows.start, rows.stop)
            if not np.array_equal(numbers["node"], expected) or np.any(
                numbers["stop"] != step.stop + 1
            ):
                raise _rewritten()
            labels = text_array(node_labels(taxonomy, step.grain))
            columns["parent"][rows] = numbers_or(batch.column("parent"), _NO_PARENT)
            columns["step"][rows] = number
            columns["period"][rows] = _period_positions(periods, batch.column("period"))
            columns["code"][rows] = positions_among(batch.column("label"), labels)
            columns["measured"][rows] = numbers["measured"]
            columns["counts"][rows] = numbers["count"]
            columns["ends"][rows] = numbers["ends"]
    return SequenceTable(taxonomy=taxonomy, periods=periods, steps=steps, **columns)


def _pieces(
    file: pq.ParquetFile, steps: tuple[StepSummary, ...]
) -> Iterator[tuple[int, pa.RecordBatch, slice]]:
    """Yields the rows of a file, cut where a step ends: the step, the rows, and their places."""
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


def _period_column(periods: Periods | None, period: IntArray) -> pa.Array:
    """Returns the labels of periods; all are missing where times are not kept."""
    if periods is not None:
        return labelled(period, text_array(periods.labels))
    nothing = optional_array(period.astype(np.int32), np.zeros(len(period), dtype=np.bool_))
    return pa.DictionaryArray.from_arrays(nothing, text_array([]))


def _period_positions(periods: Periods | None, column: pa.Array) -> IntArray:
    if periods is not None:
        return positions_among(column, text_array(periods.labels))
    if column.null_count != len(column):
        raise _rewritten()
    return np.zeros(len(column), dtype=np.int64)


def _rewritten() -> ReleaseError:
    return damaged("tree.parquet does not hold the nodes that levels.csv names, in order.")


STEPS = Columns(
    (
        Column("stop", WHOLE, "Which stop of the sequence, from 1."),
        Column("granularity", TEXT, f"Level of the groups, as in {TAXONOMY}, or place."),
        Column("candidates", WHOLE, "How many candidates were measured."),
        Column("threshold", WHOLE, "Candidates measured at this number or above were kept."),
        Column("kept", WHOLE, "How many were kept."),
        Column(
            "standard_error",
            NUMBER,
            "Standard deviation of the noise in each measurement, in records.",
        ),
    ),
    key=("stop", "granularity"),
)


def read_levels(data: bytes, taxonomy: Taxonomy) -> tuple[StepSummary, ...]:
    """Reads the steps back."""
    grains = {grain_name(taxonomy, grain): grain for grain in range(taxonomy.grains)}
    _, *rows = csv_rows("levels.csv", data, most=PAPER_BYTES, width=len(STEPS.names))
    steps = tuple(
        StepSummary(
            stop=int(stop) - 1,
            grain=grains[name],
            candidates=int(candidates),
            threshold=int(threshold),
            kept=int(kept),
            standard_error=float(error),
        )
        for stop, name, candidates, threshold, kept, error in rows
    )
    if levels_csv(taxonomy, steps) != data or any(step.kept < 0 for step in steps):
        raise rewritten("levels.csv")
    return steps


def levels_csv(taxonomy: Taxonomy, steps: Sequence[StepSummary]) -> bytes:
    """Returns what is public about every step; stops are counted from 1."""
    rows = (
        (
            str(step.stop + 1),
            grain_name(taxonomy, step.grain),
            str(step.candidates),
            str(step.threshold),
            str(step.kept),
            repr(float(step.standard_error)),
        )
        for step in steps
    )
    return csv_bytes(STEPS.names, rows)


# What every published prefix tree must look like, given the public taxonomy and periods.
#
# The candidates of every step follow from what was kept before it, so a reader can build them
# again: how many there were, which node each kept one hangs from, and in which order they come.

# All nodes of a release; as columns of numbers they take four gigabytes.
MOST_NODES = 1 << 26
# Sums of whole numbers below this are whole numbers of 64 bits.
_MOST_RECORDS = 1 << 61

ROOT = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeShape:
    """What follows from the nodes of a sound tree.

    Attributes:
        prefix: For each node the node of the stop before its own stop; ROOT at the first stop.
        beyond: How many candidates the step after the last would have had.
    """

    prefix: IntArray
    beyond: int


def shape_of(table: SequenceTable) -> TreeShape:
    """Returns what follows from the nodes of a tree, after a look at all of them.

    The columns of the table must be whole numbers of one length.
    """
    if len(table.parent) > MOST_NODES:
        _refuse(f"A tree holds at most {MOST_NODES:,} nodes.")
    beyond = _checked_steps(table)
    prefix = prefixes_of(table)
    _check_counts(table, prefix)
    return TreeShape(prefix=prefix, beyond=beyond)


def prefixes_of(table: SequenceTable) -> IntArray:
    """Returns for each node the node of the stop before its own; ROOT at the first stop."""
    finest = table.taxonomy.grains - 1
    prefix = np.full(len(table.parent), ROOT, dtype=np.int64)
    for i, nodes in enumerate(step_slices(table.steps)):
        if i > 0:
            above = table.parent[nodes]
            is_stop = table.steps[i - 1].grain == finest
            prefix[nodes] = above if is_stop else prefix[above]
    return prefix


def step_slices(steps: Sequence[StepSummary]) -> list[slice]:
    """Returns where the nodes of each step stand."""
    ends = np.cumsum([0, *(step.kept for step in steps)]).tolist()
    return [slice(start, end) for start, end in pairwise(ends)]


def _checked_steps(table: SequenceTable) -> int:
    """Builds the candidates of every step again and finds the nodes among them.

    Returns:
        The number of candidates of one more step.
    """
    if not table.steps:
        _refuse("The tree has no steps.")
    if sum(step.kept for step in table.steps) != len(table.parent):
        _refuse("The steps do not say how many nodes there are.")
    cells = SequenceUniverse(taxonomy=table.taxonomy, periods=table.periods).first_step()
    first_above = 0
    for i, nodes in enumerate(step_slices(table.steps)):
        _check_step(table.steps[i], cells)
        if np.any(table.step[nodes] != i):
            _refuse("A node stands among those of another step.")
        if np.any(table.measured[nodes] < table.steps[i].threshold):
            _refuse("A node was measured below the threshold of its step.")
        # All candidates of the first step hang from the root, which is number 0 among them.
        above = table.parent[nodes] - (ROOT if i == 0 else first_above)
        kept = _kept_cells(cells, above, table.period[nodes], table.code[nodes])
        cells, first_above = cells.below(kept), nodes.start
    return cells.size


def _check_step(step: StepSummary, cells: PrefixCells) -> None:
    if (step.stop, step.grain) != (cells.stop, cells.grain):
        _refuse("The steps of the tree do not follow each other.")
    if step.candidates != cells.size or cells.size == 0:
        _refuse("A step does not say how many candidates it had.")
    if step.threshold < 1:
        _refuse("The threshold of a step is not above 0.")
    if not (math.isfinite(step.standard_error) and step.standard_error > 0):
        _refuse("The standard error of a step is not a number above 0.")


def _kept_cells(cells: PrefixCells, above: IntArray, period: IntArray, code: IntArray) -> IntArray:
    """Returns the candidate that each node was, if it was one and they are in order."""
    known = (above >= 0) & (above < cells.nodes)
    known &= (code >= 0) & (code < cells.taxonomy.size(cells.grain))
    known &= (period >= 0) & (period < cells.periods)
    if not np.all(known):
        _refuse("A node has no parent, or is at no public place or period.")
    kept = cells.cell(above, period, _some_location(cells.taxonomy, cells.grain)[code])
    inside = np.all((kept >= 0) & (kept < cells.size))
    # What the candidate stands for must be what the node says; else it lies outside its parent.
    if not inside or not all(map(np.array_equal, cells.describe(kept), (above, period, code))):
        _refuse("A node lies outside the group or before the period of its parent.")
    if not np.all(np.diff(kept) > 0):
        _refuse("Nodes are repeated or out of order.")
    return kept


def _some_location(taxonomy: Taxonomy, grain: int) -> IntArray:
    """Returns a location of each group of a granularity."""
    found = np.empty(taxonomy.size(grain), dtype=np.int64)
    found[taxonomy.codes(grain)] = np.arange(len(taxonomy.locations))
    return found


def _check_counts(table: SequenceTable, prefix: IntArray) -> None:
    if np.any(table.counts < 0):
        _refuse("A count is negative.")
    if float(table.counts.sum(dtype=np.float64)) >= _MOST_RECORDS:
        _refuse("The counts are too large to be added up.")
    if np.any(_sums(table.parent, table.counts) > table.counts):
        _refuse("A count is smaller than the sum of the counts below it.")
    is_stop = table.grains == table.taxonomy.grains - 1
    going_on = _sums(prefix[is_stop], table.counts[is_stop], size=len(table.counts))
    if np.any(table.ends != np.where(is_stop, table.counts - going_on, 0)):
        _refuse("The records that end at a node are not its count less those that go on.")


def _sums(above: IntArray, counts: IntArray, *, size: int | None = None) -> IntArray:
    """Adds up counts by the node above; what hangs from the root is left out."""
    total = np.zeros(len(counts) if size is None else size, dtype=np.int64)
    inside = above != ROOT
    np.add.at(total, above[inside], counts[inside])
    return total


def _refuse(message: str) -> NoReturn:
    raise damaged(message)
