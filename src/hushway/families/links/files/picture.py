"""A picture of a release of links, drawn from the published numbers alone."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.files.geo import shown_links
from hushway.families.links.files.map import draw_network, draw_scale
from hushway.families.links.files.rows import class_zones
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.public.roads import CLASSES
from hushway.privacy.certificate import Certificate
from hushway.release.drawing.ground import (
    INK,
    SOFT,
    TALL,
    png_of,
    poster,
    set_grid,
    set_title,
    shortened,
    write_words,
)
from hushway.release.wording import claim_text

# In parts of the figure.
_MAP = (0.015, 0.135, 0.6, 0.785)
_PANELS_LEFT, _PANELS_WIDTH, _PANEL_HEIGHT = 0.735, 0.25, 0.185
_PANEL_BOTTOMS = (0.705, 0.425, 0.16)


def draw_links_picture(table: LinkTable, certificate: Certificate) -> bytes:
    """Returns a PNG: the roads with the people on them, sums by class, noise, hours or streets."""
    several = len(table.universe.periods) > 1
    with poster(TALL) as figure:
        network = figure.add_axes(_MAP)
        scale = draw_network(network, table.universe.roads, totals_by_link(table))
        words = "travellers on a link, all periods" if several else "travellers on a link"
        draw_scale(network, scale, title=words)
        first, second, third = (
            figure.add_axes((_PANELS_LEFT, bottom, _PANELS_WIDTH, _PANEL_HEIGHT))
            for bottom in _PANEL_BOTTOMS
        )
        draw_classes(first, table)
        draw_noise(second, table)
        if several:
            draw_hours(third, table)
        else:
            draw_streets(third, table)
        write_words(figure, certificate, _caption(table, certificate))
        return png_of(figure)


def _caption(table: LinkTable, certificate: Certificate) -> str:
    universe = table.universe
    shown = len(np.unique(table.link))
    return (
        f"Drawn from the published numbers alone; {claim_text(certificate)}. {shown:,} of "
        f"{universe.roads.links:,} links show; {_hidden_words(table)} and is not known to be "
        "empty. The two directions of a street lie side by side, each to the right of the middle. "
        "Bars by class: sums of published counts, and in a light colour what was fitted to links "
        "that do not show. They do not err independently, so that no error is shown for sums."
    )


def _hidden_words(table: LinkTable) -> str:
    if not len(table.link):
        return "nothing stands out from the noise; a link in grey may have been used"
    return (
        f"a link in grey was estimated below {table.threshold:g} of its standard errors, or may be "
        "noise alone,"
    )


_BAR, _LIGHT = "#8c2f6b", "#dcbcd0"
_NOISE_COLOURS = ("#3a7c8b", "#7fb3ad", "#efcf7f", "#dd8b26", "#b55417")
_CLASS_NAMES = ("1 motorways", "2", "3", "4", "5 residential")
_TWO_ERRORS = 2.0
_SHARES = np.array([0.1, 0.2, 0.5, 1.0])
_SHARE_WORDS = ("below 10%", "10 to 20%", "20 to 50%", "50 to 100%", "above 100%")
_MOST_STREETS = 6
_MOST_LETTERS = 26
_MILLIONS = 1_000_000
_MOST_LABELS, _MOST_FLAT_LABELS = 12, 6


def draw_classes(axes: Axes, table: LinkTable) -> None:
    """Draws the published counts summed by class, and what was fitted to the other links."""
    classes = table.universe.roads.road_class
    sums = np.bincount(classes[table.link], table.counts, len(CLASSES) + 1)[1:]
    rest = rest_by_class(table)
    at = np.arange(len(CLASSES))
    axes.barh(at, sums, height=0.62, color=_BAR, linewidth=0)
    axes.barh(at, rest, left=sums, height=0.62, color=_LIGHT, linewidth=0)
    most = float((sums + rest).max())
    axes.set_yticks(at, _CLASS_NAMES)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.05 * most if most > 0 else 1.0)
    set_title(axes, "Travellers on links, by class")
    _tidy(axes)


def draw_noise(axes: Axes, table: LinkTable) -> None:
    """Draws how many published counts are off by how much of themselves."""
    shares = table.standard_error / table.counts
    rows = np.bincount(np.searchsorted(_SHARES, shares, side="right"), minlength=5)
    percent = 100 * rows / max(len(shares), 1)
    at = np.arange(len(rows))
    axes.barh(at, percent, height=0.62, color=_NOISE_COLOURS, linewidth=0)
    for row, value in enumerate(percent.tolist()):
        axes.text(value + 1.5, row, f"{value:.0f}%", fontsize=8, color=SOFT, va="center")
    axes.set_yticks(at, _SHARE_WORDS)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.16 * max(float(percent.max()), 1.0))
    set_title(axes, "Standard error as a share of the count")
    _tidy(axes)
    axes.set_xticks([])


def draw_hours(axes: Axes, table: LinkTable) -> None:
    """Draws the published counts of all links by period."""
    periods = table.universe.periods
    sums = np.bincount(table.period, table.counts, len(periods))
    axes.bar(np.arange(len(periods)), sums, width=0.82, color=_BAR, linewidth=0)
    step = math.ceil(len(periods) / _MOST_LABELS)
    labels = [label.rsplit("-", 1)[0] for label in periods.labels[::step]]
    axes.set_xticks(range(0, len(periods), step), labels)
    axes.set_ylim(0, 1.05 * float(sums.max()) if sums.any() else 1.0)
    axes.set_xlim(-0.7, len(periods) - 0.3)
    set_title(axes, "Travellers on links, by period")
    axes.yaxis.set_major_formatter(FuncFormatter(_number))
    axes.tick_params(length=0, labelsize=8)
    axes.tick_params(axis="x", rotation=0 if len(labels) <= _MOST_FLAT_LABELS else 60)
    set_grid(axes, "y")


def draw_streets(axes: Axes, table: LinkTable) -> None:
    """Draws the busiest link of each of the busiest streets, in a release of one period."""
    rows = busiest_rows(table)
    counts, errors = table.counts[rows], _TWO_ERRORS * table.standard_error[rows]
    at = np.arange(len(rows))
    axes.barh(
        at,
        counts,
        xerr=np.stack([np.minimum(errors, counts), errors]),
        height=0.62,
        color=_BAR,
        linewidth=0,
        error_kw={"ecolor": INK, "elinewidth": 1.1, "capsize": 2.2},
    )
    axes.set_yticks(at, [street_name(table, link) for link in table.link[rows].tolist()])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.set_ylim(_MOST_STREETS - 0.5, -0.5)
    axes.set_xlim(0, 1.05 * float((counts + errors).max()) if len(rows) else 1.0)
    set_title(axes, "Busiest streets, ±2 standard errors")
    _tidy(axes)


def busiest_rows(table: LinkTable) -> IntArray:
    """Returns the row of the busiest link of each of the busiest streets.

    Links of one name are one street; so are the two directions of one without a name.
    """
    roads = table.universe.roads
    rows: dict[str, int] = {}
    for row in np.argsort(-table.counts, kind="stable").tolist():
        link = int(table.link[row])
        rows.setdefault(str(roads.name[link]) or f"\0{roads.street[link]}", row)
        if len(rows) == _MOST_STREETS:
            break
    return np.array(list(rows.values()), dtype=np.int64)


def street_name(table: LinkTable, link: int) -> str:
    """Returns what a link is called on the picture: its street, or else its id."""
    roads = table.universe.roads
    name = str(roads.name[link]) or f"link {roads.link_id[link]}"
    return shortened(name, _MOST_LETTERS)


def totals_by_link(table: LinkTable) -> FloatArray:
    """Returns the published count of every link over all periods; 0 if it does not show."""
    shown = shown_links(table)
    totals = np.zeros(table.universe.roads.links)
    totals[shown.links] = shown.totals
    return totals


def rest_by_class(table: LinkTable) -> FloatArray:
    """Returns what was fitted to the links that do not show, over all zones and periods."""
    classes = [road_class for _, road_class in class_zones(table.universe)]
    by_group = table.rest.counts.reshape(-1, len(classes)).sum(axis=0)
    return np.asarray(np.bincount(classes, by_group, len(CLASSES) + 1)[1:])


def _tidy(axes: Axes) -> None:
    axes.xaxis.set_major_formatter(FuncFormatter(_number))
    axes.locator_params(axis="x", nbins=5)
    axes.tick_params(length=0, labelsize=8)
    set_grid(axes, "x", spine="left")


def _number(value: float, _: int | None) -> str:
    """Returns a number for an axis, short enough to stand beside others."""
    if value >= _MILLIONS:
        return f"{value / _MILLIONS:g}M"
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"
