"""Cuts ways into lines: at their ends, and wherever ways meet."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.families.links.public.courses import starts_of

# What the x of a node is that the file does not hold.
NOWHERE = 2_147_483_647


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeRows:
    """The nodes of all ways in a row.

    Attributes:
        way: The way of each row, ascending.
        node: The id of its node.
        x: Longitude in ten millionths of a degree, or `NOWHERE`.
        y: Latitude likewise.
    """

    way: IntArray
    node: IntArray
    x: IntArray
    y: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class CutLines:
    """Lines between junctions.

    Attributes:
        begin: The row at which each line begins.
        place: The place of this row in its way, from 0.
        start: Where the points of each line begin; one entry more than lines.
        points: The rows of the points of all lines.
        cut_off: Number of ways with nodes that the file does not hold.
    """

    begin: IntArray
    place: IntArray
    start: IntArray
    points: IntArray
    cut_off: int


def cut_lines(rows: NodeRows) -> CutLines:
    """Returns the lines between junctions.

    A junction is the end of a way, or a node that ways pass more than once. A way that leaves the
    file ends at its last node inside, and begins anew where it comes back.
    """
    first = np.ones(len(rows.way), dtype=np.bool_)
    first[1:] = rows.way[1:] != rows.way[:-1]
    missing = rows.x == NOWHERE
    # A node that a way names twice in a row is no junction.
    again = ~first
    again[1:] &= rows.node[1:] == rows.node[:-1]
    kept = np.flatnonzero(~missing & ~again)
    piece, node = np.cumsum(first | missing)[kept], rows.node[kept]
    cuts = np.flatnonzero(_junctions(piece, node))
    joined = piece[cuts[:-1]] == piece[cuts[1:]]
    begin, end = cuts[:-1][joined], cuts[1:][joined]
    way_begins = np.flatnonzero(first)
    points = _stretches(begin, end)
    return CutLines(
        begin=kept[begin],
        place=kept[begin] - way_begins[rows.way[kept[begin]]],
        start=starts_of(end - begin + 1),
        points=kept[points],
        cut_off=len(np.unique(rows.way[missing])),
    )


def _junctions(piece: IntArray, node: IntArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    _, number, uses = np.unique(node, return_inverse=True, return_counts=True)
    junction = uses[number] > 1
    ends = np.flatnonzero(np.diff(piece))
    junction[ends] = True
    junction[ends + 1] = True
    junction[:1] = True
    junction[-1:] = True
    return junction


def _stretches(begin: IntArray, end: IntArray) -> IntArray:
    """Returns all numbers from each begin to its end, ends included."""
    sizes = end - begin + 1
    skipped = np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)
    return skipped + np.arange(len(skipped))
