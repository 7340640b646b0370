"""The panel of a picture that shows the trips of every period."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from hushway.arrays import FloatArray
from hushway.families.od.files.flows import sums_by_period
from hushway.families.od.files.sums import PublishedSums
from hushway.families.od.mechanism.table import ODTable
from hushway.families.od.public.cells import ODCells

_INK, _LINE, _BAR = "#1c2430", "#d9dee5", "#3a7c8b"
_95_PERCENT = 1.96
_TWO_ERRORS = 2.0
_MOST_LABELS, _MOST_FLAT_LABELS = 15, 6


def draw_periods(axes: Axes, table: ODTable, margins: Sequence[PublishedSums]) -> None:
    """Draws the trips of every period, with the noise that they carry if it is known.

    The cells of a fitted table do not err independently, so only a measurement of the periods
    themselves tells their noise.
    """
    sums = sums_by_period(table)
    if not margins:
        half = _95_PERCENT * sums.standard_errors
        title = "Trips of each period, with 95% noise intervals"
    elif (measured := measured_periods(margins)) is not None:
        half = np.full(len(sums.keys), _TWO_ERRORS * measured.standard_error)
        title = "Trips of each period, ±2 standard errors"
    else:
        half = np.zeros(len(sums.keys))
        title = "Trips of each period"
    axes.bar(sums.keys, sums.totals, width=0.82, color=_BAR, linewidth=0)
    if np.any(half):
        _draw_intervals(axes, sums.totals, half)
    _set_ticks(axes, table.universe)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="y", color=_LINE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    if table.universe.periods.cycle == "day":
        # Labels such as "Mon 08:00" need the room, and no explanation.
        axes.set_xlabel("start of the period", fontsize=8.5)
    axes.set_title(title, loc="left", fontsize=11, pad=6)


def measured_periods(margins: Sequence[PublishedSums]) -> PublishedSums | None:
    """Returns the sums over single periods, if they were measured."""
    for sums in margins:
        feature = sums.feature
        if feature.pair_classes == 1 and feature.size == len(feature.universe.periods):
            return sums
    return None


def _draw_intervals(axes: Axes, totals: FloatArray, half: FloatArray) -> None:
    axes.errorbar(
        np.arange(len(totals)),
        totals,
        yerr=np.stack([np.minimum(half, totals), half]),
        fmt="none",
        ecolor=_INK,
        elinewidth=1.1,
        capsize=2.2,
    )


def _set_ticks(axes: Axes, universe: ODCells) -> None:
    labels = universe.periods.labels
    step = math.ceil(len(labels) / _MOST_LABELS)
    positions = range(0, len(labels), step)
    axes.set_xticks(positions, [label.split("-")[0] for label in labels[::step]])
    flat = len(labels) <= _MOST_FLAT_LABELS
    axes.tick_params(axis="x", rotation=0 if flat else 60, length=0)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(-0.7, len(labels) - 0.3)
