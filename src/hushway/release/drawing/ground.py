"""What pictures are drawn on: the frame of every one, and the ground of maps with their flows.

Used by the pictures of all families.
"""

import io
import math
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hushway.arrays import FloatArray, IntArray
from hushway.geography.locations import Locations
from hushway.privacy.certificate import Certificate
from hushway.release.wording import Sums, claim_text, counted_sentence

if TYPE_CHECKING:
    from hushway.geography.ground import Ground

MOST_FLOWS = 300
CLEAR_OF_NOISE = 2.0
# Okabe and Ito's colours, told apart by colour-blind readers too.
COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#D55E00", "#0072B2", "#F0E442")

_FLOW = "#12314a"
_CURVE_POINTS = 24
_LAND_WORK = 25e6


# Like the style of a figure, it belongs to all maps of a picture, whoever draws them.
_ground: ContextVar["Ground | None"] = ContextVar("ground", default=None)
_GROUND_WORDS = " The ground under maps comes from public files."
_GROUND_COLOURS = {"water": "#dbe9f2", "river": "#c3dbea", "road": "#dcdad3", "transit": "#c3c6cf"}


@contextmanager
def standing_on(ground: "Ground") -> Iterator[None]:
    """Draws ground under all maps of a picture."""
    before = _ground.set(ground)
    try:
        yield
    finally:
        _ground.reset(before)


def draw_ground(
    axes: Axes, to_plane: Callable[[FloatArray], FloatArray], *, above: bool = False
) -> None:
    """Draws the ground of the picture lightly, if it has any; the view stays as it is.

    Args:
        axes: Where to draw.
        to_plane: From longitudes and latitudes, one row each, to the coordinates of the axes.
        above: Whether lines lie above areas that are filled, which would hide them; no water then.
    """
    ground = _ground.get()
    for kind, shape in () if ground is None else ground.shapes.items():
        colour, water = _GROUND_COLOURS.get(kind, LINE), kind == "water"
        if above and water:
            continue
        parts = [part.exterior if water else part for part in shape.geoms]
        axes.add_collection(
            (PolyCollection if water else LineCollection)(
                [to_plane(np.asarray(part.coords)) for part in parts],
                linewidths=0 if water else 0.35 if above else 0.7,
                facecolors=colour if water else "none",
                edgecolors=SOFT if above else colour,
                alpha=0.5 if above else 1,
                zorder=1.5 if above else 0.5,
            ),
            autolim=False,
        )


def plane(places: Locations) -> FloatArray:
    """Returns points on a plane: degrees, longitudes shortened as at the middle latitude."""
    points = np.array([(place.lon, place.lat) for place in places.places], dtype=np.float64)
    points[:, 0] *= math.cos(math.radians(float(points[:, 1].mean())))
    return points


def draw_flows(axes: Axes, starts: FloatArray, ends: FloatArray, totals: FloatArray) -> None:
    """Draws curves from starts to ends, as wide as their totals."""
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


def draw_strongest(
    axes: Axes, points: FloatArray, sums: Sums, origin: IntArray, destination: IntArray
) -> int:
    """Draws the strongest flows between two places; returns how many are clear of the noise."""
    exceeds = sums.totals > CLEAR_OF_NOISE * sums.standard_errors
    clear = np.flatnonzero(exceeds & (origin != destination))
    strongest = clear[np.argsort(sums.totals[clear], kind="stable")[-MOST_FLOWS:]]
    if len(strongest):
        starts, ends = points[origin[strongest]], points[destination[strongest]]
        draw_flows(axes, starts, ends, sums.totals[strongest])
    return len(clear)


def draw_places(axes: Axes, points: FloatArray, groups: Sequence[str], visits: FloatArray) -> None:
    """Draws every place as a dot on ground of its group's colour.

    Args:
        axes: Where to draw.
        points: The places on a plane.
        groups: The group of each.
        visits: What the area of its dot shows.
    """
    names = sorted(set(groups))
    colour = dict(zip(names, colours_of(len(names)), strict=True))
    colours = [colour[group] for group in groups]
    shorter = math.cos(math.radians(float(points[:, 1].mean())))
    draw_ground(axes, lambda degrees: degrees * (shorter, 1.0))
    _draw_land(axes, points, colours)
    crowding = min(1.0, 150 / len(points))
    sizes = (10 + 130 * visits / max(float(visits.max()), 1.0)) * crowding
    axes.scatter(
        points[:, 0],
        points[:, 1],
        s=sizes,
        c=colours,
        edgecolors="white",
        lw=0.7 * math.sqrt(crowding),
        zorder=3,
    )
    if 1 < len(names) <= len(COLOURS):
        _draw_legend(axes, names)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.0)
    axes.set_axis_off()


