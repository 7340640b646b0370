"""The panel of a picture that shows the first stops of all records as columns of boxes.

A column is a stop. A box is as high as its records and stands beside the box that it continues;
what is left white beside a box ends there. Boxes have the colours of groups.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.files.boxes import OTHERS, Boxes, boxes_of_stops
from hushway.families.sequences.mechanism.table import SequenceTable
from hushway.release.ground import colours_of

MOST_STOPS = 3

_INK, _SOFT = "#1c2430", "#3f4a58"
_BOX_WIDTH = 0.97
# Colours are mixed with white, so that dark letters can be read on them; shared boxes are paler.
_STRENGTH, _SHARED_STRENGTH = 0.62, 0.36
# The smallest box that a name fits into, as a share of the panel.
_NAMED = 1 / 32
_MOST_LETTERS = 23


def draw_icicle(axes: Axes, table: SequenceTable, prefix: IntArray, groups: Sequence[str]) -> None:
    """Draws the first stops of a tree.

    Args:
        axes: Where to draw.
        table: The published tree.
        prefix: For each node the node of the stop before (`tree_shape.prefixes_of`).
        groups: The name of each location's group.
    """
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
        (stop + 0.03, words, "left", _INK),
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
        return f"{_short(groups[int(boxes.group[box])], _MOST_LETTERS - len(places) - 2)}: {places}"
    return _short(table.taxonomy.locations.places[int(boxes.place[box])].name, _MOST_LETTERS)


def _short(name: str, letters: int) -> str:
    return name if len(name) <= letters else name[: letters - 1] + "…"
