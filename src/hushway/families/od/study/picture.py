"""Figure 5(a, b) of the CBDP paper, with the paper's own numbers where it prints them."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hushway.families.od.study.published import TABLE_2
from hushway.families.od.study.reproduce import DAYS, Reproduction

_LINES = {
    "Laplace": ("#4d4d4d", "-"),
    "H3": ("#c6a15b", ":"),
    "H4": ("#b07a2a", "--"),
    "H5": ("#8a4b08", "-"),
    "O3": ("#7fb8d8", ":"),
    "O4": ("#3d8ebf", "--"),
    "O5": ("#08519c", "-"),
    "default": ("#238b45", "-"),
}


def draw_figure_5(found: Reproduction, path: Path) -> None:
    """Writes the error of every mechanism against the budget, both days side by side, as PNG."""
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for axis, day in zip(axes, DAYS, strict=True):
        _panel(axis, found, day)
    axes[0].set_ylabel("RMSE over all cells, trips")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right center", frameon=False)
    figure.savefig(path, dpi=150)


def _panel(axis: Axes, found: Reproduction, day: str) -> None:
    epsilons = sorted({f.epsilon for f in found.figures}, key=float)
    budgets = [float(epsilon) for epsilon in epsilons]
    for name, (colour, style) in _LINES.items():
        points = [found.of(day, epsilon, name, "cells_rmse") for epsilon in epsilons]
        axis.errorbar(
            budgets,
            [point.mean for point in points],
            yerr=[point.half_width for point in points],
            color=colour,
            linestyle=style,
            marker="o",
            markersize=3,
            label="hushway's default" if name == "default" else name,
        )
        printed = TABLE_2[day].get(name)
        if printed:
            axis.plot(
                [float(epsilon) for epsilon in printed],
                list(printed.values()),
                "x",
                color=colour,
                label=f"{name}, as printed",
            )
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xticks(budgets, epsilons)
    axis.minorticks_off()
    axis.set_xlabel("privacy budget ε (one trip)")
    axis.set_title(day, loc="left")
    axis.grid(visible=True, color="#dddddd", linewidth=0.6)
