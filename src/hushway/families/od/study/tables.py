"""The reproduction of the CBDP paper as tables, beside what the paper prints."""

from itertools import pairwise

from hushway.families.od.study.published import SECONDS, TABLE_2, TOTALS
from hushway.families.od.study.reproduce import DAYS, MECHANISMS, Reproduction
from hushway.study.interval import Interval
from hushway.study.study_table import StudyTable

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
    return list(dict.fromkeys(figure.epsilon for figure in found.figures))


def _table_2(found: Reproduction, day: str) -> StudyTable:
    epsilons = [epsilon for epsilon in _epsilons(found) if epsilon in TABLE_2[day]["O5"]]
    rows = []
    for name in ("O5", "H5", "O5(a)", "O5(b)", "O5(c)"):
        row = [name]
        for epsilon in epsilons:
            printed = TABLE_2[day].get(name, {}).get(epsilon)
            row += [
                str(found.of(day, epsilon, name, "cells_rmse")),
                "" if printed is None else f"{printed:g}",
            ]
        rows.append(row)
    columns = ["mechanism"]
    for epsilon in epsilons:
        columns += [f"#ε = {epsilon}", "#printed"]
    return StudyTable(title=f"Table 2, {day}: RMSE over all cells", columns=columns, rows=rows)


def _by_figure(found: Reproduction, day: str, figure: str, title: str) -> StudyTable:
    epsilons = _epsilons(found)
    return StudyTable(
        title=f"{title}, {day}",
        columns=["mechanism", *(f"#ε = {epsilon}" for epsilon in epsilons)],
        rows=[
            [name, *(str(found.of(day, epsilon, name, figure)) for epsilon in epsilons)]
            for name in MECHANISMS
        ],
    )


def _margins(found: Reproduction, day: str) -> StudyTable:
    epsilons = _epsilons(found)
    margins = list(
        dict.fromkeys(f.figure for f in found.figures if f.figure.startswith("margins_mae."))
    )
    rows = [
        [name, epsilon, *(str(found.of(day, epsilon, name, margin)) for margin in margins)]
        for name in MECHANISMS
        for epsilon in epsilons
    ]
    names = [f"#{margin.removeprefix('margins_mae.')}" for margin in margins]
    return StudyTable(
        title=f"Error of the sums (mean absolute over the elements of each feature), {day}",
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
