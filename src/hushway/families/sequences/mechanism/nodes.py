"""From the candidates kept at each step to a tree of nodes, and to the records that end there."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.families.sequences.public.prefixes import PrefixCells
from hushway.privacy.noise.lazy import Shown


@dataclass(frozen=True, kw_only=True, eq=False)
class Nodes:
    """All nodes that were kept, step by step, so that a parent stands before its children.

    Attributes:
        parent: The node above each node; -1 under the root.
        step: The step of each node.
        period: Index of the period of the node's last stop.
        code: Number of the node's group at its granularity.
        measured: The noisy count of each node.
        is_prefix: Whether the node stands for a prefix of whole stops; groups are on the way only.
    """

    parent: IntArray
    step: IntArray
    period: IntArray
    code: IntArray
    measured: IntArray
    is_prefix: BoolArray


def nodes_of(kept: Sequence[tuple[PrefixCells, Shown]]) -> Nodes:
    """Returns the nodes of consecutive steps, given the candidates of each and those it kept."""
    columns: list[tuple[IntArray, ...]] = []
    first_above = -1
    for number, (cells, shown) in enumerate(kept):
        node, period, code = cells.describe(shown.cells)
        # The nodes that have candidates here are those of the step before, in their order.
        parent = np.full_like(node, -1) if number == 0 else first_above + node
        first_above = 0 if number == 0 else first_above + cells.nodes
        whole = cells.grain == cells.taxonomy.grains - 1
        columns.append(
            (
                parent,
                np.full_like(node, number),
                period,
                code,
                shown.values,
                np.full(len(node), whole, dtype=np.bool_),
            )
        )
    together = [np.concatenate(column) for column in zip(*columns, strict=True)]
    parent, step, period, code, measured, is_prefix = together
    return Nodes(
        parent=parent,
        step=step,
        period=period,
        code=code,
        measured=measured,
        is_prefix=is_prefix.astype(np.bool_),
    )


def ends_of(parent: IntArray, is_prefix: BoolArray, counts: IntArray) -> IntArray:
    """Returns how many records end at each prefix of whole stops.

    Records that a group has beyond its kept locations end at the prefix before the group: where
    they went next is not known well enough to publish.

    Args:
        parent: The node above each node; -1 under the root.
        is_prefix: Whether the node stands for a prefix of whole stops.
        counts: Consistent counts.
    """
    before = prefix_before(parent, is_prefix)
    continued = np.zeros(len(parent), dtype=np.int64)
    inner = is_prefix & (before >= 0)
    np.add.at(continued, before[inner], counts[inner])
    return np.where(is_prefix, counts - continued, 0)


def prefix_before(parent: IntArray, is_prefix: BoolArray) -> IntArray:
    """Returns the closest node above each node that is a prefix of whole stops, or -1."""
    before = parent.copy()
    on_the_way = np.flatnonzero(before >= 0)
    while len(on_the_way):
        on_the_way = on_the_way[~is_prefix[before[on_the_way]]]
        before[on_the_way] = parent[before[on_the_way]]
        on_the_way = on_the_way[before[on_the_way] >= 0]
    return before
