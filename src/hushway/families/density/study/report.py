"""Reports the reproduction of the paper on densities: numbers, tables and figures."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure as Canvas

from hushway.families.density.city.ground import areas_of
from hushway.families.density.study.errors import Box
from hushway.families.density.study.methods import (
    DEFAULT,
    EPSILON,
    HISTOGRAMS,
    MAX_VISITS,
    METHODS,
    Reproduction,
)
from hushway.families.density.study.methods import EPSILONS as HISTOGRAM_EPSILONS
from hushway.families.density.study.reproduce import BOXED, EPSILONS, VISITS
from hushway.families.density.study.tables import further_tables, headline_tables, statements
from hushway.privacy.measured import Internal
from hushway.study.drawing import finish, finish_map
from hushway.study.results import Report


def report(found: Internal[Reproduction]) -> Internal[Report]:
    """Returns what the reproduction found."""
    value = found.value
    return Internal(
        Report(
            facts=asdict(value) | {"figures": value.figures.facts(deviations=True)},
            headlines=headline_tables(value),
            further=further_tables(value),
            statements=statements(value),
            pictures={"figures-3-11.png": partial(draw_figures, value)},
        )
    )


_COLOURS = {
    "truth": "#111111",
    "bounded": "#999999",
    "LPA": "#9e9e9e",
    "EFPA-": "#d8b365",
    "EFPA": "#b07a2a",
    "EFPAG-": "#7fb8d8",
    "EFPAG": "#08519c",
    "EFPA, honest": "#e0a0a0",
    "EFPAG, honest": "#b03060",
    "sound, cuts": "#a6d96a",
    "sound, SURE": "#66bd63",
    "sound, no clusters": "#88419d",
    DEFAULT: "#1a7837",
    "every visit (naive)": "#9e9e9e",
    "one visit (paper)": "#08519c",
    "all visits in parts (sound)": "#1a7837",
}
_STYLES = {10: ":", 30: "-", 168: "--"}
_HOURS_OF_DAYS = range(0, 169, 24)


def draw_figures(found: Reproduction, path: Path) -> None:
    """Writes all figures into one PNG."""
    canvas = Canvas(figsize=(17, 22), layout="constrained")
    axes = canvas.subplots(5, 3)
    details = found.details
    _series(axes[0][0], found, ("truth", "LPA", "EFPAG-"), "Figure 3: one area, LPA and EFPAG-")
    _series(axes[0][1], found, ("truth", "bounded", "EFPAG-"), "Figure 4: before improvements")
    _series(axes[0][2], found, ("truth", "EFPAG", DEFAULT), "Figure 5: after improvements")
    _histograms(axes[1][0], found, "divergence", "Figure 6a: divergence of the histogram")
    _histograms(axes[1][1], found, "mre", "Figure 6b: MRE of sites' totals")
    _by_visits(axes[1][2], found, "mre", "Figure 7: MRE by most visits l")
    _by_method(axes[2][0], found, "mre", "Figure 8: MRE")
    _by_method(axes[2][1], found, "pearson", "Figure 8: correlation")
    _hours(
        axes[2][2],
        {name: details.error_by_hour[name] for name in ("EFPAG-", "EFPAG", DEFAULT)},
        "Figure 9a: relative error by hour",
    )
    _hours(axes[3][0], details.metres_by_hour, "Figure 9b: earth mover's distance, metres")
    _boxes(axes[3][1], found, "mre", "Figure 10: MRE of areas")
    _boxes(axes[3][2], found, "pearson", "Figure 10: correlation of areas")
    _map(canvas, axes[4][0], found, details.mre_by_area["EFPAG"], "Figure 11: MRE, EFPAG")
    _map(canvas, axes[4][1], found, details.mre_by_area[DEFAULT], "Figure 11: MRE, default")
    _map(
        canvas,
        axes[4][2],
        found,
        details.pearson_by_area[DEFAULT],
        "Figure 11: correlation, default",
    )
    canvas.savefig(path, dpi=90)


def _series(axis: Axes, found: Reproduction, names: tuple[str, ...], title: str) -> None:
    _hours(axis, {name: found.details.series[name] for name in names}, title)


def _hours(axis: Axes, lines: dict[str, list[float]], title: str) -> None:
    for name, values in lines.items():
        axis.plot(values, color=_COLOURS[name], linewidth=1, label=name)
    axis.set_xticks(_HOURS_OF_DAYS)
    axis.set_ylim(bottom=0)
    finish(axis, title, "hour of the week")


def _histograms(axis: Axes, found: Reproduction, figure: str, title: str) -> None:
    budgets = [float(epsilon) for epsilon in HISTOGRAM_EPSILONS]
    for name in HISTOGRAMS:
        means = [found.of(name, e, MAX_VISITS, figure).mean for e in HISTOGRAM_EPSILONS]
        axis.plot(budgets, means, "o-", markersize=3, color=_COLOURS[name], label=name)
    axis.set_xscale("log")
    axis.set_yscale("log")
    finish(axis, title, "ε' of histogram and total")


def _by_visits(axis: Axes, found: Reproduction, figure: str, title: str) -> None:
    for name in BOXED:
        for visits in VISITS:
            _line(axis, found, name, visits, figure, f"{name}, {visits}", _STYLES[visits])
    axis.set_ylim(bottom=0)
    finish(axis, title, "ε")


def _by_method(axis: Axes, found: Reproduction, figure: str, title: str) -> None:
    for name in METHODS:
        _line(axis, found, name, MAX_VISITS, figure, name, "-")
    if figure == "mre":
        axis.set_yscale("log")
    else:
        axis.set_ylim(0.8, 1.0)
    finish(axis, title, "ε")


def _line(  # noqa: PLR0917  one argument for each thing that differs
    axis: Axes, found: Reproduction, method: str, visits: int, figure: str, label: str, style: str
) -> None:
    axis.errorbar(
        [float(epsilon) for epsilon in EPSILONS],
        [found.of(method, epsilon, visits, figure).mean for epsilon in EPSILONS],
        yerr=[found.figures.deviation(method, epsilon, visits, figure) for epsilon in EPSILONS],
        color=_COLOURS[method],
        linestyle=style,
        marker="o",
        markersize=3,
        label=label,
    )


def _boxes(axis: Axes, found: Reproduction, figure: str, title: str) -> None:
    for side, name in ((-0.18, "EFPAG"), (0.18, DEFAULT)):
        drawn = [_drawn(found.boxes[name][epsilon][figure]) for epsilon in EPSILONS]
        axis.bxp(
            drawn,
            positions=[at + side for at in range(len(EPSILONS))],
            widths=0.3,
            showfliers=False,
            patch_artist=True,
            boxprops={"facecolor": _COLOURS[name], "alpha": 0.5},
            medianprops={"color": "#b2182b"},
        )
        axis.plot([], [], color=_COLOURS[name], linewidth=6, alpha=0.5, label=name)
    axis.set_xticks(range(len(EPSILONS)), EPSILONS)
    finish(axis, title, "ε")


def _drawn(box: Box) -> dict[str, Any]:
    return {
        "whislo": box.low_whisker,
        "q1": box.low_quartile,
        "med": box.median,
        "q3": box.high_quartile,
        "whishi": box.high_whisker,
    }


def _map(canvas: Canvas, axis: Axes, found: Reproduction, values: list[float], title: str) -> None:
    outlines, colours = [], []
    for shape, value in zip(areas_of(found.areas).projected, values, strict=True):
        for part in shapely.get_parts(shape):
            outlines.append(np.asarray(part.exterior.coords))
            colours.append(value)
    error = "MRE" in title
    patches = PolyCollection(
        outlines,
        array=np.array(colours),
        cmap="viridis_r" if error else "viridis",
        clim=(0.0, 0.4) if error else (0.9, 1.0),
        edgecolors="none",
    )
    axis.add_collection(patches)
    canvas.colorbar(patches, ax=axis, shrink=0.7)
    finish_map(axis, f"{title} (ε = {EPSILON})")
