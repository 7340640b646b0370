"""A picture of a sequences release, drawn from the published numbers alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.files.tree import ROOT, prefixes_of
from hushway.families.sequences.fit.table import SequenceTable
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.privacy.certificate import Certificate
from hushway.release.drawing.ground import (
    INK,
    MOST_FLOWS,
    TALL,
    colours_of,
    draw_places,
    draw_strongest,
    plane,
    png_of,
    poster,
    set_grid,
    set_title,
    shortened,
    write_words,
)
from hushway.release.wording import Sums, claim_text

# The first stops of a tree as boxes: places that many records visit, and the others of a group.
#
# A box beside another one continues it. Places that are too rare for a box of their own share one
# with the others of their group, so that a tree of any size becomes a few hundred boxes.

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
    table: SequenceTable, prefix: IntArray, groups: IntArray, *, stops: int, smallest: float
) -> list[Boxes]:
    """Returns the boxes of the first stops: the largest groups first, in them the largest places.

    Args:
        table: The published tree.
        prefix: For each node the node of the stop before (`prefixes_of`).
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
    return replace(boxes, tops=tops[boxes.above] + before - beside)


def _distinct(*columns: IntArray) -> tuple[IntArray, IntArray]:
    """Returns the distinct rows of some columns, and which of them each row is."""
    rows, position = np.unique(np.stack(columns), axis=1, return_inverse=True)
    return rows, position


def _added(position: IntArray, counts: IntArray, size: int) -> IntArray:
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, position, counts)
    return total


CUT = (
    "What is white beside a box ends there, or went on too rarely to be published: prefixes "
    "measured below the threshold of their step were cut, so records look shorter than they are."
)
LEARNT = (
    "What is white beside a box ends there. What is rare is a likely course, not a measurement: "
    "prefixes.parquet says what is sure."
)


def draw_sequences_picture(
    table: SequenceTable, certificate: Certificate, *, white: str = CUT
) -> bytes:
    """Returns a PNG: ways between stops on the map, the first stops, and records by length."""
    prefix, groups = prefixes_of(table), colour_groups(table.taxonomy)
    with poster(TALL) as figure:
        ways = figure.add_axes((0.015, 0.165, 0.47, 0.72))
        clear = draw_ways(ways, table, prefix, groups)
        set_title(ways, "From one stop to the next")
        first = figure.add_axes((0.515, 0.375, 0.47, 0.485))
        draw_icicle(first, table, prefix, groups)
        # Above the names of the columns.
        set_title(first, "The first stops of all records", pad=21)
        draw_lengths(figure.add_axes((0.56, 0.19, 0.425, 0.13)), table)
        write_words(figure, certificate, _caption(table, certificate, clear, white))
        return png_of(figure)


def colour_groups(taxonomy: Taxonomy) -> list[str]:
    """Returns what each location is coloured by: its coarsest group, or its zone without groups."""
    if not taxonomy.levels:
        return [place.zone for place in taxonomy.locations.places]
    level = taxonomy.levels[0]
    return [level.names[code] for code in level.codes.tolist()]


def _caption(table: SequenceTable, certificate: Certificate, clear: int, white: str) -> str:
    shown = "all" if clear <= MOST_FLOWS else f"the {MOST_FLOWS} largest"
    colours = table.taxonomy.levels[0].column if table.taxonomy.levels else "zone"
    return (
        f"Drawn from the published numbers alone; {claim_text(certificate)}. Lines bend to the "
        f"right of their way and are as wide as their records: {shown} of the {clear:,} ways whose "
        "sum over all stops exceeds two standard errors of its noise, taken as that of its "
        "prefixes before the fit. Boxes are as high as their records and stand beside the box that "
        f"they continue; pale ones are shared by places of one group. {white} Colours: {colours}."
    )


_BAR = "#3a7c8b"
_MOST_LABELS = 20
# Left of the axes, in their widths: titles of all panels stand in one line.
_TITLE_AT = -0.106


