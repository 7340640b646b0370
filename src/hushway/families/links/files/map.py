"""A road network drawn with people on its links: the wider and darker, the more."""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.path import Path as Outline
from numpy.typing import NDArray

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.links.files.roads import course_points
from hushway.families.links.public.roads import RoadNetwork
from hushway.release.drawing.ground import SOFT, draw_ground

_PEOPLE = LinearSegmentedColormap.from_list(
    "people", ["#f2c14e", "#ee8434", "#d1495b", "#8c2f6b", "#3d1e5c"]
)
_ROAD = "#cfd6de"
# Widths in points. Roads without a published count are wider the higher their class, from 1 to 5.
_ROAD_WIDTHS = np.array([0.0, 1.3, 1.0, 0.75, 0.55, 0.4])
_NARROWEST, _WIDEST = 0.5, 6.0
_BETWEEN_DIRECTIONS = 0.35
# Networks with more streets than this are drawn with finer lines.
_FEW_STREETS, _MOST_SHRUNK = 2_000, 0.3
# Widths and colours in steps too small to be seen.
_SHADES = 64
_LINES_A_STROKE = 2_000
# The busiest links of all would leave the others thin.
_FULL_WIDTH = 0.995
_POINTS_AN_INCH = 72
_FAR_OUT = 1.5
_MARGIN = 0.02
_STEPS = (1, 2, 5)
_CLEARLY_BELOW, _WITHOUT_DIGITS = 0.7, 10


@dataclass(frozen=True, kw_only=True)
class PeopleScale:
    """How wide and dark a link of some count is drawn.

    Attributes:
        most: The count from which on links have the full width and the darkest colour.
        shrunk: Share of the width that remains where streets are many.
    """

    most: float
    shrunk: float = 1.0

    def widths(self, counts: FloatArray) -> FloatArray:
        """Returns the width of the line of each count, in points."""
        share = np.minimum(counts / self.most, 1)
        return np.asarray(_NARROWEST * self.shrunk + (_WIDEST - _NARROWEST) * self.shrunk * share)

    def colours(self, counts: FloatArray) -> NDArray[Any]:
        """Returns the colour of the line of each count."""
        # Most links have few people: by the root they still differ.
        return np.asarray(_PEOPLE(np.sqrt(np.minimum(counts / self.most, 1))))


def scale_of(roads: RoadNetwork, counts: FloatArray) -> PeopleScale:
    """Returns a scale that suits the counts of links.

    Two maps can be compared if they are drawn with the scale of one of them.
    """
    shown = counts[counts > 0]
    most = float(np.quantile(shown, _FULL_WIDTH)) if len(shown) else 1.0
    # Two digits are enough for a legend.
    most = float(f"{most:.1e}")
    return PeopleScale(most=most, shrunk=_shrunk(roads))


def draw_network(
    axes: Axes, roads: RoadNetwork, counts: FloatArray, *, scale: PeopleScale | None = None
) -> PeopleScale:
    """Draws all roads in grey, and people on links; takes away everything else from the axes.

    The two directions of a street lie side by side, each to the right of the middle.

    Returns:
        The scale, for a legend or another map.
    """
    scale = scale_of(roads, counts) if scale is None else scale
    metres = _set_view(axes, roads, np.flatnonzero(counts > 0))
    draw_ground(axes, lambda degrees: roads.plane.to_metres(*degrees.T))
    _draw_roads(axes, roads, metres)
    _draw_people(axes, roads, counts, scale, metres)
    return scale


def draw_scale(axes: Axes, scale: PeopleScale, *, title: str) -> None:
    """Draws what the widths and colours mean, into a corner of the map."""
    steps = [*round_steps(scale.most), scale.most]
    labels = [_number(step) for step in steps[:-1]] + [f"{_number(scale.most)} or more"]
    numbers = np.array(steps)
    handles = [
        Line2D([], [], linewidth=width, color=tuple(colour), solid_capstyle="round", label=label)
        for width, colour, label in zip(
            scale.widths(numbers).tolist(), scale.colours(numbers).tolist(), labels, strict=True
        )
    ]
    handles.append(Line2D([], [], linewidth=0.8, color=_ROAD, label="not shown"))
    legend = axes.legend(
        handles=handles,
        title=title,
        loc="lower left",
        fontsize=8,
        title_fontsize=8,
        alignment="left",
        framealpha=0.88,
        edgecolor="none",
        handlelength=2.4,
        labelspacing=0.55,
        borderaxespad=0.2,
    )
    legend.get_title().set_color(SOFT)
    legend.set_zorder(5)


def round_steps(most: float) -> list[float]:
    """Returns up to three round numbers, ascending, clearly below the largest."""
    power = math.floor(math.log10(most))
    candidates = [step * 10.0**exponent for exponent in (power - 1, power) for step in _STEPS]
    return [step for step in candidates if step <= _CLEARLY_BELOW * most][-3:]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= _WITHOUT_DIGITS else f"{value:.2g}"


def _shrunk(roads: RoadNetwork) -> float:
    streets = int(roads.street.max()) + 1
    return float(np.clip((_FEW_STREETS / streets) ** (1 / 3), _MOST_SHRUNK, 1.0))


