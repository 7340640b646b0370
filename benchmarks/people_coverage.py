"""How often 95% intervals of OD tables of people hold: by window, budget and limit on trips.

Generated cards that travel for a day, a week and a month (`people_scenes`): rows of two errors or
more, origins by period, periods, random groups of places at both ends over all periods (which
nobody measured), and the total; then the stated error of the total, in parts of it. A limit is
"auto" or a number; what it leaves out is completed. No constant was chosen on these cards at these
seeds. Run by hand: `python benchmarks/people_coverage.py [runs] [epsilons] [people]`.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from harness import keep, positional
from hushway.arrays import BoolArray
from hushway.families.od.fit.table import ODTable
from hushway.families.od.planning.trial import TripArrays
from people import completed
from people_scenes import PeopleScene, card_month, card_week

LIMITS = (None, 1, 2, 4, 8, 16, 32)
STATIONS, GROUPS, DAYS, SEED = 100, 6, 5, 7
COLUMNS = ("rows", "origins", "periods", "groups of places", "total")


def windows(people: int) -> Iterator[tuple[str, PeopleScene]]:
    """Yields the trips of a day, of a week and of a month."""
    week = card_week(SEED, people, STATIONS)
    trips = week.trips
    assert trips.person is not None  # noqa: S101  these are trips of people
    today = np.flatnonzero(np.random.default_rng(SEED).integers(0, DAYS, len(trips.period)) == 0)
    _, person = np.unique(trips.person[today], return_inverse=True)
    day = TripArrays(
        person=person,
        period=trips.period[today],
        origin=trips.origin[today],
        destination=trips.destination[today],
    )
    yield "day", PeopleScene(cells=week.cells, features=week.features, trips=day)
    yield "week", week
    yield "month", card_month(SEED, people)


def held(scene: PeopleScene, table: ODTable) -> dict[str, BoolArray]:
    """Says of every interval of each kind whether it holds the truth."""
    truth, cells = scene.truth, scene.cells
    known = table.counts >= 2 * table.standard_errors
    off = np.abs(table.counts - truth[table.cells])
    counts = np.zeros(cells.size)
    counts[table.cells] = table.counts
    found = {"rows": (off <= 1.96 * table.standard_errors)[known]}
    names = {"origins": "origins", "period": "periods", "total": "total"}
    for margin in table.margins:
        if margin.feature.title in names and margin.errors is not None:
            element = margin.feature.of(np.arange(cells.size))
            error = np.abs(np.bincount(element, counts - truth, minlength=margin.feature.size))
            found[names[margin.feature.title]] = error <= 1.96 * margin.errors
    return found | {"groups of places": _groups_held(table, counts - truth)}


def _groups_held(table: ODTable, off: NDArray[np.float64]) -> BoolArray:
    cells = table.universe
    _, origin, destination = cells.decode(np.arange(cells.size))
    group = np.random.default_rng(SEED).integers(GROUPS, size=len(cells.locations))
    element = GROUPS * group[origin] + group[destination]
    assert table.effects is not None  # noqa: S101  it learnt
    variances = table.effects.variances_of_rows(
        cells, table.cells, table.standard_errors, element[table.cells], GROUPS**2
    )
    error = np.abs(np.bincount(element, off, minlength=GROUPS**2))
    return np.asarray(error <= 1.96 * np.sqrt(variances))


def main(runs: int, epsilons: tuple[str, ...], people: int) -> list[dict[str, object]]:
    """Prints a line for every window, budget and limit, and returns them."""
    rows: list[dict[str, object]] = []
    print(f"| window | ε | limit | {' | '.join(COLUMNS)} | error of the total |")
    print(f"| --- | ---: | ---: |{' ---: |' * (len(COLUMNS) + 1)}")
    for window, scene in windows(people):
        for epsilon in epsilons:
            for limit in LIMITS:
                rows.append(_row(scene, Fraction(epsilon), limit, runs))
                told = " | ".join(str(value) for value in rows[-1].values())
                print(f"| {window} | {epsilon} | {limit or 'auto'} | {told} |", flush=True)
                rows[-1] |= {"window": window, "epsilon": epsilon, "limit": limit or "auto"}
    return rows


def _row(scene: PeopleScene, epsilon: Fraction, limit: int | None, runs: int) -> dict[str, object]:
    found: dict[str, list[BoolArray]] = {name: [] for name in COLUMNS}
    stated = []
    for run in range(runs):
        _, table = completed(limit)(scene, epsilon, run)
        assert table is not None  # noqa: S101  only remedies have none
        for name, each in held(scene, table).items():
            found[name].append(each)
        total = next(margin for margin in table.margins if margin.feature.size == 1)
        assert total.errors is not None  # noqa: S101  it learnt
        stated.append(total.errors[0] / scene.truth.sum())
    every = {name: np.concatenate(each) if each else np.empty(0) for name, each in found.items()}
    shares = {name: f"{each.mean():.3f}" if len(each) else "-" for name, each in every.items()}
    return {**shares, "error of the total": f"{np.mean(stated):.3f}"}


if __name__ == "__main__":
    runs, epsilons, people = positional("1", "0.5,1,4", "20000")
    keep("people_coverage", main(int(runs), tuple(epsilons.split(",")), int(people)))
