"""Figures 3, 4 and 5 of the prefix-tree paper."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hushway.families.sequences.study.reproduce import (
    EPSILON,
    EPSILONS,
    HEIGHT,
    HEIGHTS,
    METHODS,
    QUERY_LENGTHS,
    Reproduction,
)

_COLOURS = {"Hybrid": "#08519c", "Simple": "#8a4b08", "default": "#238b45", "completed": "#88419d"}


def draw_figures(found: Reproduction, path: Path) -> None:
    """Writes error against budget, error against height and seconds against size, as PNG."""
    figure = Figure(figsize=(12, 7), layout="constrained")
    axes = figure.subplots(2, 3)
    for row, data in zip(axes, ("Metro", "Bus"), strict=True):
        _by_epsilon(row[0], found, data)
        _by_height(row[1], found, data)
        _by_records(row[2], found, data)
    handles, names = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    figure.savefig(path, dpi=140)


def _by_epsilon(axis: Axes, found: Reproduction, data: str) -> None:
    figure = f"queries.{QUERY_LENGTHS[0]}"
    for method in METHODS:
        points = [(float(e), found.of(data, method, e, HEIGHT, figure)) for e in EPSILONS]
        _line(axis, [(x, y.mean) for x, y in points if y is not None], method)
    _finish(
        axis, f"{data}: queries of up to {QUERY_LENGTHS[0]}", "ε (one record)", "relative error"
    )


def _by_height(axis: Axes, found: Reproduction, data: str) -> None:
    figure = f"queries.{QUERY_LENGTHS[1]}"
    for method in METHODS:
        points = [(float(h), found.of(data, method, EPSILON, h, figure)) for h in HEIGHTS]
        _line(axis, [(x, y.mean) for x, y in points if y is not None], method)
    _finish(axis, f"{data}: queries of up to {QUERY_LENGTHS[1]}", "height h", "relative error")


def _by_records(axis: Axes, found: Reproduction, data: str) -> None:
    times = found.seconds_by_records[data]
    _line(axis, [(records / 1000, seconds) for records, seconds in times.items()], "default")
    _finish(axis, f"{data}: time of a release", "thousand records", "seconds")


def _line(axis: Axes, points: list[tuple[float, float]], method: str) -> None:
    axis.plot(
        [x for x, _ in points],
        [y for _, y in points],
        color=_COLOURS[method],
        marker="o",
        markersize=3,
        label={"default": "hushway's default", "completed": "default, completed"}.get(
            method, method
        ),
    )


def _finish(axis: Axes, title: str, across: str, up: str) -> None:
    if up == "seconds":
        axis.set_ylim(bottom=0)
    else:
        axis.set_yscale("log")
    axis.set_title(title, loc="left", fontsize=10)
    axis.set_xlabel(across, fontsize=9)
    axis.set_ylabel(up, fontsize=9)
    axis.grid(visible=True, color="#dddddd", linewidth=0.6)