def _set_view(axes: Axes, roads: RoadNetwork, links: IntArray) -> float:
    """Fits the network into the axes; returns how many metres a point of the figure stands for."""
    low, high = _view(roads, links)
    figure = axes.get_figure(root=True)
    if figure is None:  # pragma: no cover  axes are always part of a figure
        return 1.0
    box = axes.get_position()
    room = np.array(figure.get_size_inches()) * (box.width, box.height) * _POINTS_AN_INCH
    metres = float(np.max((high - low) / room)) * (1 + 2 * _MARGIN)
    middle, half = (low + high) / 2, room * metres / 2
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    axes.set_axis_off()
    return metres


def _view(roads: RoadNetwork, links: IntArray) -> tuple[FloatArray, FloatArray]:
    """Returns the corners of the part to show: almost all nodes, and every link that shows."""
    low, high = roads.node_points.min(axis=0), roads.node_points.max(axis=0)
    most = np.quantile(roads.node_points, [0.005, 0.995], axis=0)
    # A few roads far out would leave a speck in the middle.
    if bool(np.any(high - low > _FAR_OUT * (most[1] - most[0]))):
        low, high = most
    points = roads.points[course_points(roads, links)[1]]
    if len(points):
        low, high = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
    # Never less than a metre, whatever the network.
    return np.asarray(low), np.maximum(high, low + 1.0)


def _draw_roads(axes: Axes, roads: RoadNetwork, metres: float) -> None:
    _, links = np.unique(roads.street, return_index=True)
    # Small streets first: they end at large ones.
    links = links[np.argsort(-roads.road_class[links], kind="stable")]
    sizes, points = course_points(roads, links)
    lines = shapely.linestrings(
        roads.points[points], indices=np.repeat(np.arange(len(links)), sizes)
    )
    # A third of a point: what is left out cannot be seen.
    simpler = shapely.simplify(lines, metres / 3)
    strokes = _strokes(
        shapely.get_coordinates(simpler),
        shapely.get_num_coordinates(simpler),
        -roads.road_class[links],
    )
    widths = _ROAD_WIDTHS[[-stroke for stroke, _ in strokes]] * max(_shrunk(roads), 0.6)
    _add(axes, [line for _, line in strokes], widths, _ROAD, zorder=1)


def _draw_people(
    axes: Axes, roads: RoadNetwork, counts: FloatArray, scale: PeopleScale, metres: float
) -> None:
    links = np.flatnonzero(counts > 0)
    step = np.ceil(np.minimum(counts[links] / scale.most, 1) * _SHADES).astype(np.int64)
    # The busiest are drawn last, so that nothing hides them.
    order = np.argsort(step, kind="stable")
    links, step = links[order], step[order]
    drawn = step / _SHADES * scale.most
    aside = scale.widths(drawn) / 2 + _BETWEEN_DIRECTIONS
    points = _beside(roads, links, np.where(_has_opposite(roads)[links], aside * metres, 0.0))
    strokes = _strokes(points, np.diff(roads.start)[links], step)
    shown = np.array([stroke for stroke, _ in strokes]) / _SHADES * scale.most
    lines = [line for _, line in strokes]
    _add(axes, lines, scale.widths(shown), scale.colours(shown), zorder=3)


def _strokes(points: FloatArray, sizes: IntArray, group: IntArray) -> list[tuple[int, Outline]]:
    """Returns lines as a few strokes of many lines each: those of one group, some at a time.

    A hundred thousand lines by themselves would take ten times as long.

    Args:
        points: The points of all lines in a row.
        sizes: How many points each line has.
        group: The group of each line, ascending.
    """
    ends = np.cumsum(sizes)
    codes = np.full(len(points), Outline.LINETO, dtype=Outline.code_type)
    codes[ends - sizes] = Outline.MOVETO
    cuts = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), len(group)]
    firsts = [range(first, stop, _LINES_A_STROKE) for first, stop in itertools.pairwise(cuts)]
    starts = [start for run in firsts for start in run]
    strokes = []
    for start, stop in itertools.pairwise([*starts, len(group)]):
        part = slice(int(ends[start] - sizes[start]), int(ends[stop - 1]))
        strokes.append((int(group[start]), Outline(points[part], codes[part])))
    return strokes


def _add(
    axes: Axes, lines: list[Outline], widths: FloatArray, colours: Any, *, zorder: float
) -> None:
    collection = PathCollection(
        lines,
        facecolors="none",
        edgecolors=colours,
        linewidths=widths,
        capstyle="round",
        joinstyle="round",
        zorder=zorder,
    )
    axes.add_collection(collection, autolim=False)


def _has_opposite(roads: RoadNetwork) -> BoolArray:
    return np.asarray(np.bincount(roads.street)[roads.street] > 1)


def _beside(roads: RoadNetwork, links: IntArray, aside: FloatArray) -> FloatArray:
    """Returns the points of links in a row, moved to the right of their way by metres."""
    sizes, positions = course_points(roads, links)
    points = roads.points[positions]
    step = np.diff(points, axis=0, append=points[-1:])
    step[np.cumsum(sizes) - 1] = 0
    long = np.hypot(step[:, 0], step[:, 1])
    right = np.column_stack([step[:, 1], -step[:, 0]]) / np.where(long > 0, long, 1)[:, None]
    # At a bend halfway between the two directions; at the ends there is one alone.
    both = right.copy()
    both[1:] += right[:-1]
    reach = np.hypot(both[:, 0], both[:, 1])
    both /= np.where(reach > 0, reach, 1)[:, None]
    return np.asarray(points + both * np.repeat(aside, sizes)[:, None])