def colours_of(groups: int) -> list[str]:
    """Returns a colour for each of so many groups; with many groups colours come back."""
    return [COLOURS[i % len(COLOURS)] for i in range(groups)]


def _draw_legend(axes: Axes, names: Sequence[str]) -> None:
    marks = [
        Line2D([], [], marker="o", ls="", ms=6, mec="white", mfc=COLOURS[i], label=name)
        for i, name in enumerate(names)
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


def _curves(starts: FloatArray, ends: FloatArray) -> FloatArray:
    """Returns curves from starts to ends that bend a little to the right of the way."""
    way = ends - starts
    bend = (starts + ends) / 2 + 0.14 * np.stack([way[:, 1], -way[:, 0]], axis=1)
    t = np.linspace(0, 1, _CURVE_POINTS)[None, :, None]
    first, middle, last = starts[:, None, :], bend[:, None, :], ends[:, None, :]
    curves: FloatArray = (1 - t) ** 2 * first + 2 * t * (1 - t) * middle + t**2 * last
    return curves


WIDE, TALL = (12.0, 6.6), (12.0, 7.4)

INK, SOFT, LINE = "#1c2430", "#5a6675", "#d9dee5"

_DPI = 140
# Twice as fast as the usual 6, for a file that is a tenth larger.
_COMPRESSION = 3
_ALARM = "#b3001b"
_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.usetex": False,
    # Letters are large enough to need no fitting to pixels, which takes longer than to draw them.
    "text.hinting": "none",
    # Titles stand where they are put: otherwise all labels are measured once more for them.
    "axes.titley": 1.0,
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": SOFT,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "axes.linewidth": 0.8,
}


@contextmanager
def poster(inches: tuple[float, float]) -> Iterator[Figure]:
    """Gives an empty figure in the style of all pictures."""
    with warnings.catch_warnings(), mpl.rc_context(cast("Any", _STYLE)):
        # A title in a script that the font lacks must not stop a release.
        warnings.simplefilter("ignore", UserWarning)
        figure = Figure(figsize=inches, dpi=_DPI, facecolor="white")
        FigureCanvasAgg(figure)
        yield figure


def png_of(figure: Figure) -> bytes:
    """Returns a figure as PNG: the same bytes for the same figure."""
    file = io.BytesIO()
    figure.savefig(
        file,
        format="png",
        metadata={"Software": None},
        pil_kwargs={"compress_level": _COMPRESSION},
    )
    return file.getvalue()


def set_title(axes: Axes, title: str, *, pad: float = 6, x: float = 0.0) -> None:
    """Writes the title of a panel at its left."""
    axes.set_title(title, loc="left", fontsize=11, pad=pad, x=x)


def set_grid(axes: Axes, along: Literal["x", "y"], *, spine: str = "bottom") -> None:
    """Draws thin lines behind the numbers, and of the frame one side only."""
    axes.grid(axis=along, color=LINE, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(side == spine)


def shortened(name: str, letters: int) -> str:
    """Returns a name that takes no more room than so many letters."""
    return name if len(name) <= letters else name[: letters - 1] + "…"


def write_words(figure: Figure, certificate: Certificate, caption: str) -> None:
    """Writes title, claim, what is counted and caption, and stamps what must be read first."""
    claim = claim_text(certificate)
    # The claim stands on the same line and is never cut.
    title = textwrap.shorten(certificate.title, max(30, 96 - len(claim)), placeholder=" …")
    figure.text(0.015, 0.945, title, fontsize=16, fontweight="bold", parse_math=False)
    figure.text(0.985, 0.95, claim, fontsize=11, color=SOFT, ha="right", parse_math=False)
    counted = textwrap.shorten(counted_sentence(certificate), 170, placeholder=" …")
    figure.text(0.015, 0.922, counted, fontsize=8.5, color=SOFT, parse_math=False)
    figure.text(
        0.015,
        0.1,
        textwrap.fill(caption + ("" if _ground.get() is None else _GROUND_WORDS), 172),
        fontsize=8,
        color=SOFT,
        va="top",
        linespacing=1.45,
        parse_math=False,
    )
    if certificate.banner is not None:
        figure.text(
            0.5,
            0.5,
            certificate.banner,
            fontsize=84,
            fontweight="bold",
            color=_ALARM,
            alpha=0.6,
            rotation=24,
            ha="center",
            va="center",
        )
