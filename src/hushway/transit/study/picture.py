"""Figure 5(c, d) of the CBDP paper: shuttles and waits by budget."""

from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hushway.transit.study.numbers import ODMTSReproduction
from hushway.transit.study.reproduce import DAY_OF_ALL_BUDGETS

_LINES: Final = {
    "O5": ("#08519c", "-"),
    "O4": ("#3d8ebf", "--"),
    "O3": ("#7fb8d8", ":"),
    "default": ("#238b45", "-"),
    "H5": ("#8a4b08", "-"),
    "H4": ("#b07a2a", "--"),
    "H3": ("#c6a15b", ":"),
    "Laplace": ("#4d4d4d", "-"),
}
_TRUTH = "#cb181d"
# Mechanisms of one budget stand side by side, by this factor of it.
_APART = 1.05


def draw_figure_5cd(found: ODMTSReproduction, path: Path) -> None:
    """Writes shuttles and waits of every mechanism against the budget as PNG."""
    figure = Figure(figsize=(12, 5), layout="constrained")
    cost, wait = figure.subplots(1, 2)
    _panel(cost, found, "shuttles")
    cost.set_yscale("log")
    ticks = [tick for tick in (50, 100, 200, 400, 800) if _within(tick, cost)]
    cost.set_yticks(ticks, [str(tick) for tick in ticks])
    cost.minorticks_off()
    cost.set_title(f"Figure 5(c): number of shuttles, {DAY_OF_ALL_BUDGETS}", loc="left")
    _panel(wait, found, "leg_wait_s")
    wait.set_ylim(bottom=0)
    wait.set_title("Figure 5(d): mean wait of a leg, seconds", loc="left")
    handles, names = cost.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right center", frameon=False)
    figure.suptitle(
        "INTERNAL: drawn from exact data of a synthetic city", color="#b2182b", fontsize=9
    )
    figure.savefig(path, dpi=150)


def _within(tick: float, axis: Axes) -> bool:
    low, high = axis.get_ylim()
    return low <= tick <= high


def _panel(axis: Axes, found: ODMTSReproduction, figure: str) -> None:
    day = DAY_OF_ALL_BUDGETS
    epsilons = found.epsilons(day)
    for place, (name, (colour, style)) in enumerate(_LINES.items()):
        tried = [epsilon for epsilon in epsilons if name in found.mechanisms(day, epsilon)]
        if not tried:
            continue
        points = [found.of(day, epsilon, name, figure) for epsilon in tried]
        shift = _APART ** (place - len(_LINES) / 2)
        axis.errorbar(
            [float(epsilon) * shift for epsilon in tried],
            [point.mean for point in points],
            yerr=np.nan_to_num([point.half_width for point in points]),
            color=colour,
            linestyle=style,
            marker="o",
            markersize=4,
            capsize=2,
            label="hushway's default" if name == "default" else name,
        )
    axis.axhline(
        found.true(day, figure).mean, color=_TRUTH, linewidth=1.2, label="exact trips", zorder=1
    )
    axis.set_xscale("log")
    axis.set_xticks([float(epsilon) for epsilon in epsilons], list(epsilons))
    axis.minorticks_off()
    axis.set_xlabel("privacy budget ε (one trip)")
    axis.grid(visible=True, color="#dddddd", linewidth=0.6)
