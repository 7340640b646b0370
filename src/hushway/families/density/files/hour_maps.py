"""The maps in the picture of a density: visits by ground at some hours, and the noise of areas."""

import numpy as np
import shapely
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap, ListedColormap, PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.files.area_map import AreaShapes, draw_areas
from hushway.families.density.files.hours_shown import MOST_MAPS, bin_words
from hushway.families.density.mechanism.table import DensityTable

# Left, bottom, width and height, in parts of the figure.
Box = tuple[float, float, float, float]

_SOFT = "#5a6675"
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
            Patch(facecolor=_NOISE(i), edgecolor=_SOFT, linewidth=0.3, label=words)
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
    bar.ax.set_title("per km²", fontsize=7.5, color=_SOFT, pad=9, loc="left")


def _number(value: float, _: int | None) -> str:
    return f"{value:,.0f}" if value >= _WITHOUT_DIGITS else f"{value:g}"
