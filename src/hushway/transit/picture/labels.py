"""Places labels on a map where they overlap least."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from scipy.spatial import cKDTree

from hushway.arrays import FloatArray

# How far from each other the points are that stand for lines.
PIXELS_APART = 4.0

_HALO = 3.0
_LEADING = 1.12
# What it costs to lie off the map, on other labels, on lines, and on what others are about.
_OFF_MAP, _ON_LABELS, _ON_LINES, _ON_OTHERS = 60.0, 30.0, 2.0, 1.5

# A name of which more than this would lie on others is left out.
_MOST_SHARED = 0.3


class Box(NamedTuple):
    """A box in pixels."""

    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True, kw_only=True)
class Words:
    """One row of a label."""

    text: str
    size: float
    colour: str
    weight: str = "normal"


class Labels:
    """The labels of one map, set one after the other, the important ones first."""

    def __init__(self, figure: Figure, frame: Box, lines: FloatArray) -> None:
        """Starts with an empty map.

        Args:
            lines: Points along lines, in pixels, that had better stay visible.
        """
        self._figure = figure
        self._frame = frame
        self._lines = lines
        self._taken: list[Box] = []

    def keep_clear(self, box: Box) -> None:
        """Keeps labels away from a box."""
        self._taken.append(box)

    def around(self, spot: FloatArray, words: Sequence[Words], *, gap: float) -> None:
        """Writes a label beside a spot, where it hides least; none if there is no room."""
        texts, width, height = self._measured(words)
        across, up = width / 2 + gap, height / 2 + gap
        sides = np.array(
            [(1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8), (-0.8, -0.8)]
        )
        centres = spot + sides * (across, up)
        # Sides that are named first are nicer.
        best = self._best(centres, (width, height), np.linspace(0.0, 0.15, len(sides)))
        if self._shared(best) > _MOST_SHARED:
            for text, _ in texts:
                text.remove()
            return
        self._write(texts, best)

    def among(self, spots: FloatArray, others: FloatArray, words: Sequence[Words]) -> None:
        """Writes a label at one of some spots: near their middle, where it hides least.

        Args:
            spots: What the label is about, in pixels.
            others: Spots that it is not about; it had better not reach over to them.
        """
        texts, width, height = self._measured(words)
        away = np.hypot(*(spots - spots.mean(axis=0)).T)
        cost = away / max(1.0, float(away.max()))
        corner = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)]) * (width / 2, height / 2)
        corners = (spots[:, None] + corner).reshape(-1, 2)
        strange = _nearest(corners, others) < _nearest(corners, spots)
        cost += _ON_OTHERS * strange.reshape(-1, len(corner)).mean(axis=1)
        self._write(texts, self._best(spots, (width, height), cost))

    def _measured(self, words: Sequence[Words]) -> tuple[list[tuple[Text, float]], float, float]:
        """Returns the rows as texts with their heights, and the size of them all in pixels."""
        canvas: Any = self._figure.canvas
        renderer = canvas.get_renderer()
        halo: list[Any] = [withStroke(linewidth=_HALO, foreground="white")]
        rows = []
        width = 0.0
        for row in words:
            text = self._figure.text(
                0,
                0,
                row.text,
                fontsize=row.size,
                color=row.colour,
                fontweight=row.weight,
                ha="center",
                va="center",
                parse_math=False,
                path_effects=halo,
            )
            text.set_zorder(20)
            extent = text.get_window_extent(renderer)
            rows.append((text, extent.height * _LEADING))
            width = max(width, extent.width)
        return rows, width, sum(height for _, height in rows)

    def _best(self, centres: FloatArray, size: tuple[float, float], cost: FloatArray) -> Box:
        """Returns the box around one of some centres that hides least, at costs of their own."""
        half = np.array(size) / 2
        boxes = [Box(*(centre - half).tolist(), *(centre + half).tolist()) for centre in centres]
        total = [self._hidden(box) + own for box, own in zip(boxes, cost.tolist(), strict=True)]
        return boxes[int(np.argmin(total))]

    def _write(self, rows: list[tuple[Text, float]], box: Box) -> None:
        self._taken.append(box)
        across, up = self._figure.bbox.size
        top = box.top
        for text, height in rows:
            text.set_position(((box.left + box.right) / 2 / across, float(top - height / 2) / up))
            top -= height

    def _shared(self, box: Box) -> float:
        """Returns how much of a box is taken, as a share of it."""
        area = max(1.0, (box.right - box.left) * (box.top - box.bottom))
        return sum(_shared(box, other) for other in self._taken) / area

    def _hidden(self, box: Box) -> float:
        area = max(1.0, (box.right - box.left) * (box.top - box.bottom))
        off_map = 1 - _shared(box, self._frame) / area
        x, y = self._lines.T
        inside = (x > box.left) & (x < box.right) & (y > box.bottom) & (y < box.top)
        # A line right through the label counts as much as its height.
        covered = PIXELS_APART * float(inside.sum()) / max(1.0, box.top - box.bottom)
        return _ON_LABELS * self._shared(box) + _OFF_MAP * off_map + _ON_LINES * covered


def _nearest(points: FloatArray, spots: FloatArray) -> FloatArray:
    """Returns how far the nearest spot is from each point; infinitely far if there is none."""
    if not len(spots):
        return np.full(len(points), np.inf)
    return np.asarray(cKDTree(spots).query(points)[0])


def _shared(one: Box, other: Box) -> float:
    """Returns the area that two boxes share."""
    across = min(one.right, other.right) - max(one.left, other.left)
    up = min(one.top, other.top) - max(one.bottom, other.bottom)
    return max(0.0, across) * max(0.0, up)
