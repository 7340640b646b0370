"""The stops of published sequences, read off the tree some sequences at a time."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.families.sequences.files.tree_shape import ROOT
from hushway.families.sequences.mechanism.table import SequenceTable

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
        prefix: For each node the node of the stop before (`tree_shape.prefixes_of`).
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
