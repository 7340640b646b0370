"""Reports the transit study: numbers, tables, figure 5(c, d) and the sized network."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hushway.families.od.city.places import Day
from hushway.privacy.measured import Internal
from hushway.study.drawing import budget_axis, draw_means, mark_internal, shared_legend
from hushway.study.results import Interval, Report, StudyTable, beside_printed, interval_of
from hushway.transit.study.reproduce import DAY_OF_ALL_BUDGETS, LARGE_BUDGET, ONLY_AT_LARGE_BUDGET
from hushway.transit.study.run import (
    MECHANISMS,
    ORDER,
    PRINTED_TRUTH,
    SERVICE_FIGURES,
    TABLE_1,
    TABLE_FIGURES,
    TRUTH,
    WINDOW_S,
    ODMTSReproduction,
    study_day,
    true_fleet,
)


def report(found: Internal[ODMTSReproduction]) -> Internal[Report]:
    """Returns what the study found. Pictures are of the weekday; without it there are none."""
    value = found.value
    pictures: dict[str, Callable[[Path], None]] = {}
    if DAY_OF_ALL_BUDGETS in value.days:
        pictures["figure-5cd.png"] = partial(draw_figure_5cd, value)
        pictures["network-weekday.png"] = _draw_sized
    return Internal(
        Report(
            facts=_facts(value),
            headlines=headline_tables(value),
            further=further_tables(value),
            statements=statements(value),
            pictures=pictures,
        )
    )


def _draw_sized(path: Path) -> None:
    """Writes the network, sized by the exact trips, as PNG."""
    from hushway.transit.picture.picture import draw_network

    routes = study_day(DAY_OF_ALL_BUDGETS).routes
    plan, trips = true_fleet(DAY_OF_ALL_BUDGETS).value
    title = f"Sized by the exact trips, {_hours()}"
    path.write_bytes(draw_network(plan, routes.network, title=title, routes=routes, trips=trips))


def _hours() -> str:
    start_s, end_s = WINDOW_S
    return f"{DAY_OF_ALL_BUDGETS} {start_s // 3600:02d}:00-{end_s // 3600:02d}:00"


def _facts(value: ODMTSReproduction) -> dict[str, Any]:
    figures = []
    for day, epsilon, name in value.settings:
        for figure in (*SERVICE_FIGURES, *TABLE_FIGURES):
            facts: dict[str, Any] = {
                "day": day,
                "epsilon": epsilon,
                "mechanism": name,
                "figure": figure,
                **_known(value.of(day, epsilon, name, figure)),
            }
            if epsilon is not None and figure in SERVICE_FIGURES and value.true(day, figure).mean:
                facts["relative_error"] = _known(value.error(day, epsilon, name, figure))
            figures.append(facts)
    return {
        "runs": value.runs,
        "trips": value.trips,
        "figures": figures,
        "statements": statements(value),
    }


def _known(interval: Interval) -> dict[str, float | None]:
    """Returns an interval as JSON can hold it: what is not a number is left empty."""
    return {name: None if math.isnan(x) else x for name, x in asdict(interval).items()}


_LINES: Final = {
    "O5": ("#08519c", "-"),
    "O4": ("#3d8ebf", "--"),
    "O3": ("#7fb8d8", ":"),
    "default": ("#238b45", "-"),
    "learned": ("#6a51a3", "-"),
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
    shared_legend(figure, cost, "outside right center")
    mark_internal(figure, fontsize=9)
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
        shift = _APART ** (place - len(_LINES) / 2)
        draw_means(
            axis,
            [float(epsilon) * shift for epsilon in tried],
            [found.of(day, epsilon, name, figure) for epsilon in tried],
            color=colour,
            linestyle=style,
            markersize=4,
            capsize=2,
            label="hushway's default" if name == "default" else name,
        )
    axis.axhline(
        found.true(day, figure).mean, color=_TRUTH, linewidth=1.2, label="exact trips", zorder=1
    )
    budget_axis(axis, epsilons)


# What the transit study comes to, in sentences.
#
# Errors of two mechanisms are compared run by run, since a run has the same seed with each: a pair
# is told apart if the 95% interval of the mean difference does not hold 0.

_FEWEST_RUNS = 2


class Verdict(StrEnum):
    """Whether one mechanism has the smaller error of two."""

    COMES_OUT = "comes out"
    REVERSED = "comes out the other way round"
    UNTOLD = "cannot be told in so many runs"


def compared(found: ODMTSReproduction, day: str, better: str, worse: str) -> Verdict:
    """Says whether the first mechanism has the smaller error in the number of shuttles."""
    gain = found.errors(day, LARGE_BUDGET, worse, "shuttles") - found.errors(
        day, LARGE_BUDGET, better, "shuttles"
    )
    if len(gain) < _FEWEST_RUNS:
        return Verdict.UNTOLD
    interval = interval_of(gain)
    if abs(interval.mean) <= interval.half_width:
        return Verdict.UNTOLD
    return Verdict.COMES_OUT if interval.mean > 0 else Verdict.REVERSED


def statements(found: ODMTSReproduction) -> list[str]:
    """Returns the sentences."""
    lines: list[str] = []
    for day in found.days:
        run = found.mechanisms(day, LARGE_BUDGET)
        names = [name for name in ORDER if name in run]
        if len(names) == len(ORDER):
            lines += _extremes(found, day)
        if len(names) > 1:
            lines.append(_order(found, day, names))
        if {"default", "O5"} <= set(run):
            verdict = compared(found, day, "default", "O5")
            lines.append(
                f"On the {day}, that hushway's default is nearer to the true fleet than O5 "
                f"{verdict} ({_errors(found, day, ['default', 'O5'])})."
            )
    if len(found.epsilons(DAY_OF_ALL_BUDGETS)) > 1:
        lines.append(
            f"{_listed(sorted(ONLY_AT_LARGE_BUDGET))} are sized at ε = {LARGE_BUDGET} only: below, "
            "noise fills their tables with many times the trips, as hushway reproduce cbdp counts "
            "them. The paper found no fleets for them within 24 hours either."
        )
    return lines


def _extremes(found: ODMTSReproduction, day: str) -> Iterator[str]:
    """Yields whether O5 is the best of the seven, and Laplace the worst."""
    best, worst = ORDER[0], ORDER[-1]
    nearer = {name: compared(found, day, best, name) for name in ORDER[1:]}
    farther = {name: compared(found, day, name, worst) for name in ORDER[:-1]}
    yield f"On the {day}, that {best} is nearest to the true fleet of the seven {_all(nearer)}."
    yield f"On the {day}, that {worst} is farthest from it {_all(farther)}."


def _all(verdicts: dict[str, Verdict]) -> str:
    """Says whether all comparisons come out, and if not, which keep it from coming out."""
    for verdict in (Verdict.REVERSED, Verdict.UNTOLD):
        names = [name for name, found in verdicts.items() if found is verdict]
        if names:
            what = "does not come out" if verdict is Verdict.REVERSED else str(verdict)
            return f"{what} (because of {_listed(names)})"
    return str(Verdict.COMES_OUT)


def _order(found: ODMTSReproduction, day: str, names: Sequence[str]) -> str:
    """Says which pairs of the printed order come out."""
    pairs: dict[Verdict, list[str]] = {verdict: [] for verdict in Verdict}
    for better, worse in combinations(names, 2):
        pairs[compared(found, day, better, worse)].append(f"{better} < {worse}")
    count = sum(len(some) for some in pairs.values())
    told = [f"{len(pairs[Verdict.COMES_OUT])} as printed"]
    if other := pairs[Verdict.REVERSED]:
        told.append(f"{len(other)} the other way round ({_listed(other)})")
    if untold := pairs[Verdict.UNTOLD]:
        which = "" if len(untold) == count else f" ({_listed(untold)})"
        told.append(f"{len(untold)} not to be told in so many runs{which}")
    return (
        f"On the {day}, of the {count} pairs of the printed order {' < '.join(names)} in the error "
        f"of shuttles: {'; '.join(told)}. Errors: {_errors(found, day, names)}."
    )


def _errors(found: ODMTSReproduction, day: str, names: Sequence[str]) -> str:
    return ", ".join(
        f"{name} {found.error(day, LARGE_BUDGET, name, 'shuttles').mean:.3f}" for name in names
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


NOT_RUN: Final = "\N{EN DASH}"

# In the order of the printed columns.
_TABLE_1 = {"shuttles": "shuttles", "trip_wait_s": "wait of a trip", "idle_s": "idle time"}
_NAMES = {
    "shuttles": "shuttles",
    "leg_wait_s": "wait of a leg, s",
    "trip_wait_s": "wait of a trip, s",
    "idle_s": "idle, s",
    "in_vehicle_s": "in vehicles, s",
    "unserved_legs": "legs not served",
    "private_trips": "trips of the table",
    "private_cells": "cells with trips",
    "sizing_s": "seconds of sizing",
}


def headline_tables(found: ODMTSReproduction) -> list[StudyTable]:
    """Returns the paper's own: table 1 of each day, and figure 5(c, d) in numbers."""
    tables = [table_1(found, day) for day in found.days if LARGE_BUDGET in found.epsilons(day)]
    if DAY_OF_ALL_BUDGETS in found.days:
        tables.append(budget_table(found, "shuttles", "Figure 5(c): number of shuttles"))
        tables.append(budget_table(found, "leg_wait_s", "Figure 5(d): mean wait of a leg, s"))
    return tables


