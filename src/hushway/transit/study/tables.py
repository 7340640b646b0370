"""The transit study as tables, beside what the paper prints."""

from typing import Final

from hushway.families.od.city.figures import Day
from hushway.study.study_table import StudyTable
from hushway.transit.study import published as printed
from hushway.transit.study.numbers import ODMTSReproduction
from hushway.transit.study.reproduce import DAY_OF_ALL_BUDGETS, LARGE_BUDGET
from hushway.transit.study.run import MECHANISMS, SERVICE_FIGURES, TABLE_FIGURES, TRUTH

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
        there = printed.TABLE_1[day].get(name)
        for column, figure in enumerate(_TABLE_1):
            row += [
                str(found.error(day, LARGE_BUDGET, name, figure)),
                "" if there is None else f"{there[column]:.3f}",
            ]
        rows.append(row)
    last = [TRUTH]
    for column, figure in enumerate(_TABLE_1):
        last += [str(found.true(day, figure)), f"{printed.TRUTH[day][column]:g}"]
    columns = ["mechanism"]
    for title in _TABLE_1.values():
        columns += [f"#{title}", "#printed"]
    return StudyTable(
        title=f"Table 1, {day}, ε = {LARGE_BUDGET}: relative errors; last row: vehicles, seconds",
        columns=columns,
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
