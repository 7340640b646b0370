"""Reports the reproduction of the CBDP paper: tables beside the printed numbers, and figure 5."""

from dataclasses import asdict
from functools import partial
from itertools import pairwise
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hushway.families.od.study.reproduce import DAYS, MECHANISMS, Reproduction
from hushway.privacy.measured import Internal
from hushway.study.drawing import budget_axis, draw_means, shared_legend
from hushway.study.results import Interval, Report, StudyTable, beside_printed, by_budget


def report(found: Internal[Reproduction]) -> Internal[Report]:
    """Returns what the reproduction found."""
    value = found.value
    order = ordering(value)
    return Internal(
        Report(
            facts=asdict(value) | {"figures": value.figures.facts(), "ordering": order},
            headlines=headline_tables(value),
            further=further_tables(value),
            remarks=[
                f"O5 < O4 < O3 < Laplace < H {verdict} ({where})."
                for where, verdict in order.items()
            ],
            pictures={"figure-5.png": partial(draw_figure_5, value)},
        )
    )


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
    shared_legend(figure, axes[0], "outside right center")
    figure.savefig(path, dpi=150)


def _panel(axis: Axes, found: Reproduction, day: str) -> None:
    epsilons = sorted(_epsilons(found), key=float)
    for name, (colour, style) in _LINES.items():
        draw_means(
            axis,
            [float(epsilon) for epsilon in epsilons],
            [found.of(day, epsilon, name, "cells_rmse") for epsilon in epsilons],
            color=colour,
            linestyle=style,
            label="hushway's default" if name == "default" else name,
        )
        if printed := TABLE_2[day].get(name):
            axis.plot(
                [float(epsilon) for epsilon in printed],
                list(printed.values()),
                "x",
                color=colour,
                label=f"{name}, as printed",
            )
    axis.set_yscale("log")
    axis.set_title(day, loc="left")
    budget_axis(axis, epsilons)


# The order that the paper finds at small budgets, best first; the trees come out last in any order.
_ORDER = ("O5", "O4", "O3", "Laplace")
_TREES = ("H3", "H4", "H5")
_SMALL = 0.1

COMES_OUT = "comes out"


def headline_tables(found: Reproduction) -> list[StudyTable]:
    """Returns the tables that answer the paper's own: table 2, figure 5, trips and seconds."""
    return [
        *(_table_2(found, day) for day in DAYS),
        *(_by_figure(found, day, "cells_rmse", "Figure 5: RMSE over all cells") for day in DAYS),
        _totals(found),
        _seconds(found),
    ]


def further_tables(found: Reproduction) -> list[StudyTable]:
    """Returns the errors of busy cells and of sums."""
    busy = "Mean absolute error over the cells that hold a trip"
    return [
        *(_by_figure(found, day, "busy_cells_mae", busy) for day in DAYS),
        *(_margins(found, day) for day in DAYS),
    ]


def ordering(found: Reproduction) -> dict[str, str]:
    """Says for each day and small budget whether O5 < O4 < O3 < Laplace < H came out.

    The trees come last in any order, so the best of them stands for all. Two mechanisms in the
    wrong order whose intervals overlap cannot be told apart in so many runs.
    """
    verdicts = {}
    for day in DAYS:
        for epsilon in _epsilons(found):
            if float(epsilon) <= _SMALL:
                chain = [found.of(day, epsilon, name, "cells_rmse") for name in _ORDER]
                trees = [found.of(day, epsilon, name, "cells_rmse") for name in _TREES]
                chain.append(min(trees, key=lambda tree: tree.mean))
                verdicts[f"{day}, ε = {epsilon}"] = _verdict(chain)
    return verdicts


def _verdict(chain: list[Interval]) -> str:
    wrong = [(one, other) for one, other in pairwise(chain) if one.mean >= other.mean]
    if not wrong:
        return COMES_OUT
    near = (one.mean - other.mean <= one.half_width + other.half_width for one, other in wrong)
    return "cannot be told in so few runs" if all(near) else "DOES NOT COME OUT"


def _epsilons(found: Reproduction) -> list[str]:
    return found.figures.tried("epsilon")