def further_tables(found: ODMTSReproduction) -> list[StudyTable]:
    """Returns everything that was recorded, by day and budget."""
    return [
        recorded_table(found, day, epsilon) for day in found.days for epsilon in found.epsilons(day)
    ]


def table_1(found: ODMTSReproduction, day: Day) -> StudyTable:
    """Returns the relative errors of a day, and at last what is true."""
    rows = []
    for name in _in_order(found.mechanisms(day, LARGE_BUDGET)):
        row = [name]
        there = TABLE_1[day].get(name)
        for column, figure in enumerate(_TABLE_1):
            row += [
                str(found.error(day, LARGE_BUDGET, name, figure)),
                "" if there is None else f"{there[column]:.3f}",
            ]
        rows.append(row)
    last = [TRUTH]
    for column, figure in enumerate(_TABLE_1):
        last += [str(found.true(day, figure)), f"{PRINTED_TRUTH[day][column]:g}"]
    return StudyTable(
        title=f"Table 1, {day}, ε = {LARGE_BUDGET}: relative errors; last row: vehicles, seconds",
        columns=["mechanism", *beside_printed(_TABLE_1.values())],
        rows=[*rows, last],
    )


def budget_table(found: ODMTSReproduction, figure: str, title: str) -> StudyTable:
    """Returns one number of every mechanism by budget; a dash where it was not run.

    The truth needs no budget and is the same in every column.
    """
    day = DAY_OF_ALL_BUDGETS
    epsilons = found.epsilons(day)
    names = dict.fromkeys(name for epsilon in epsilons for name in found.mechanisms(day, epsilon))
    rows = [
        [name, *(_cell(found, day, epsilon, name, figure) for epsilon in epsilons)]
        for name in _in_order(tuple(names))
    ]
    true = _cell(found, day, None, TRUTH, figure)
    return StudyTable(
        title=f"{title}, {day}",
        columns=["mechanism", *(f"#ε = {epsilon}" for epsilon in epsilons)],
        rows=[*rows, [TRUTH, *(true for _ in epsilons)]],
    )


def recorded_table(found: ODMTSReproduction, day: str, epsilon: str) -> StudyTable:
    """Returns all numbers of a day and a budget."""
    figures = (*SERVICE_FIGURES, *TABLE_FIGURES)
    settings: list[tuple[str | None, str]] = [
        (epsilon, name) for name in _in_order(found.mechanisms(day, epsilon))
    ]
    return StudyTable(
        title=f"All numbers, {day}, ε = {epsilon}",
        columns=["mechanism", *(f"#{_NAMES[figure]}" for figure in figures)],
        rows=[
            [name, *(_cell(found, day, budget, name, figure) for figure in figures)]
            for budget, name in [*settings, (None, TRUTH)]
        ],
    )


def _cell(found: ODMTSReproduction, day: str, epsilon: str | None, name: str, figure: str) -> str:
    if (day, epsilon, name) not in found.settings:
        return NOT_RUN
    return str(found.of(day, epsilon, name, figure))


def _in_order(names: tuple[str, ...]) -> list[str]:
    return [name for name in MECHANISMS if name in names]
