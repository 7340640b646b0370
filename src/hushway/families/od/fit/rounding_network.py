"""Margins as a network: which of them can be rounded together, and the edges they become.

Margins that refine one another form a chain, and the elements of a chain a tree. With two trees,
one that flows apart and one that flows together, every group is an edge from a leaf of the first to
a leaf of the second, and every element is the edge above its vertex. So each sum is the flow of one
edge, and whole capacities let the flow be whole (two laminar families: the matrix is totally
unimodular). The edge that closes the circuit carries the total, which is thereby rounded too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.rounding_partitions import Partition, sums_over, two_chains
from hushway.families.od.fit.rounding_walk import (
    BEYOND,
    EDGE,
    FLOW,
    HEAD,
    HEAD_PLACE,
    ONE,
    PRICE,
    TAIL,
    TAIL_PLACE,
)
from hushway.numerics.compiled import compiled

# The roots of the two trees. The edge above vertex v has the number v - 1; that of the first tree's
# root comes from the second tree's root, above which there is none.
_SECOND_ROOT, _FIRST_ROOT = 0, 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Network:
    """What a walk needs to know; see `make_whole`.

    Attributes:
        edges: One row for each edge; those of groups come last, in the order of the groups.
        lists: The fractional edges of each vertex, in ascending order.
        spans: Where the list of each vertex begins and ends.
        others: The elements of the margins that are in neither tree, numbered through all of them.
        drift: Two rows of zeros for these elements.
    """

    edges: IntArray
    lists: IntArray
    spans: IntArray
    others: IntArray
    drift: FloatArray


def network_of(parts: IntArray, partitions: Sequence[Partition], tolerance: int) -> Network:
    """Builds the network of some groups.

    Args:
        parts: The fraction of each group's total, in units of 1 / `ONE`.
        partitions: The margins; those that fit into no chain steer the choice of directions.
        tolerance: Flows as near as this to a whole amount count as whole.
    """
    chains = two_chains(partitions)
    held = {margin for chain in chains for margin in chain}
    elements = 1 + sum(partitions[margin].count for margin in held)
    edges = np.zeros((elements + len(parts), 6), dtype=np.int64)
    edges[0, :3] = _SECOND_ROOT, _FIRST_ROOT, parts.sum() % ONE
    last = edges[elements:]
    last[:, TAIL], row = _plant(edges, 1, _FIRST_ROOT, parts, [partitions[m] for m in chains[0]])
    last[:, HEAD], _ = _plant(edges, row, _SECOND_ROOT, parts, [partitions[m] for m in chains[1]])
    last[:, FLOW] = parts
    last[:, PRICE] = ONE - 2 * parts
    flow = edges[:, FLOW]
    flow[flow <= tolerance] = 0
    flow[flow >= ONE - tolerance] = ONE
    lists, spans = _listed(edges, elements + 1)
    others, count = _numbered_through(
        [partitions[margin] for margin in range(len(partitions)) if margin not in held], len(parts)
    )
    return Network(edges=edges, lists=lists, spans=spans, others=others, drift=np.zeros((2, count)))


def _plant(
    edges: IntArray, row: int, root: int, parts: IntArray, chain: Sequence[Partition]
) -> tuple[IntArray, int]:
    """Writes the edges of one tree from a row on; returns each group's leaf, and the next row."""
    upper, lower = (TAIL, HEAD) if root == _FIRST_ROOT else (HEAD, TAIL)
    leaf = np.full(len(parts), root)
    for level in chain:
        rows = edges[row : row + level.count]
        rows[level.element, upper] = leaf
        rows[:, lower] = np.arange(row + 1, row + 1 + level.count)
        rows[:, FLOW] = sums_over(parts, level.element, level.count) % ONE
        leaf = level.element + (row + 1)
        row += level.count
    return leaf, row


def _numbered_through(partitions: Sequence[Partition], groups: int) -> tuple[IntArray, int]:
    """Stacks the elements of margins other than the total, so that all have different numbers."""
    crossing = [margin for margin in partitions if margin.count > 1]
    rows = np.empty((len(crossing), groups), dtype=np.int64)
    offset = 0
    for row, margin in zip(rows, crossing, strict=True):
        row[:] = margin.element + offset
        offset += margin.count
    return rows, offset


@compiled
def _listed(edges: IntArray, vertices: int) -> tuple[IntArray, IntArray]:
    """Lists the fractional edges of each vertex, and notes in each edge where it is listed."""
    spans = np.zeros((vertices, 2), dtype=np.int64)
    for edge in range(len(edges)):
        if 0 < edges[edge, FLOW] < ONE:
            spans[edges[edge, TAIL], 1] += 1
            spans[edges[edge, HEAD], 1] += 1
    end = 0
    for vertex in range(vertices):
        end, spans[vertex, 0], spans[vertex, 1] = end + spans[vertex, 1], end, end
    lists = np.empty((end, 2), dtype=np.int64)
    for edge in range(len(edges)):
        if 0 < edges[edge, FLOW] < ONE:
            for near, far, noted in ((TAIL, HEAD, TAIL_PLACE), (HEAD, TAIL, HEAD_PLACE)):
                place = spans[edges[edge, near], 1]
                lists[place, EDGE], lists[place, BEYOND] = edge, edges[edge, far]
                edges[edge, noted] = place
                spans[edges[edge, near], 1] += 1
    return lists, spans
