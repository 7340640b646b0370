"""The panel of a picture that shows how far sums are from what was measured."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from hushway.arrays import FloatArray
from hushway.families.od.files.adds_up import PublishedSums, root_mean_square_residual
from hushway.release.drawing.ground import INK, LINE, SOFT, set_grid, set_title, shortened

MOST_SHOWN = 6

_NOISE, _RESIDUAL = "#3a7c8b", "#D55E00"
_MOST_LETTERS = 15
_MOST_TICKS = 6
_THOUSANDS_FROM = 10_000
# Left of the axes and right of them, in widths of the axes.
_LABELS_AT, _NOISE_AT, _RESIDUAL_AT = -0.42, 1.17, 1.36


def draw_errors(axes: Axes, margins: Sequence[PublishedSums]) -> int:
    """Draws the noise of each feature's sums beside their residuals; returns how many are shown.

    The features with the fewest sums come first: those are what most readers use.
    """
    shown = sorted(margins, key=lambda sums: sums.feature.size)[:MOST_SHOWN]
    noise = np.array([sums.standard_error for sums in shown])
    residual = np.array([root_mean_square_residual(sums) for sums in shown])
    low, high = _powers(np.concatenate([noise, residual]))
    rows = np.arange(len(shown))
    # A logarithm knows no 0: what was hit exactly stands at the left edge.
    at_noise, at_residual = np.maximum(noise, 10.0**low), np.maximum(residual, 10.0**low)
    axes.hlines(rows, at_noise, at_residual, color=LINE, linewidth=4, zorder=1)
    axes.scatter(
        at_noise,
        rows,
        s=64,
        facecolors="white",
        edgecolors=_NOISE,
        linewidths=2,
        clip_on=False,
        zorder=2,
        label="noise of a measurement",
    )
    axes.scatter(
        at_residual,
        rows,
        s=24,
        color=_RESIDUAL,
        clip_on=False,
        zorder=3,
        label="published minus measured",
    )
    _set_scale(axes, low, high, len(shown))
    _write_labels(axes, shown)
    _write_numbers(axes, noise, residual)
    set_title(axes, "Error of the sums, in trips", pad=20, x=_LABELS_AT)
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(_LABELS_AT - 0.03, 1.0),
        ncols=2,
        fontsize=8,
        frameon=False,
        handletextpad=0.1,
        columnspacing=1.4,
        borderaxespad=0.0,
    )
    return len(shown)


def _powers(values: FloatArray) -> tuple[int, int]:
    """Returns the powers of ten that the values lie between."""
    above = values[values > 0]
    if not len(above):
        return 0, 1
    low, high = math.floor(math.log10(above.min())), math.ceil(math.log10(above.max()))
    return low, max(high, low + 1)


def _set_scale(axes: Axes, low: int, high: int, rows: int) -> None:
    axes.set_xscale("log")
    axes.set_xlim(10.0**low, 10.0**high)
    axes.set_ylim(rows - 0.4, -0.6)
    step = math.ceil((high - low + 1) / _MOST_TICKS)
    axes.xaxis.set_major_locator(
        FixedLocator([10.0**power for power in range(low, high + 1, step)])
    )
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(axis="both", length=0)
    set_grid(axes, "x")


def _write_labels(axes: Axes, shown: Sequence[PublishedSums]) -> None:
    axes.set_yticks(range(len(shown)), [""] * len(shown))
    across = axes.get_yaxis_transform()
    for row, sums in enumerate(shown):
        title, size = shortened(sums.feature.title, _MOST_LETTERS), sums.feature.size
        words = f"{size:,} {'sum' if size == 1 else 'sums'}"
        for text, points, edge, colour in (
            (title, 8.5, "bottom", INK),
            (words, 7.0, "top", SOFT),
        ):
            axes.text(
                _LABELS_AT,
                row + 0.02,
                text,
                transform=across,
                fontsize=points,
                color=colour,
                va=edge,
                parse_math=False,
            )


def _write_numbers(axes: Axes, noise: FloatArray, residual: FloatArray) -> None:
    across = axes.get_yaxis_transform()
    for row, pair in enumerate(zip(noise, residual, strict=True)):
        for x, value, colour in zip(
            (_NOISE_AT, _RESIDUAL_AT), pair, (_NOISE, _RESIDUAL), strict=True
        ):
            axes.text(
                x,
                row,
                _short(value),
                transform=across,
                fontsize=8.5,
                color=colour,
                ha="right",
                va="center",
            )


def _short(value: float) -> str:
    """Returns a number in a few letters: 0.52, 21.3, 4,120, 21k."""
    if value >= _THOUSANDS_FROM:
        return f"{value / 1000:,.0f}k"
    return f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"  # noqa: PLR2004 - three digits
