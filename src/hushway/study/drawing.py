"""The look that the figures of all studies share."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hushway.study.results import Interval


def draw_means(
    axis: Axes, across: Sequence[float], points: Sequence[Interval], **look: Any
) -> None:
    """Draws means with their intervals as a line with error bars."""
    style: dict[str, Any] = {"marker": "o", "markersize": 3} | look
    axis.errorbar(
        across,
        [point.mean for point in points],
        yerr=np.nan_to_num([point.half_width for point in points]),
        **style,
    )


def budget_axis(axis: Axes, epsilons: Sequence[str]) -> None:
    """Names the budgets on a logarithmic axis."""
    axis.set_xscale("log")
    axis.set_xticks([float(epsilon) for epsilon in epsilons], list(epsilons))
    axis.minorticks_off()
    axis.set_xlabel("privacy budget ε (one trip)")
    axis.grid(visible=True, color="#dddddd", linewidth=0.6)


def finish(axis: Axes, title: str, across: str, up: str = "", *, legend: bool = True) -> None:
    """Gives a panel its title, the names of its axes, a grid and a legend."""
    axis.set_title(title, loc="left", fontsize=10)
    axis.set_xlabel(across, fontsize=9)
    if up:
        axis.set_ylabel(up, fontsize=9)
    axis.grid(visible=True, color="#dddddd", linewidth=0.6)
    if legend:
        axis.legend(fontsize=7, frameon=False)


def finish_map(axis: Axes, title: str) -> None:
    """Shows all of a map, undistorted and without axes."""
    axis.autoscale_view()
    axis.set_aspect("equal")
    axis.set_axis_off()
    axis.set_title(title, loc="left", fontsize=10)


def shared_legend(figure: Figure, axis: Axes, where: Any, **look: Any) -> None:
    """Puts the legend of one panel beside all of them."""
    handles, names = axis.get_legend_handles_labels()
    figure.legend(handles, names, loc=where, frameon=False, **look)


def mark_internal(figure: Figure, **look: Any) -> None:
    """Says on a figure that it shows exact data."""
    figure.suptitle("INTERNAL: drawn from exact data of a synthetic city", color="#b2182b", **look)
