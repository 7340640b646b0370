"""A picture of a density release, drawn from the published numbers alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PathCollection
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap, ListedColormap, PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.path import Path as Outline
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.files.series_panel import (
    MOST_MAPS,
    areas_shown,
    bin_words,
    bins_shown,
    draw_area,
    draw_total,
)
from hushway.families.density.fit.table import DensityTable
from hushway.geography.areas import Areas, Plane
from hushway.privacy.certificate import Certificate
from hushway.release.drawing.ground import (
    SOFT,
    TALL,
    draw_ground,
    png_of,
    poster,
    set_title,
    write_words,
)
from hushway.release.wording import claim_text

# About a third of a pixel of the largest map: what is left out cannot be seen.
_FINEST = 1 / 2000
_FEW_AREAS = 400


@dataclass(frozen=True, kw_only=True, eq=False)
class AreaShapes:
    """The outlines of areas, ready to be drawn several times.

    Attributes:
        outlines: One for each area, with its holes.
        bounds: West, south, east and north of all, in metres.
        plane: The map that they are drawn on.
    """

    outlines: tuple[Outline, ...]
    bounds: tuple[float, float, float, float]
    plane: Plane

    @property
    def ratio(self) -> float:
        """Width over height."""
        west, south, east, north = self.bounds
        return (east - west) / (north - south)


def shapes_of(areas: Areas) -> AreaShapes:
    """Returns the outlines of areas on their map in metres."""
    west, south, east, north = shapely.total_bounds(areas.projected).tolist()
    simpler = shapely.simplify(areas.projected, max(east - west, north - south) * _FINEST)
    return AreaShapes(
        outlines=tuple(_outline(shape) for shape in simpler),
        bounds=(west, south, east, north),
        plane=areas.plane,
    )


def draw_areas(axes: Axes, shapes: AreaShapes, colours: NDArray[Any]) -> None:
    """Fills every area with its colour and takes away everything else from the axes."""
    few = len(shapes.outlines) <= _FEW_AREAS
    axes.add_collection(
        PathCollection(
            list(shapes.outlines),
            facecolors=colours,
            # Many borders would hide the areas; in their own colour they only close the gaps.
            edgecolors="white" if few else colours,
            linewidths=0.35 if few else 0.2,
        ),
        autolim=False,
    )
    draw_ground(axes, lambda degrees: shapes.plane.to_metres(*degrees.T), above=True)
    west, south, east, north = shapes.bounds
    axes.set_xlim(west, east)
    axes.set_ylim(south, north)
    axes.set_aspect("equal")
    axes.set_anchor("NW")
    axes.set_axis_off()


def _outline(shape: shapely.Polygon | shapely.MultiPolygon) -> Outline:
    rings = [shapely.get_coordinates(ring) for ring in _rings(shape)]
    codes = [
        np.array([Outline.MOVETO, *[Outline.LINETO] * (len(ring) - 2), Outline.CLOSEPOLY])
        for ring in rings
    ]
    return Outline(np.concatenate(rings), np.concatenate(codes))


def _rings(shape: shapely.Polygon | shapely.MultiPolygon) -> Iterator[shapely.LinearRing]:
    # Holes run against their outer ring, so that filling leaves them out.
    for polygon in shapely.get_parts(shapely.orient_polygons(shape)):
        yield polygon.exterior
        yield from polygon.interiors


# Left, bottom, width and height, in parts of the figure.
Box = tuple[float, float, float, float]

_DENSITY = LinearSegmentedColormap.from_list(
    "density", ["#f3f1ea", "#cfe3dc", "#86bdb6", "#3a7c8b", "#1f5272", "#12314a"]
)
_NOISE = ListedColormap(["#f3f1ea", "#f6dfae", "#efbf5c", "#dd8b26", "#b55417", "#6e2a10"])
_NOISE_FROM = (0.05, 0.1, 0.2, 0.5, 1.0)
_NOISE_WORDS = ("below 5%", "5 to 10%", "10 to 20%", "20 to 50%", "50 to 100%", "above 100%")
_SQUARE_KILOMETRE = 1e6
# The densest areas of all would leave the others pale.
_FULL_COLOUR = 0.99
_WITHOUT_DIGITS = 10
# Room for the scale, and between two maps.
_SCALE, _GAP = 0.055, 0.015


def draw_hours(
    figure: Figure, box: Box, shapes: AreaShapes, table: DensityTable, bins: IntArray
) -> None:
    """Draws a map for each of some bins, all with one scale, and the scale to their right."""
    left, bottom, width, height = box
    sizes = table.universe.areas.sizes / _SQUARE_KILOMETRE
    density = table.counts[:, bins] / sizes[:, None]
    norm = PowerNorm(0.5, vmin=0, vmax=_full_colour(density))
    across, up = figure.get_size_inches()
    # Few maps stand side by side instead of far apart.
    filled = height * up * shapes.ratio / across + _GAP
    each = min((width - _SCALE) / len(bins), max(filled, (width - _SCALE) / MOST_MAPS))
    for i, at in enumerate(bins.tolist()):
        axes = figure.add_axes((left + i * each, bottom, each - _GAP, height))
        draw_areas(axes, shapes, _DENSITY(norm(density[:, i])))
        axes.set_title(bin_words(table.universe.periods, at), loc="left", fontsize=9.5, pad=5)
    _draw_scale(figure, (left + len(bins) * each + _GAP, bottom, 0.009, height), norm)


def height_of_maps(figure: Figure, width: float, shapes: AreaShapes, maps: int) -> float:
    """Returns how high maps in a row get if they fill a width, both in parts of the figure."""
    return height_of_map(figure, (width - _SCALE) / maps - _GAP, shapes)


def height_of_map(figure: Figure, width: float, shapes: AreaShapes) -> float:
    """Returns how high a map gets if it fills a width, both in parts of the figure."""
    across, up = figure.get_size_inches()
    return float(width * across / shapes.ratio / up)


def relative_errors(table: DensityTable) -> FloatArray:
    """Returns the typical standard error of each area as a share of its mean count.

    Areas with a mean of 0 have an infinite share.
    """
    typical = np.sqrt(np.mean(table.standard_error**2, axis=1))
    mean = table.counts.mean(axis=1)
    share = np.full(len(mean), np.inf)
    return np.asarray(np.divide(typical, mean, out=share, where=mean > 0))


def draw_noise(axes: Axes, shapes: AreaShapes, table: DensityTable, marked: IntArray) -> None:
    """Draws how far off a count of each area typically is, and numbers some areas."""
    norm = BoundaryNorm(_NOISE_FROM, _NOISE.N, extend="both")
    # A colour for everything beyond the last boundary, however far.
    shares = np.minimum(relative_errors(table), 2 * _NOISE_FROM[-1])
    draw_areas(axes, shapes, _NOISE(norm(shares)))
    inside = shapely.point_on_surface(table.universe.areas.projected[marked])
    for number, point in enumerate(inside, start=1):
        axes.text(
            point.x,
            point.y,
            str(number),
            fontsize=7.5,
            fontweight="bold",
            color="white",
            ha="center",
            va="center",
            bbox={"boxstyle": "circle,pad=0.22", "facecolor": "#12314a", "edgecolor": "white"},
        )


def draw_noise_legend(figure: Figure, at: tuple[float, float]) -> None:
    """Draws what the colours of the noise mean, below a point."""
    figure.legend(
        handles=[
            Patch(facecolor=_NOISE(i), edgecolor=SOFT, linewidth=0.3, label=words)
            for i, words in enumerate(_NOISE_WORDS)
        ],
        loc="upper left",
        bbox_to_anchor=at,
        fontsize=7.5,
        frameon=False,
        ncols=3,
        handlelength=1.2,
        handleheight=0.9,
        columnspacing=1.2,
        borderaxespad=0.0,
        borderpad=0.0,
    )


def _full_colour(density: FloatArray) -> float:
    above = density[density > 0]
    return float(np.quantile(above, _FULL_COLOUR)) if len(above) else 1.0


def _draw_scale(figure: Figure, box: Box, norm: PowerNorm) -> None:
    axes = figure.add_axes(box)
    bar = figure.colorbar(ScalarMappable(norm=norm, cmap=_DENSITY), cax=axes, extend="max")
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=7.5, pad=2)
    bar.ax.yaxis.set_major_locator(MaxNLocator(4))
    bar.ax.yaxis.set_major_formatter(FuncFormatter(_number))
    bar.ax.set_title("per km²", fontsize=7.5, color=SOFT, pad=9, loc="left")


def _number(value: float, _: int | None) -> str:
    return f"{value:,.0f}" if value >= _WITHOUT_DIGITS else f"{value:g}"


# In parts of the figure.
_LEFT, _WIDTH, _BOTTOM = 0.015, 0.97, 0.185
_LOWEST_MAPS, _HIGHEST_MAPS = 0.12, 0.29


def draw_density_picture(table: DensityTable, certificate: Certificate) -> bytes:
    """Returns a PNG: maps of some hours, series of the city and of areas, and the noise."""
    bins = bins_shown(table.universe.periods, table.counts.sum(axis=0))
    areas = areas_shown(table.counts.sum(axis=1))
    shapes = shapes_of(table.universe.areas)
    with poster(TALL) as figure:
        high = height_of_maps(figure, _WIDTH, shapes, len(bins))
        high = min(max(high, _LOWEST_MAPS), _HIGHEST_MAPS)
        figure.text(_LEFT, 0.89, "Visits per square kilometre", fontsize=11)
        draw_hours(figure, (_LEFT, 0.85 - high, _WIDTH, high), shapes, table, bins)
        # Flat cities leave room for the panels below.
        top = 0.85 - high - 0.08
        draw_total(figure.add_axes((0.06, _BOTTOM, 0.25, top - _BOTTOM)), table, bins)
        _draw_series(figure, (0.37, _BOTTOM, 0.25, top - _BOTTOM), table, areas)
        high = min(top - _BOTTOM - 0.01, height_of_map(figure, 0.325, shapes))
        noise = figure.add_axes((0.66, top - high, 0.325, high))
        draw_noise(noise, shapes, table, areas)
        set_title(noise, "Standard error as a share of the mean")
        draw_noise_legend(figure, (0.66, top - high - 0.015))
        write_words(figure, certificate, _caption(table, certificate))
        return png_of(figure)


def _draw_series(figure: Figure, box: Box, table: DensityTable, areas: IntArray) -> None:
    """Draws the series of some areas, one below the other."""
    left, bottom, width, height = box
    top = bottom + height
    figure.text(left, top + 0.0115, "Single areas, ±2 standard errors", fontsize=11)
    each = height / len(areas)
    for i, area in enumerate(areas.tolist()):
        axes = figure.add_axes((left, top - (i + 1) * each, width, each - 0.035))
        draw_area(axes, table, area, number=i + 1, last=i == len(areas) - 1)


def _caption(table: DensityTable, certificate: Certificate) -> str:
    universe = table.universe
    return (
        f"Drawn from the published numbers alone; {claim_text(certificate)}. A visit is one "
        f"{certificate.terms.unit} seen in one period of time. Upper maps: "
        f"{_several(len(universe.areas), 'area')}, all with one scale; their periods are the "
        "orange dots below. Series: "
        f"{_several(universe.bins, 'bin')} on the wall clock of {universe.periods.zone}. Bands "
        "show what each count is expected to be off by. Counts of one area err together, and so do "
        f"those of areas that were measured in one cluster ({len(table.measured_series):,} in "
        "all), so their sum has no band. Last map: root mean square of the standard errors of an "
        "area, divided by its mean count."
    )


def _several(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
