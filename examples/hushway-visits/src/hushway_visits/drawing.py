"""What a page and a picture show of a release: published numbers alone."""

from pathlib import Path

import numpy as np
from hushway import families as hw
from matplotlib.axes import Axes

from hushway_visits.files import read_visits
from hushway_visits.table import VisitsTable

_INK, _SOFT = "#1f5272", "#5a6675"
_INCHES = (13.0, 7.0)
_LARGEST_POINT = 420.0
_MOST_LABELS = 12


def draw_atlas(folder: Path, certificate: hw.Certificate) -> hw.Drawing:
    """Returns what a page shows: stops as points, with their visits in every period."""
    table = read_visits(folder, certificate)
    cells = table.universe
    return hw.Drawing(
        counted="visits",
        window=hw.window_text(cells.periods),
        periods=hw.shown_periods(cells.periods),
        places=hw.located(cells.stops),
        totals=hw.Numbers(
            count=table.counts.ravel(),
            error=np.full(cells.size, table.errors.cell),
            meaning="Published visits of a stop in a period. The error is what the count is "
            "expected to be off by.",
        ),
        notes=("A person counts once at a stop in a period, however often they tap.",),
    )


def draw_picture(table: VisitsTable, certificate: hw.Certificate) -> bytes:
    """Returns a map of the stops beside the visits of every period, as PNG."""
    with hw.poster(_INCHES) as figure:
        _draw_map(figure.add_axes((0.015, 0.15, 0.4, 0.75)), table)
        _draw_periods(figure.add_axes((0.48, 0.2, 0.5, 0.66)), table)
        errors = table.errors
        hw.write_words(
            figure,
            certificate,
            f"{hw.plural(len(table.universe.stops), 'stop')}, as large as their published visits. "
            f"A count of a stop in a period is off by {errors.cell:.3g} as a rule, and all visits "
            f"of a stop by {errors.stop:.3g}.",
        )
        return hw.png_of(figure)


def _draw_map(axes: Axes, table: VisitsTable) -> None:
    points = hw.plane(table.universe.stops)
    totals = table.stop_totals
    sizes = _LARGEST_POINT * totals / max(float(totals.max()), 1.0)
    axes.scatter(points[:, 0], points[:, 1], s=sizes, color=_INK, alpha=0.6, linewidths=0)
    axes.scatter(points[:, 0], points[:, 1], s=4, color=_SOFT)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.1)
    axes.set_axis_off()


def _draw_periods(axes: Axes, table: VisitsTable) -> None:
    visits, labels = table.counts.sum(axis=0), table.universe.periods.short_labels
    places = np.arange(len(visits))
    axes.bar(places, visits, color=_INK, alpha=0.75)
    step = -(-len(labels) // _MOST_LABELS)
    axes.set_xticks(places[::step], labels[::step], fontsize=8)
    axes.set_title("Visits of all stops by period", loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