def _table_2(found: Reproduction, day: str) -> StudyTable:
    epsilons = [epsilon for epsilon in _epsilons(found) if epsilon in TABLE_2[day]["O5"]]
    rows = []
    for name in ("O5", "H5", "O5(a)", "O5(b)", "O5(c)"):
        row = [name]
        for epsilon in epsilons:
            printed = TABLE_2[day].get(name, {}).get(epsilon)
            row.append(str(found.of(day, epsilon, name, "cells_rmse")))
            row.append("" if printed is None else f"{printed:g}")
        rows.append(row)
    return StudyTable(
        title=f"Table 2, {day}: RMSE over all cells",
        columns=["mechanism", *beside_printed(f"ε = {epsilon}" for epsilon in epsilons)],
        rows=rows,
    )


def _by_figure(found: Reproduction, day: str, figure: str, title: str) -> StudyTable:
    return by_budget(
        f"{title}, {day}",
        "mechanism",
        MECHANISMS,
        _epsilons(found),
        lambda name, epsilon: found.of(day, epsilon, name, figure),
    )


def _margins(found: Reproduction, day: str) -> StudyTable:
    margins = [name for name in found.figures.tried("figure") if name.startswith("margins_mae.")]
    rows = [
        [name, epsilon, *(str(found.of(day, epsilon, name, margin)) for margin in margins)]
        for name in MECHANISMS
        for epsilon in _epsilons(found)
    ]
    names = [f"#{margin.removeprefix('margins_mae.')}" for margin in margins]
    return StudyTable(
        title=f"Error of the sums (mean absolute over the elements of each published total), {day}",
        columns=["mechanism", "ε", *names],
        rows=rows,
    )


def _totals(found: Reproduction) -> StudyTable:
    rows = []
    for name in MECHANISMS:
        for epsilon in _epsilons(found):
            printed = TOTALS.get(name, {}).get(epsilon)
            mean = found.of("weekday", epsilon, name, "total").mean
            rows.append(
                [name, epsilon, f"{mean:,.0f}", "" if printed is None else f"{printed:,.0f}"]
            )
    return StudyTable(
        title=f"Published trips, weekday 08:00-10:00 (truth {found.trips['weekday']:,})",
        columns=["mechanism", "ε", "#trips", "#printed"],
        rows=rows,
    )


def _seconds(found: Reproduction) -> StudyTable:
    rows = []
    for name in MECHANISMS:
        means = [
            found.of(day, epsilon, name, "seconds").mean
            for day in DAYS
            for epsilon in _epsilons(found)
        ]
        printed = SECONDS.get(name) or SECONDS.get(name[0])
        rows.append(
            [
                name,
                f"{min(means):.3f} to {max(means):.3f}",
                "" if printed is None else f"{printed[0]:g} to {printed[1]:g}",
            ]
        )
    return StudyTable(
        title="Seconds of one private table, over days and budgets",
        columns=["mechanism", "#here", "#printed (2018)"],
        rows=rows,
    )


# Table 2: error of each mechanism on a day at a privacy budget. The paper calls it the average
# distance between the exact and the private answers; its size fits the root mean square error over
# all cells, and nothing else that we tried.
TABLE_2: dict[str, dict[str, dict[str, float]]] = {
    "weekday": {
        "O5": {"1": 0.91, "0.1": 3.87, "0.01": 6.01},
        "H5": {"1": 5.11, "0.1": 56.6, "0.01": 715.0},
        "O5(a)": {"1": 35.6, "0.1": 44.2, "0.01": 108.0},
        "O5(b)": {"1": 13.4, "0.1": 15.7, "0.01": 18.9},
        "O5(c)": {"1": 1.50, "0.1": 5.55, "0.01": 15.2},
    },
    "weekend": {
        "O5": {"1": 0.86, "0.1": 2.69, "0.01": 5.77},
        "H5": {"1": 4.57, "0.1": 50.9, "0.01": 728.0},
    },
}

# Sections 6 and 10: trips in the private table, weekday from 8 to 10.
TOTALS: dict[str, dict[str, float]] = {
    "Laplace": {"0.1": 320_940.0, "0.05": 656_577.0, "0.01": 3_312_350.0},
    "H5": {"0.1": 839_150.0, "0.05": 1_698_770.0, "0.01": 8_543_366.0},
}

# Section 10: seconds of one private table, from the fastest to the slowest budget.
SECONDS: dict[str, tuple[float, float]] = {
    "O": (7.8, 15.4),
    "Laplace": (9.9, 52.8),
    "H": (30.1, 543.0),
}
