"""Figures 4 to 8 of the DP-ANI paper: networks beside each other, and errors by budget."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Canvas

from hushway.families.links.study.methods import DAY, METHODS, METRIC, PRINTED, REMOVAL, SOUND
from hushway.families.links.study.numbers import Reproduction
from hushway.families.links.study.tables import budgets

_COLOURS = {
    "original": "#111111",
    "DP-ANI": "#b2182b",
    "DP-ANI-Fix": "#ef8a62",
    "DP-ANI-Max": "#d8b365",
    REMOVAL: "#9e9e9e",
    SOUND: "#1a7837",
    METRIC: "#7fbf7b",
    DAY: "#08519c",
}


def draw_figures(found: Reproduction, path: Path) -> None:
    """Writes all figures into one PNG, marked as internal."""
    canvas = Canvas(figsize=(20, 17), layout="constrained")
    axes = canvas.subplots(3, 4)
    for axis, name in zip(axes[0], ("original", "DP-ANI", REMOVAL, SOUND), strict=True):
        _network(axis, found, name, f"Figure 5: {name}")
    _network(axes[1][0], found, METRIC, METRIC)
    _network(axes[1][1], found, DAY, DAY)
    _lines(axes[1][2], found, "length_ratio", "Figure 4: length of the network")
    _lines(axes[1][3], found, "moved", "Figure 6: end links that moved")
    _lines(axes[2][0], found, "counts_distance", "Figure 7: Wasserstein, link counts")
    _lines(axes[2][1], found, "class_distance", "Figure 8: Wasserstein, classes")
    _lines(axes[2][2], found, "top_share", "Busiest 5% of links found")
    _homes(axes[2][3], found)
    canvas.suptitle("INTERNAL: drawn from exact data of a synthetic city", color="#b2182b")
    canvas.savefig(path, dpi=80)


def _network(axis: Axes, found: Reproduction, name: str, title: str) -> None:
    segments = np.array(found.drawn.segments).reshape(-1, 2, 2)
    counts = np.array(found.drawn.counts[name])
    shown = counts > 0
    axis.add_collection(LineCollection(list(segments), colors="#e4e4e4", linewidths=0.4))
    widths = 0.4 + np.log1p(counts[shown]) / 2
    axis.add_collection(
        LineCollection(list(segments[shown]), colors=_COLOURS[name], linewidths=widths.tolist())
    )
    axis.autoscale_view()
    axis.set_aspect("equal")
    axis.set_axis_off()
    axis.set_title(f"{title}" + ("" if name == "original" else " (ε = 1)"), loc="left", fontsize=10)


def _lines(axis: Axes, found: Reproduction, figure: str, title: str) -> None:
    tried = budgets(found)
    for name in PRINTED if figure == "moved" else METHODS:
        points = [found.of(name, epsilon, figure) for epsilon in tried]
        axis.errorbar(
            [float(epsilon) for epsilon in tried],
            [point.mean for point in points],
            yerr=np.nan_to_num([point.half_width for point in points]),
            color=_COLOURS[name],
            marker="o",
            markersize=3,
            label=name,
        )
    _finish(axis, title, "ε")


def _homes(axis: Axes, found: Reproduction) -> None:
    styles = dict(zip(found.attacks.homes, ("-", "--", ":"), strict=False))
    for epsilon, by_trips in found.attacks.homes.items():
        axis.plot(
            [int(trips) for trips in by_trips],
            list(by_trips.values()),
            color=_COLOURS["DP-ANI"],
            linestyle=styles.get(epsilon, "-"),
            label=f"DP-ANI, ε = {epsilon}",
        )
    axis.axhline(found.attacks.sound_home, color=_COLOURS[SOUND], label="sound, ε = 1")
    axis.axhline(found.attacks.guessed_home, color="#999999", linestyle=":", label="a guess")
    axis.set_yscale("log")
    _finish(axis, "Metres from a home", "trips of its owner")


def _finish(axis: Axes, title: str, across: str) -> None:
    axis.set_xscale("log")
    axis.set_title(title, loc="left", fontsize=10)
    axis.set_xlabel(across, fontsize=9)
    axis.grid(visible=True, color="#dddddd", linewidth=0.6)
    axis.legend(fontsize=7, frameon=False)
