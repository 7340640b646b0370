"""The map in the picture of an OD release: places, tinted zones and the flows between them."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba_array
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from hushway.artefact.flows import FloatArray, Sums, sums_by_pair
from hushway.geography.locations import Locations
from hushway.releases.od.table import ODTable

MOST_FLOWS = 300
CLEAR_OF_NOISE = 2.0

_FLOW = "#12314a"
# Okabe and Ito's colours, told apart by colour-blind readers too.
_ZONES = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#D55E00", "#0072B2", "#F0E442")
_CURVE_POINTS = 24
_LAND_WORK = 25e6


def draw_map(axes: Axes, table: ODTable) -> int:
    """Draws the places and the strongest flows; returns how many flows are clear of the noise."""
    places = table.universe.locations
    points = _plane(places)
    sums = sums_by_pair(table)
    clear = _clear_flows(table, sums)
    strongest = clear[np.argsort(sums.totals[clear], kind="stable")[-MOST_FLOWS:]]
    _draw_places(axes, places, points, _place_sizes(table, sums))
    if len(strongest):
        _, origin, destination = table.universe.decode(sums.keys[strongest])
        _draw_flows(axes, points[origin], points[destination], sums.totals[strongest])
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.0)
    axes.set_axis_off()
    return len(clear)


def _clear_flows(table: ODTable, sums: Sums) -> NDArray[np.intp]:
    """Returns the positions of the flows between two places that exceed their noise clearly."""
    _, origin, destination = table.universe.decode(sums.keys)
    clear = sums.totals > CLEAR_OF_NOISE * sums.standard_errors
    return np.flatnonzero(clear & (origin != destination))


def _draw_flows(axes: Axes, starts: FloatArray, ends: FloatArray, totals: FloatArray) -> None:
    share = totals / totals.max()
    axes.add_collection(
        LineCollection(
            list(_curves(starts, ends)),
            linewidths=0.4 + 5.2 * share,
            colors=_FLOW,
            alpha=(0.18 + 0.62 * np.sqrt(share)).tolist(),
            capstyle="round",
            zorder=2,
        )
    )


def _draw_places(axes: Axes, places: Locations, points: FloatArray, sizes: FloatArray) -> None:
    number = {zone: i for i, zone in enumerate(places.zones)}
    colours = [_ZONES[number[place.zone] % len(_ZONES)] for place in places.places]
    _draw_land(axes, points, colours)
    rim = 0.7 * math.sqrt(_crowding(places))
    axes.scatter(
        points[:, 0], points[:, 1], s=sizes, c=colours, edgecolors="white", lw=rim, zorder=3
    )
    if 1 < len(number) <= len(_ZONES):
        marks = [
            Line2D([], [], marker="o", ls="", ms=6, mec="white", mfc=_ZONES[i], label=zone)
            for zone, i in number.items()
        ]
        legend = axes.legend(
            handles=marks,
            loc="lower left",
            fontsize=8,
            framealpha=0.85,
            edgecolor="none",
            handletextpad=0.2,
            borderaxespad=0.2,
        )
        for text in legend.get_texts():
            text.set_parse_math(False)


def _draw_land(axes: Axes, points: FloatArray, colours: list[str]) -> None:
    """Tints the ground around every place with the colour of its zone."""
    reach = 0.075 * max(*np.ptp(points, axis=0).tolist(), 1e-6)
    left, bottom = (points.min(axis=0) - 1.2 * reach).tolist()
    right, top = (points.max(axis=0) + 1.2 * reach).tolist()
    # Fewer dots of ground for more places: the work stays the same.
    dots = int(np.clip(math.sqrt(_LAND_WORK / len(points)), 60, 420))
    across = (np.linspace(left, right, dots)[:, None] - points[:, 0]) ** 2
    land = np.empty((dots, dots, 4))
    tints = to_rgba_array(colours)
    for row, height in enumerate(np.linspace(bottom, top, dots)):
        away = across + (height - points[:, 1]) ** 2
        nearest = away.argmin(axis=1)
        distance = np.sqrt(away[np.arange(dots), nearest])
        land[row] = tints[nearest]
        land[row, :, 3] = 0.2 * np.clip((reach - distance) / (0.05 * reach), 0, 1)
    axes.imshow(
        land, extent=(left, right, bottom, top), origin="lower", interpolation="bilinear", zorder=1
    )


def _plane(places: Locations) -> FloatArray:
    """Returns points on a plane: degrees, longitudes shortened as at the middle latitude."""
    points = np.array([(place.lon, place.lat) for place in places.places], dtype=np.float64)
    points[:, 0] *= math.cos(math.radians(float(points[:, 1].mean())))
    return points


def _place_sizes(table: ODTable, sums: Sums) -> FloatArray:
    """Returns the area of each place's dot: its published trips, in and out."""
    places = table.universe.locations
    _, origin, destination = table.universe.decode(sums.keys)
    ends = np.bincount(origin, sums.totals, len(places))
    ends += np.bincount(destination, sums.totals, len(places))
    return (10 + 130 * ends / max(float(ends.max()), 1.0)) * _crowding(places)


def _crowding(places: Locations) -> float:
    """Returns how far dots shrink so that many places still find room."""
    return min(1.0, 150 / len(places))


def _curves(starts: FloatArray, ends: FloatArray) -> FloatArray:
    """Returns curves from starts to ends that bend a little to the right of the way."""
    way = ends - starts
    bend = (starts + ends) / 2 + 0.14 * np.stack([way[:, 1], -way[:, 0]], axis=1)
    t = np.linspace(0, 1, _CURVE_POINTS)[None, :, None]
    first, middle, last = starts[:, None, :], bend[:, None, :], ends[:, None, :]
    curves: FloatArray = (1 - t) ** 2 * first + 2 * t * (1 - t) * middle + t**2 * last
    return curves
