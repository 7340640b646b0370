"""What a density is compared with: simple ways to spend the same budget on the same visits.

Every peer asks the same curator, so bounds and noise are those of a release.
"""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.fit.totals import Noisy, noisy
from hushway.families.density.mechanism.series import QUANTA, density_series
from hushway.families.density.planning.trial import BoundedCity
from hushway.families.density.public.visits import (
    ClusterSeries,
    DensityUniverse,
    SiteHistogram,
    VisitCells,
    VisitTotal,
)
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss, loss_of
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget

Peer = Callable[[BoundedCity, Loss, int], FloatArray]


def asked(
    city: BoundedCity, budget: Loss, seed: int, questions: Sequence[tuple[VisitCells, float]]
) -> list[Noisy]:
    """Returns noisy answers, each for its share of the budget, in visits."""
    curator = Curator(counter=city, budget=StudyBudget(), source=SeededSource(seed))
    found = []
    for cells, share in questions:
        spend = loss_of(budget.measure, budget.amount * round(share * 1000) / 1000)
        found.append(noisy(curator.counts(Query(name=cells.name, cells=cells), spend)))
    return found


def every_cell(universe: DensityUniverse) -> IntArray:
    return np.arange(len(universe.cover), dtype=np.int64)


def whole_city(universe: DensityUniverse) -> IntArray:
    return np.zeros(len(universe.cover), dtype=np.int64)


def to_areas(universe: DensityUniverse, cells: FloatArray) -> FloatArray:
    area, cell, share = universe.cover.area_shares()
    counts = np.zeros((len(universe.areas), universe.bins))
    np.add.at(counts, area, share[:, None] * cells[cell])
    return counts


def empty(city: BoundedCity, _budget: Loss, _seed: int) -> FloatArray:
    return np.zeros((len(city.universe.areas), city.universe.bins))


def histogram_times_curve(city: BoundedCity, budget: Loss, seed: int) -> FloatArray:
    """55% on one visit of each person, 40% on the city's curve, 5% on the total: their product."""
    universe = city.universe
    curve = ClusterSeries(universe=universe, cluster=whole_city(universe), quanta=1)
    people, hours, total = asked(
        city,
        budget,
        seed,
        [
            (SiteHistogram(universe=universe), 0.55),
            (curve, 0.40),
            (VisitTotal(universe=universe), 0.05),
        ],
    )
    where, when = np.maximum(people.values, 0.0), np.maximum(hours.values, 0.0)
    cell, site, parts = universe.cover.quantised(QUANTA)
    by_cell = np.bincount(cell, parts * where[site])
    scale = max(float(total.values[0]), 0.0)
    shares = by_cell / max(by_cell.sum(), 1.0)
    return to_areas(universe, scale * np.outer(shares, when / max(when.sum(), 1.0)))


def low_rank(rank: int) -> Peer:
    """All of the budget but 5% on every cell; the first patterns of the noisy table, cut at 0."""

    def peer(city: BoundedCity, budget: Loss, seed: int) -> FloatArray:
        universe = city.universe
        cells = ClusterSeries(universe=universe, cluster=every_cell(universe), quanta=QUANTA)
        series, total = asked(
            city, budget, seed, [(cells, 0.95), (VisitTotal(universe=universe), 0.05)]
        )
        table = series.values.reshape(-1, universe.bins)
        left, strength, right = np.linalg.svd(table, full_matrices=False)
        near = np.maximum((left[:, :rank] * strength[:rank]) @ right[:rank], 0.0)
        scale = max(float(total.values[0]), 0.0) / max(near.sum(), 1.0)
        return to_areas(universe, near * max(scale, 1.0))

    return peer


def clipped(city: BoundedCity, budget: Loss, seed: int) -> FloatArray:
    """All of the budget on every cell, cut at 0."""
    universe = city.universe
    cells = ClusterSeries(universe=universe, cluster=every_cell(universe), quanta=QUANTA)
    (series,) = asked(city, budget, seed, [(cells, 1.0)])
    return to_areas(universe, np.maximum(series.values.reshape(-1, universe.bins), 0.0))


def product(**options: object) -> Peer:
    """One of the product's own ways, as it is set up."""

    def peer(city: BoundedCity, budget: Loss, seed: int) -> FloatArray:
        mechanism = density_series(city.limits, budget=budget, **options)  # type: ignore[arg-type]
        return mechanism.fit(city.measured(mechanism, seed), city.universe).counts

    return peer


PEERS: Final[dict[str, Peer]] = {
    "empty": empty,
    "clipped": clipped,
    "histogram x curve": histogram_times_curve,
    "rank one": low_rank(1),
    "rank three": low_rank(3),
    "sure": product(denoise="sure"),
    "sure, no clusters": product(denoise="sure", clustering=False),
    "raw, scaled": product(denoise="none"),
    "patterns, no clusters": product(clustering=False),
}
