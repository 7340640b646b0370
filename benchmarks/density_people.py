"""Densities whose limits are chosen, beside limits that are given and beside clipped noise.

Errors are taken against all visits, of people whom nobody has cut down: the total, areas over the
window, single counts, how many of these lie within 1.96 of their errors, and how many of the
busiest tenth of areas are published below half their size. Real rows are read if HUSHWAY_DATA names
a folder that holds them. Run by hand: `python benchmarks/density_people.py [runs]`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from density_peers import clipped
from density_sets import Crowd, bike_trips, callers, check_ins
from harness import data, keep, positional
from hushway.arrays import FloatArray
from hushway.families.density.mechanism.people import DensityPeople
from hushway.families.density.mechanism.series import density_series
from hushway.families.density.planning.trial import budget_of
from hushway.families.density.public.visits import VisitLimits
from hushway.privacy.loss import PureLoss

EPSILONS, DELTA = ("1", "4"), "0.000001"
# What templates said before limits could be chosen.
BEFORE = VisitLimits(max_visits=30, max_visits_in_total=1000)
FIGURES = ("total", "areas_l1", "rmse", "l1", "within", "within_10", "far_below")


@dataclass(frozen=True, kw_only=True)
class Published:
    """Counts, and what each may be off by, if that is told."""

    counts: FloatArray
    errors: FloatArray | None = None


Way = Callable[[Crowd, str, int], Published]


def chosen(noise: str) -> Way:
    """Limits that a noisy histogram chooses."""

    def way(crowd: Crowd, epsilon: str, seed: int) -> Published:
        pure = noise == "laplace"
        budget = PureLoss(Fraction(epsilon)) if pure else budget_of(epsilon, DELTA)
        people = DensityPeople(budget=budget, max_visits=None, max_visits_in_total=None)
        city = crowd.bounded(people.limits, people.ladder, seed)
        table = people.fit(city.measured(people, seed), city.universe)
        return Published(counts=table.counts, errors=table.standard_error)

    return way


def given(crowd: Crowd, epsilon: str, seed: int) -> Published:
    """The limits of templates before, with Gaussian noise."""
    way, city = density_series(BEFORE, budget=budget_of(epsilon, DELTA)), crowd.bounded(BEFORE)
    table = way.fit(city.measured(way, seed), city.universe)
    return Published(counts=table.counts, errors=table.standard_error)


def clipped_laplace(most: int) -> Way:
    """Laplace noise on every count, cut off at 0, of at most so many visits of a person."""

    def way(crowd: Crowd, epsilon: str, seed: int) -> Published:
        limits = VisitLimits(max_visits=most, max_visits_in_total=most, one_in_a_bin=False)
        return Published(counts=clipped(crowd.bounded(limits), PureLoss(Fraction(epsilon)), seed))

    return way


WAYS: dict[str, Way] = {
    "chosen, Laplace (default)": chosen("laplace"),
    "chosen, Gaussian": chosen("gaussian"),
    "30 of a person, 1000 in total": given,
    "clipped Laplace, 1 of a person": clipped_laplace(1),
    "clipped Laplace, 8 of a person": clipped_laplace(8),
}


def sets() -> Iterator[tuple[str, Callable[[], Crowd]]]:
    yield "callers 2k", lambda: callers(2_000, 90, 70, 7)
    yield "callers 20k", lambda: callers(20_000, 60, 40, 1)
    yield "callers 136k", lambda: callers(136_000, 400, 300, 3)
    if folder := data():
        yield "check-ins", lambda: check_ins(folder)
        yield "bikes as a fleet", lambda: bike_trips(folder, "bike_id", BEFORE)
        yield "bike trips", lambda: bike_trips(folder, None, BEFORE)


def figures(truth: FloatArray, found: Published) -> tuple[float, ...]:
    """Returns one number for each of FIGURES."""
    counts, off = found.counts, found.counts - truth
    areas, true_areas = counts.sum(axis=1), truth.sum(axis=1)
    busiest = np.argsort(true_areas)[-max(len(true_areas) // 10, 1) :]
    within = np.full(truth.shape, np.nan)
    if found.errors is not None:
        within = (np.abs(off) <= 1.96 * found.errors).astype(np.float64)
    return (
        counts.sum() / truth.sum() - 1,
        np.abs(areas - true_areas).sum() / truth.sum(),
        np.sqrt((off**2).mean()),
        np.abs(off).sum() / truth.sum(),
        within.mean(),
        within[truth >= 10].mean(),
        (areas[busiest] < true_areas[busiest] / 2).mean(),
    )


def main(runs: int = 4) -> list[dict[str, object]]:
    """Prints one table a set and epsilon; returns all rows."""
    rows: list[dict[str, object]] = []
    for name, make in sets():
        crowd = make()
        for epsilon in EPSILONS:
            print(f"\n{name}: {crowd.people:,} people, epsilon {epsilon}, {runs} runs", flush=True)
            print(f"{'way':<34}" + "".join(f"{figure:>11}" for figure in FIGURES))
            for way, publish in WAYS.items():
                found = [figures(crowd.truth, publish(crowd, epsilon, run)) for run in range(runs)]
                means = np.mean(found, axis=0)
                print(f"{way:<34}" + "".join(f"{mean:11.3g}" for mean in means), flush=True)
                facts = {"set": name, "epsilon": epsilon, "way": way}
                rows.append(facts | dict(zip(FIGURES, means.tolist(), strict=True)))
    return rows


if __name__ == "__main__":
    keep("density_people", main(int(positional("4")[0])))
