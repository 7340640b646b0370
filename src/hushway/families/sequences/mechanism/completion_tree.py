"""A published tree as completion reads it: the prefixes of each length, row by row."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.families.sequences.mechanism.nodes import prefix_before
from hushway.families.sequences.mechanism.table import SequenceTable, StepSummary


@dataclass(frozen=True, kw_only=True, eq=False)
class PrefixRows:
    """All kept prefixes of one length, and the kept prefixes that continue them by one stop.

    Attributes:
        histories: The stops of each prefix, as numbers at the finest granularity.
        counts: The published count of each.
        ends: How many published records end at each.
        child_row: The prefix that each child continues, ascending.
        child_place: The stop by which it does.
        child_counts: The published count of each child.
        child_measured: The noisy count of each child.
        step: What is public about the step that found the children; None if none was taken.
    """

    histories: IntArray
    counts: IntArray
    ends: IntArray
    child_row: IntArray
    child_place: IntArray
    child_counts: IntArray
    child_measured: IntArray
    step: StepSummary | None


def prefix_rows(table: SequenceTable) -> tuple[PrefixRows, ...]:
    """Returns the prefixes of each length, from 0 stops (one empty prefix) to the longest."""
    finest = table.taxonomy.grains - 1
    found = {step.stop: step for step in table.steps if step.grain == finest}
    stop = np.array([step.stop for step in table.steps], dtype=np.int64)[table.step]
    is_prefix = table.grains == finest
    before = prefix_before(table.parent, is_prefix)
    row_of = np.zeros(len(stop), dtype=np.int64)
    histories, nodes = np.zeros((1, 0), dtype=np.int64), np.full(1, -1, dtype=np.int64)
    rows = []
    for length in range(len(found) + 1):
        children = np.flatnonzero(is_prefix & (stop == length))
        # Under the root, every child continues the one empty prefix.
        row = row_of[before[children]] if length else np.zeros(len(children), dtype=np.int64)
        order = np.argsort(row, kind="stable")
        children, row = children[order], row[order]
        rows.append(
            PrefixRows(
                histories=histories,
                counts=table.counts[nodes] if length else np.zeros(1, dtype=np.int64),
                ends=table.ends[nodes] if length else np.zeros(1, dtype=np.int64),
                child_row=row,
                child_place=table.code[children],
                child_counts=table.counts[children],
                child_measured=table.measured[children],
                step=found.get(length),
            )
        )
        row_of[children] = np.arange(len(children))
        histories = longer(histories, row, table.code[children])
        nodes = children
    return tuple(rows)


def longer(histories: IntArray, row: IntArray, place: IntArray) -> IntArray:
    """Returns rows of histories, each with one stop more."""
    return np.concatenate([histories[row], place[:, None]], axis=1)
