"""Margins as a flow network: which of them can be rounded together, and the edges they become.

Margins that refine one another form a chain, and the elements of a chain a tree. With two trees,
one that flows apart and one that flows together, every group is an edge from a leaf of the first
to a leaf of the second, and every element is the edge above its vertex. So each sum is the flow
of one edge, and whole capacities let the flow be whole (two laminar families: the matrix is
totally unimodular). The edge that closes the circuit carries the total, which is thereby rounded
too. Only groups that have to be rounded take part, so a margin may refine another one here that
it does not refine everywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.families.od.fit.rounding.cycle_cancelling import (
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
from hushway.families.od.fit.rounding.rectangles import cancel_rectangles
from hushway.numerics.compiled import compiled

_NONE = -1
# Fewer groups than this take no time; of more, most are rounded along rectangles first.
_MANY = 1 << 16


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupedMargin:
    """The element of each group that has to be rounded; no element is empty."""

    element: Int32Array
    count: int

    def among(self, groups: IntArray) -> "GroupedMargin":
        """Returns the elements of some of the groups; here they may be empty."""
        return GroupedMargin(element=self.element[groups], count=self.count)


def grouped_margin(element: IntArray | Int32Array) -> GroupedMargin:
    """Numbers the elements that occur from 0, in the order of their first group."""
    renumbered, count = _renumber(element, int(element.max()) + 1)
    return GroupedMargin(element=renumbered, count=count)


_Chain = tuple[int, ...]


def two_chains(partitions: Sequence[GroupedMargin]) -> tuple[_Chain, _Chain]:
    """Returns the two chains, each from coarse to fine, that together have the most elements.

    Margins of one element are in neither: they are the total, which is always rounded. Whether a
    chain can grow depends on its end alone, so the best chains for each pair of ends are enough.
    """
    # By the finest margin of each chain: the chains, and how many elements they have.
    best: dict[tuple[int, int], tuple[_Chain, _Chain, int]] = {(_NONE, _NONE): ((), (), 0)}
    order = sorted(range(len(partitions)), key=lambda margin: partitions[margin].count)
    seen: list[int] = []
    for margin in order:
        here = partitions[margin]
        if here.count == 1:
            continue
        coarser = {_NONE, *(other for other in seen if _refines(here, partitions[other]))}
        seen.append(margin)
        for (end, other_end), (first, second, before) in list(best.items()):
            elements = before + here.count
            grown = {}
            if end in coarser:
                grown[margin, other_end] = (*first, margin), second, elements
            if other_end in coarser:
                grown[end, margin] = first, (*second, margin), elements
            for ends, chains in grown.items():
                if ends not in best or best[ends][2] < elements:
                    best[ends] = chains
    first, second, _ = max(best.values(), key=lambda chains: chains[2])
    return first, second


@compiled
def sums_over(parts: IntArray, element: Int32Array, count: int) -> IntArray:
    """Returns whole-number sums over each element, which a weighted bincount would make floats."""
    sums = np.zeros(count, dtype=np.int64)
    for group in range(len(parts)):
        sums[element[group]] += parts[group]
    return sums


def _refines(finer: GroupedMargin, coarser: GroupedMargin) -> bool:
    return bool(_determines(finer.element, finer.count, coarser.element))


@compiled
def _determines(finer: Int32Array, count: int, coarser: Int32Array) -> bool:
    above = np.full(count, _NONE, dtype=np.int64)
    for group in range(len(finer)):
        known = above[finer[group]]
        if known == _NONE:
            above[finer[group]] = coarser[group]
        elif known != coarser[group]:
            return False
    return True


@compiled
def _renumber(element: IntArray | Int32Array, size: int) -> tuple[Int32Array, int]:
    number = np.full(size, _NONE, dtype=np.int64)
    renumbered = np.empty(len(element), dtype=np.int32)
    count = 0
    for group in range(len(element)):
        old = element[group]
        if number[old] == _NONE:
            number[old] = count
            count += 1
        renumbered[group] = number[old]
    return renumbered, count


# The roots of the two trees. The edge above vertex v has the number v - 1; that of the first tree's
# root comes from the second tree's root, above which there is none.
_SECOND_ROOT, _FIRST_ROOT = 0, 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Network:
    """The arguments of `cancel_cycles`; edges of groups come last.

    Attributes:
        flows: What each group carries above its floor, as far as it is known.
        groups: Which groups have an edge, in the order of the edges.
    """

    flows: IntArray
    groups: IntArray
    edges: IntArray
    lists: IntArray
    spans: IntArray
    others: IntArray
    drift: FloatArray


def network_of(parts: IntArray, partitions: Sequence[GroupedMargin], tolerance: int) -> Network:
    """Builds the network of some groups, given their fractions in units of 1 / `ONE`."""
    chains = two_chains(partitions)
    held = {margin for chain in chains for margin in chain}
    others, count = _numbered_through(
        [partitions[margin] for margin in range(len(partitions)) if margin not in held], len(parts)
    )
    flows, prices, drift = parts.copy(), ONE - 2 * parts, np.zeros((2, count))
    groups = np.arange(len(parts))
    if len(parts) >= _MANY and all(chains):
        ends = partitions[chains[0][-1]].element, partitions[chains[1][-1]].element
        groups = cancel_rectangles(flows, prices, ends, others, drift[0])
    trees = [[partitions[margin].among(groups) for margin in chain] for chain in chains]
    elements = 1 + sum(partitions[margin].count for margin in held)
    edges = np.zeros((elements + len(groups), 6), dtype=np.int64)
    edges[0, :3] = _SECOND_ROOT, _FIRST_ROOT, parts.sum() % ONE
    last = edges[elements:]
    last[:, FLOW], last[:, PRICE] = flows[groups], prices[groups]
    last[:, TAIL], row = _plant(edges, 1, _FIRST_ROOT, flows[groups], trees[0])
    last[:, HEAD], _ = _plant(edges, row, _SECOND_ROOT, flows[groups], trees[1])
    flow = edges[:, FLOW]
    flow[flow <= tolerance] = 0
    flow[flow >= ONE - tolerance] = ONE
    lists, spans = _listed(edges, elements + 1)
    return Network(
        flows=flows,
        groups=groups,
        edges=edges,
        lists=lists,
        spans=spans,
        others=others[:, groups],
        drift=drift,
    )


def _plant(
    edges: IntArray, row: int, root: int, parts: IntArray, chain: Sequence[GroupedMargin]
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


def _numbered_through(partitions: Sequence[GroupedMargin], groups: int) -> tuple[IntArray, int]:
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