def draw_lengths(axes: Axes, table: SequenceTable) -> None:
    """Draws the published records by their number of stops."""
    records = records_by_length(table)
    stops = np.arange(1, len(records) + 1)
    axes.bar(stops, records, width=0.82, color=_BAR, linewidth=0)
    axes.set_xticks(stops[:: math.ceil(len(stops) / _MOST_LABELS)])
    axes.set_xlim(0.3, len(stops) + 0.7)
    axes.set_ylim(0, max(1.0, 1.05 * int(records.max())))
    axes.tick_params(axis="both", length=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    set_grid(axes, "y")
    axes.set_xlabel("number of stops", fontsize=8.5)
    set_title(axes, "Published records by number of stops", x=_TITLE_AT)


def draw_ways(axes: Axes, table: SequenceTable, prefix: IntArray, groups: Sequence[str]) -> int:
    """Draws the places and the strongest ways; returns how many ways are clear of the noise."""
    points = plane(table.taxonomy.locations)
    sums = sums_by_way(table, prefix)
    origin, destination = np.divmod(sums.keys, len(points))
    draw_places(axes, points, groups, visits_by_location(table))
    return draw_strongest(axes, points, sums, origin, destination)


# The panel of a picture that shows the first stops of all records as columns of boxes.
#
# A column is a stop. A box is as high as its records and stands beside the box that it continues;
# what is left white beside a box ends there. Boxes have the colours of groups.

MOST_STOPS = 3

_SOFT = "#3f4a58"
_BOX_WIDTH = 0.97
# Colours are mixed with white, so that dark letters can be read on them; shared boxes are paler.
_STRENGTH, _SHARED_STRENGTH = 0.62, 0.36
# The smallest box that a name fits into, as a share of the panel.
_NAMED = 1 / 32
_MOST_LETTERS = 23


def draw_icicle(axes: Axes, table: SequenceTable, prefix: IntArray, groups: Sequence[str]) -> None:
    """Draws the first stops of a tree."""
    names = sorted(set(groups))
    number = {name: i for i, name in enumerate(names)}
    group_of = np.array([number[group] for group in groups], dtype=np.int64)
    pure = np.array([to_rgb(colour) for colour in colours_of(len(names))])
    columns = boxes_of_stops(table, prefix, group_of, stops=MOST_STOPS, smallest=_NAMED)
    total = int(columns[0].heights.sum()) if columns else 1
    for stop, boxes in enumerate(columns):
        strength = np.where(boxes.place == OTHERS, _SHARED_STRENGTH, _STRENGTH)[:, None]
        _fill(axes, stop, boxes, 1 - strength * (1 - pure[boxes.group]))
        for i in np.flatnonzero(boxes.heights >= _NAMED * total).tolist():
            _name(axes, stop, boxes, i, _words(table, boxes, i, names))
    axes.set_xlim(0, MOST_STOPS)
    axes.set_ylim(total, 0)
    shares = [f"{int(boxes.heights.sum()) / total:.0%} of records" for boxes in columns]
    ticks = [f"stop {i + 1} · {share}" for i, share in enumerate(shares)]
    axes.set_xticks(np.arange(len(ticks)) + _BOX_WIDTH / 2, ticks)
    axes.xaxis.tick_top()
    axes.set_yticks([])
    axes.tick_params(length=0, labelsize=8.5)
    axes.spines[:].set_visible(False)


def _fill(axes: Axes, stop: int, boxes: Boxes, colours: FloatArray) -> None:
    left, right = stop, stop + _BOX_WIDTH
    corners = [
        ((left, top), (right, top), (right, bottom), (left, bottom))
        for top, bottom in zip(
            boxes.tops.tolist(), (boxes.tops + boxes.heights).tolist(), strict=True
        )
    ]
    axes.add_collection(
        PolyCollection(corners, facecolors=colours, edgecolors="white", linewidths=0.5)
    )


def _name(axes: Axes, stop: int, boxes: Boxes, box: int, words: str) -> None:
    height = int(boxes.heights[box])
    middle = int(boxes.tops[box]) + height / 2
    for x, text, edge, colour in (
        (stop + 0.03, words, "left", INK),
        (stop + _BOX_WIDTH - 0.03, f"{height:,}", "right", _SOFT),
    ):
        axes.text(
            x,
            middle,
            text,
            fontsize=7.2,
            color=colour,
            ha=edge,
            va="center_baseline",
            parse_math=False,
        )


def _words(table: SequenceTable, boxes: Boxes, box: int, groups: Sequence[str]) -> str:
    if boxes.place[box] == OTHERS:
        places = f"{int(boxes.places[box]):,} places"
        return (
            f"{shortened(groups[int(boxes.group[box])], _MOST_LETTERS - len(places) - 2)}: {places}"
        )
    return shortened(table.taxonomy.locations.places[int(boxes.place[box])].name, _MOST_LETTERS)


def stop_nodes(table: SequenceTable) -> IntArray:
    """Returns the nodes that stand for a stop at a location; the others are groups on the way."""
    return np.flatnonzero(table.grains == table.taxonomy.grains - 1)


def visits_by_location(table: SequenceTable) -> FloatArray:
    """Returns how often the published sequences stop at each location."""
    nodes = stop_nodes(table)
    places = table.taxonomy.location_of(table.code[nodes])
    visits = np.bincount(places, table.counts[nodes], len(table.taxonomy.locations))
    return visits.astype(np.float64)


def sums_by_way(table: SequenceTable, prefix: IntArray) -> Sums:
    """Returns how many records go from one location straight on to another, at any stop.

    The key is origin * locations + destination. The noise is that of the nodes before the fit.
    """
    nodes = stop_nodes(table)
    nodes = nodes[prefix[nodes] != ROOT]
    origin = table.taxonomy.location_of(table.code[prefix[nodes]])
    destination = table.taxonomy.location_of(table.code[nodes])
    errors = np.array([step.standard_error for step in table.steps])[table.step[nodes]]
    keys, position = np.unique(
        origin * len(table.taxonomy.locations) + destination, return_inverse=True
    )
    return Sums(
        keys=keys,
        totals=np.bincount(position, table.counts[nodes], len(keys)).astype(np.float64),
        standard_errors=np.sqrt(np.bincount(position, errors**2, len(keys))),
    )


def records_by_length(table: SequenceTable) -> IntArray:
    """Returns how many records are published with 1 stop, with 2 stops, and so on."""
    stop_of_step = np.array([step.stop for step in table.steps], dtype=np.int64)
    # Where nothing is sure there are no steps, and still one bar: none of one stop.
    records = np.zeros(int(stop_of_step.max(initial=0)) + 1, dtype=np.int64)
    np.add.at(records, stop_of_step[table.step], table.ends)
    return records
