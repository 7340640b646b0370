"""A picture of an OD release, drawn from the published numbers alone."""

import io
import math
import textwrap
import warnings
from typing import Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hushway.artefact.city_map import MOST_FLOWS, draw_map
from hushway.artefact.flows import sums_by_period
from hushway.artefact.wording import claim_text
from hushway.privacy.certificate import Certificate
from hushway.releases.od.table import ODTable

_INCHES, _DPI = (12.0, 6.6), 140
_INK, _SOFT, _LINE, _ALARM, _BAR = "#1c2430", "#5a6675", "#d9dee5", "#b3001b", "#3a7c8b"
_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.usetex": False,
    "text.color": _INK,
    "axes.edgecolor": _SOFT,
    "axes.labelcolor": _SOFT,
    "xtick.color": _SOFT,
    "ytick.color": _SOFT,
    "axes.linewidth": 0.8,
}
_95_PERCENT = 1.96
_MOST_LABELS, _MOST_FLAT_LABELS = 15, 6


def draw_picture(table: ODTable, certificate: Certificate) -> bytes:
    """Returns a PNG: the flows that stand out from the noise, and the trips of every period."""
    with warnings.catch_warnings(), mpl.rc_context(cast("Any", _STYLE)):
        # A title in a script that the font lacks must not stop a release.
        warnings.simplefilter("ignore", UserWarning)
        figure = Figure(figsize=_INCHES, dpi=_DPI, facecolor="white")
        FigureCanvasAgg(figure)
        flows = figure.add_axes((0.015, 0.135, 0.52, 0.735))
        periods = figure.add_axes((0.605, 0.215, 0.38, 0.655))
        clear = draw_map(flows, table)
        flows.set_title("Flows that stand out from the noise", loc="left", fontsize=11, pad=6)
        _draw_periods(periods, table)
        _write_words(figure, certificate, _caption(table, certificate, clear))
        file = io.BytesIO()
        figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def _draw_periods(axes: Axes, table: ODTable) -> None:
    sums = sums_by_period(table)
    half = _95_PERCENT * sums.standard_errors
    axes.bar(sums.keys, sums.totals, width=0.82, color=_BAR, linewidth=0)
    axes.errorbar(
        sums.keys,
        sums.totals,
        yerr=np.stack([np.minimum(half, sums.totals), half]),
        fmt="none",
        ecolor=_INK,
        elinewidth=1.1,
        capsize=2.2,
    )
    labels = table.universe.periods.labels
    step = math.ceil(len(labels) / _MOST_LABELS)
    axes.set_xticks(sums.keys[::step], [label.split("-")[0] for label in labels[::step]])
    flat = len(labels) <= _MOST_FLAT_LABELS
    axes.tick_params(axis="x", rotation=0 if flat else 60, length=0)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(-0.7, len(labels) - 0.3)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="y", color=_LINE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel("start of the period", fontsize=8.5)
    axes.set_title("Trips of each period, with 95% noise intervals", loc="left", fontsize=11, pad=6)


def _caption(table: ODTable, certificate: Certificate, clear: int) -> str:
    shown = "all" if clear <= MOST_FLOWS else f"the {MOST_FLOWS} largest"
    lean = (
        "counts are never negative, so sums of many small ones lean upwards"
        if table.threshold is None
        else f"only cells measured at {table.threshold} or more are in the table, so sums leave "
        "out the others and those near the threshold lean upwards"
    )
    return (
        f"Drawn from the published numbers alone; {claim_text(certificate)}. Lines bend to the "
        f"right of their way and are as wide as their trips: {shown} of the {clear:,} flows whose "
        "sum over all periods exceeds two standard errors of its noise; the weakest may be chance. "
        f"Sums take the errors of cells as independent. Intervals show noise alone: {lean}."
    )


def _write_words(figure: Figure, certificate: Certificate, caption: str) -> None:
    claim = claim_text(certificate)
    # The claim stands on the same line and is never cut.
    title = textwrap.shorten(certificate.title, max(30, 96 - len(claim)), placeholder=" …")
    figure.text(0.015, 0.945, title, fontsize=16, fontweight="bold", parse_math=False)
    figure.text(0.985, 0.95, claim, fontsize=11, color=_SOFT, ha="right", parse_math=False)
    figure.text(
        0.015,
        0.1,
        textwrap.fill(caption, 172),
        fontsize=8,
        color=_SOFT,
        va="top",
        linespacing=1.45,
        parse_math=False,
    )
    if certificate.stamp is not None:
        figure.text(
            0.5,
            0.5,
            certificate.stamp,
            fontsize=84,
            fontweight="bold",
            color=_ALARM,
            alpha=0.6,
            rotation=24,
            ha="center",
            va="center",
        )
