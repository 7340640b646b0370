"""The map of a network: zones, hubs, bus lines as wide as their riders, and shuttle pickups."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.patheffects import withStroke

from hushway.arrays import FloatArray, IntArray
from hushway.geography.areas import Plane
from hushway.geography.transit import TransitNetwork
from hushway.release.drawing.ground import draw_places
from hushway.transit.picture.labels import PIXELS_APART

INK, SOFT = "#1c2430", "#5a6675"
# Dark colours: they stand out from the tints of zones.
_LINE_COLOURS = ("#0b3c6f", "#8e1b4a", "#1d6b3a", "#5b2a86", "#8a4b08", "#1c2430", "#a11d1d")
_MOST_NAMED_LINES = 8
_THINNEST, _WIDER = 2.2, 9.0
_CASING, _BETWEEN = 2.6, 1.4
_MARGIN = 0.06
# A map is at least so wide, also of one place.
_LEAST_M = 400.0
_POINTS_PER_INCH = 72


@dataclass(frozen=True, kw_only=True, eq=False)
class Stretch:
    """What is drawn between two neighbouring stops of a line, for both ways together.

    Attributes:
        heads_for: The stop that its buses run to; nothing if they run both ways.
    """

    line: str
    start: int
    end: int
    riders: int
    heads_for: int | None


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnStretch:
    """A stretch on the map: its ends in metres, and its width and colour."""

    stretch: Stretch
    ends: FloatArray
    width: float
    colour: str


def positions_m(network: TransitNetwork) -> FloatArray:
    """Returns every place on a map in metres, one row each."""
    lon = np.array([place.lon for place in network.locations.places])
    lat = np.array([place.lat for place in network.locations.places])
    return Plane(lon=float(lon.mean()), lat=float(lat.mean())).to_metres(lon, lat)


def stretches_of(network: TransitNetwork, riders: Sequence[IntArray]) -> list[Stretch]:
    """Returns the stretches of all lines; both ways of a line are one.

    Args:
        riders: For each line, the riders from each stop to the next.
    """
    found: dict[tuple[int, int, str], list[tuple[int, int]]] = {}
    for line, on_board in zip(network.lines, riders, strict=True):
        for (one, other), count in zip(pairwise(line.stops), on_board.tolist(), strict=True):
            key = min(one, other), max(one, other), line.name
            found.setdefault(key, []).append((other, count))
    made = []
    for (start, end, name), ways in found.items():
        heads = {stop for stop, _ in ways}
        made.append(
            Stretch(
                line=name,
                start=start,
                end=end,
                riders=sum(count for _, count in ways),
                heads_for=heads.pop() if len(heads) == 1 else None,
            )
        )
    return made


def draw_ground(axes: Axes, network: TransitNetwork, at: FloatArray, pickups: IntArray) -> None:
    """Draws zones and places, dots as large as the pickups at doors, and fits the map around."""
    zones = [place.zone for place in network.locations.places]
    doors = np.where(network.hub_number < 0, pickups, 0).astype(np.float64)
    draw_places(axes, at, zones, doors)
    legend = axes.get_legend()
    if legend is not None:
        # Zones are named on the map itself.
        legend.remove()
    box = axes.get_window_extent()
    middle = (at.min(axis=0) + at.max(axis=0)) / 2
    # The tint reaches beyond the outermost places by a share of the larger side.
    span = np.ptp(at, axis=0) + 2 * (_MARGIN + 0.02) * max(float(np.ptp(at, axis=0).max()), 1.0)
    span = np.maximum(span, _LEAST_M)
    pixel_m = max(span[0] / box.width, span[1] / box.height)
    half = np.array([box.width, box.height]) * pixel_m / 2
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])


def draw_lines(axes: Axes, at: FloatArray, stretches: Sequence[Stretch]) -> list[DrawnStretch]:
    """Draws bus lines as wide as their riders; lines that share a way lie side by side."""
    names = list(dict.fromkeys(stretch.line for stretch in stretches))
    most = max((stretch.riders for stretch in stretches), default=0)
    point_m = _pixel_m(axes) * axes.figure.get_dpi() / _POINTS_PER_INCH
    beside: dict[tuple[int, int], list[Stretch]] = {}
    for stretch in stretches:
        beside.setdefault((stretch.start, stretch.end), []).append(stretch)
    drawn = []
    for (start, end), together in beside.items():
        widths = [_THINNEST + _WIDER * each.riders / max(1, most) for each in together]
        offset = -(sum(widths) + _BETWEEN * (len(widths) - 1)) / 2
        way = at[end] - at[start]
        aside = np.array([-way[1], way[0]]) / max(float(np.hypot(*way)), 1e-9)
        for stretch, width in zip(together, widths, strict=True):
            ends = at[[start, end]] + aside * (offset + width / 2) * point_m
            colour = _LINE_COLOURS[names.index(stretch.line) % len(_LINE_COLOURS)]
            drawn.append(DrawnStretch(stretch=stretch, ends=ends, width=width, colour=colour))
            offset += width + _BETWEEN
    courses = [each.ends for each in drawn]
    widths = [each.width for each in drawn]
    casing = [width + _CASING for width in widths]
    axes.add_collection(
        LineCollection(courses, linewidths=casing, colors="white", capstyle="round", zorder=4)
    )
    colours = [each.colour for each in drawn]
    axes.add_collection(
        LineCollection(courses, linewidths=widths, colors=colours, capstyle="round", zorder=5)
    )
    _draw_arrows(axes, drawn)
    return drawn


def _draw_arrows(axes: Axes, drawn: Sequence[DrawnStretch]) -> None:
    """Draws which way buses run on stretches that they run one way only."""
    for each in drawn:
        if each.stretch.heads_for is None:
            continue
        way = each.ends[1] - each.ends[0]
        if each.stretch.heads_for == each.stretch.start:
            way = -way
        turn = math.degrees(math.atan2(float(way[1]), float(way[0])))
        arrow = MarkerStyle(">").scaled(1.3, 0.75).rotated(deg=turn)
        x, y = each.ends.mean(axis=0).tolist()
        axes.scatter(
            [x], [y], s=60, marker=arrow, c="white", edgecolors=each.colour, lw=1.0, zorder=6
        )


def draw_line_names(axes: Axes, network: TransitNetwork, drawn: Sequence[DrawnStretch]) -> None:
    """Names the lines in a corner, with how often their buses come."""
    colour_of = {each.stretch.line: each.colour for each in drawn}
    colours = {line.name: colour_of[line.name] for line in network.lines}
    headways = {line.name: line.headway_s for line in network.lines}
    marks = [
        Line2D([], [], color=colour, lw=4, label=f"{name}, every {headways[name] / 60:.3g} min")
        for name, colour in list(colours.items())[:_MOST_NAMED_LINES]
    ]
    if len(colours) > _MOST_NAMED_LINES:
        more = f"lines not named: {len(colours) - _MOST_NAMED_LINES}"
        marks.append(Line2D([], [], lw=0, label=more))
    if not marks:
        return
    legend = axes.legend(
        handles=marks, loc="lower left", fontsize=9, framealpha=0.9, edgecolor="none"
    )
    legend.set_zorder(15)
    for text in legend.get_texts():
        text.set_parse_math(False)


def draw_hubs(axes: Axes, network: TransitNetwork, at: FloatArray, pickups: IntArray) -> None:
    """Draws hubs as squares, as large as the shuttle rides that begin there."""
    hubs = list(network.hubs)
    share = pickups[hubs] / max(1, int(pickups[hubs].max(initial=0)))
    axes.scatter(
        at[hubs, 0],
        at[hubs, 1],
        s=70 + 170 * share,
        marker="s",
        c=INK,
        edgecolors="white",
        lw=1.6,
        zorder=8,
    )


def draw_scale_bar(axes: Axes) -> None:
    """Draws a bar of a round length, about a sixth of the map's width."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    wanted = (right - left) / 6
    power = 10 ** math.floor(math.log10(wanted))
    length = max(round_one * power for round_one in (1, 2, 5) if round_one * power <= wanted)
    end, height = right - 0.02 * (right - left), bottom + 0.025 * (top - bottom)
    tick = 0.007 * (top - bottom)
    x = [end - length, end - length, end, end]
    axes.plot(x, [height + tick, height, height, height + tick], color=INK, lw=1.6, zorder=15)
    words = f"{length / 1000:g} km" if length >= 1000 else f"{length:g} m"  # noqa: PLR2004
    axes.text(
        end - length / 2,
        height + 1.4 * tick,
        words,
        fontsize=9,
        ha="center",
        va="bottom",
        zorder=15,
        path_effects=[withStroke(linewidth=3, foreground="white")],
    )


def points_along(axes: Axes, drawn: Sequence[DrawnStretch]) -> FloatArray:
    """Returns points along the lines in pixels, close to each other."""
    found = [np.empty((0, 2))]
    for each in drawn:
        start, end = axes.transData.transform(each.ends)
        steps = max(2, math.ceil(float(np.hypot(*(end - start))) / PIXELS_APART))
        found.append(start + np.linspace(0, 1, steps)[:, None] * (end - start))
    return np.concatenate(found)


def _pixel_m(axes: Axes) -> float:
    left, right = axes.get_xlim()
    return float((right - left) / axes.get_window_extent().width)
