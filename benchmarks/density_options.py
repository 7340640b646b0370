"""What the options of a density are worth: the table of docs/guides/density.md.

A synthetic Paris of 300,000 people, 400 towers and 300 areas, published in several ways, three runs
each. Run by hand: `python benchmarks/density_options.py`.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from harness import whole_days
from hushway.arrays import FloatArray
from hushway.engine.key import BoundingKey
from hushway.families.density import (
    ArrayVisits,
    VisitLimits,
    area_truth,
    density_errors,
    density_series,
    density_universe,
    naive_laplace,
    paris,
)
from hushway.families.density.fit.table import DensityTable
from hushway.families.density.public.visits import DensityUniverse
from hushway.privacy.accounting import rho_for
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss, ZCDPLoss
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from hushway.release.mechanism import Mechanism

LIMITS = VisitLimits(max_visits=30, max_visits_in_total=200)
EPSILONS = ("0.3", "1")
DELTA = Fraction(2, 10**6)
RUNS = 3


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A city: its public ground, its visits, bounded, and how many there are by area and hour."""

    universe: DensityUniverse
    visits: ArrayVisits
    truth: FloatArray


def scene() -> Scene:
    """Returns the city of all rows of the table."""
    city = paris(1, people=300_000, towers=400, areas=300)
    week = whole_days(city.zone, city.first_day, 7, minutes=60, cycle="window")
    universe = density_universe(city.areas, week, city.towers)
    visits = np.zeros((universe.site_count, city.hours))
    np.add.at(visits, universe.sites.site, city.counts)
    bounded = ArrayVisits(
        universe=universe,
        limits=LIMITS,
        key=BoundingKey.draw(SeededSource(9)),
        person=city.person,
        site=universe.sites.site[city.tower],
        bin=city.second // 3600,
    )
    return Scene(universe=universe, visits=bounded, truth=area_truth(universe, visits))


def ways(epsilon: Fraction) -> dict[str, Mechanism[DensityUniverse, DensityTable]]:
    """Returns the default and what differs from it by one option."""
    rho = ZCDPLoss(rho_for(epsilon, DELTA))
    pure = PureLoss(epsilon)
    return {
        "**as recommended**": density_series(LIMITS, budget=rho),
        '`denoise = "sure"`': density_series(LIMITS, budget=rho, denoise="sure"),
        '`denoise = "cuts"`': density_series(LIMITS, budget=rho, denoise="cuts"),
        '`denoise = "none"`': density_series(LIMITS, budget=rho, denoise="none"),
        "`clustering = false`": density_series(LIMITS, budget=rho, clustering=False),
        "`scaling = false`": density_series(LIMITS, budget=rho, scaling=False),
        "`night = true`": density_series(LIMITS, budget=rho, night=True),
        '`noise = "laplace"`': density_series(LIMITS, budget=pure),
        '`name = "laplace"`': naive_laplace(LIMITS, budget=pure),
    }


def judged(way: Mechanism[DensityUniverse, DensityTable], city: Scene) -> list[str]:
    """Returns clusters, error, correlation and how many intervals held, over some runs."""
    found = []
    for seed in range(RUNS):
        curator = Curator(counter=city.visits, budget=StudyBudget(), source=SeededSource(seed))
        table = way.fit(way.measure(curator, city.universe), city.universe)
        errors = density_errors(city.truth, table.counts).value
        held = np.abs(table.counts - city.truth) < 1.96 * table.standard_error
        found.append((table.diagnostics["clusters"], errors.mre, errors.pearson, held.mean()))
    clusters, error, correlation, share = np.mean(found, axis=0)
    return [f"{clusters:.0f}", f"{error:.3f}", f"{correlation:.3f}", f"{share:.1%}"]


def main() -> None:
    city = scene()
    heads = (f"ε = {epsilon}: clusters | MRE | r | held" for epsilon in EPSILONS)
    print(f"### Options\n\n| | {' | '.join(heads)} |\n| --- | {'---: | ' * 7}---: |")
    tried = [ways(Fraction(epsilon)) for epsilon in EPSILONS]
    for name in tried[0]:
        cells = [cell for each in tried for cell in judged(each[name], city)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
