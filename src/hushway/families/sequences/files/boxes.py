"""The first stops of a tree as boxes: places that many records visit, and the others of a group.

A box beside another one continues it. Places that are too rare for a box of their own share one
with the others of their group, so that a tree of any size becomes a few hundred boxes.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.families.sequences.files.tree_shape import ROOT
from hushway.families.sequences.files.ways import stop_nodes
from hushway.families.sequences.mechanism.table import SequenceTable

OTHERS = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class Boxes:
    """The boxes of one stop, from the top down.

    Attributes:
        above: The box of the stop before that each continues; 0 at the first stop.
        group: The group of each.
        place: The location of each; OTHERS if several share it.
        places: How many locations share it.
        tops: Where each begins, in records.
        heights: How many records it stands for.
    """

    above: IntArray
    group: IntArray
    place: IntArray
    places: IntArray
    tops: IntArray
    heights: IntArray


def boxes_of_stops(
    table: SequenceTable,
    prefix: IntArray,
    groups: IntArray,
    *,
    stops: int,
    smallest: float,
) -> list[Boxes]:
    """Returns the boxes of the first stops: the largest groups first, in them the largest places.

    Args:
        table: The published tree.
        prefix: For each node the node of the stop before (`tree_shape.prefixes_of`).
        groups: The group of each location.
        stops: How many stops to show.
        smallest: A place has a box of its own if it has at least this share of all records.
    """
    stop_of_step = np.array([step.stop for step in table.steps], dtype=np.int64)
    nodes = stop_nodes(table)
    nodes = nodes[table.counts[nodes] > 0]
    stop_of = stop_of_step[table.step[nodes]]
    least = smallest * float(table.counts[nodes[stop_of == 0]].sum())
    # The box of each node; that of the root stands last.
    box_of = np.zeros(len(table.counts) + 1, dtype=np.int64)
    tops = np.zeros(1, dtype=np.int64)
    found: list[Boxes] = []
    for stop in range(stops):
        own = nodes[stop_of == stop]
        if not len(own):
            break
        place = table.taxonomy.location_of(table.code[own])
        boxes, inside = _boxes(box_of[prefix[own]], groups[place], place, table.counts[own], least)
        boxes = _placed(boxes, tops)
        box_of[own], tops = inside, boxes.tops
        found.append(boxes)
    return found


def _boxes(
    above: IntArray, group: IntArray, place: IntArray, counts: IntArray, least: float
) -> tuple[Boxes, IntArray]:
    """Returns the boxes of one stop, not placed yet, and the box of each node."""
    keys, at = _distinct(above, place)
    heights = _added(at, counts, len(keys[0]))
    group_of = np.empty_like(heights)
    group_of[at] = group
    shown = np.where(heights >= least, keys[1], OTHERS)
    (box_above, box_group, box_place), shared = _distinct(keys[0], group_of, shown)
    size = len(box_above)
    heights = _added(shared, heights, size)
    order = _order(box_above, box_group, box_place, heights)
    rank = np.empty_like(order)
    rank[order] = np.arange(size)
    boxes = Boxes(
        above=box_above[order],
        group=box_group[order],
        place=box_place[order],
        places=np.bincount(shared, minlength=size).astype(np.int64)[order],
        tops=np.zeros(size, dtype=np.int64),
        heights=heights[order],
    )
    return boxes, rank[shared[at]]


def _order(above: IntArray, group: IntArray, place: IntArray, heights: IntArray) -> IntArray:
    """Orders boxes by the one above, then by the size of their group, then by their own."""
    _, pair = _distinct(above, group)
    of_group = _added(pair, heights, len(heights))[pair]
    return np.lexsort((place, -heights, place == OTHERS, group, -of_group, above))


def _placed(boxes: Boxes, tops: IntArray) -> Boxes:
    """Puts boxes one below the other, beside the box that they continue."""
    before = np.cumsum(boxes.heights) - boxes.heights
    first = np.flatnonzero(np.diff(boxes.above, prepend=ROOT))
    beside = np.repeat(before[first], np.diff(np.append(first, len(before))))
    return Boxes(
        above=boxes.above,
        group=boxes.group,
        place=boxes.place,
        places=boxes.places,
        tops=tops[boxes.above] + before - beside,
        heights=boxes.heights,
    )


def _distinct(*columns: IntArray) -> tuple[IntArray, IntArray]:
    """Returns the distinct rows of some columns, and which of them each row is."""
    rows, position = np.unique(np.stack(columns), axis=1, return_inverse=True)
    return rows, position


def _added(position: IntArray, counts: IntArray, size: int) -> IntArray:
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, position, counts)
    return total
