"""What is published agrees with the sums that were measured."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hushway.families.density.fit.table import DensityTable
from hushway.families.density.mechanism.people import DensityPeople
from hushway.privacy.loss import PureLoss

RELEASES = 12


def deviations(table: DensityTable) -> Iterator[float]:
    """Yields how far published sums are from measured ones, in deviations of their noise."""
    universe, quanta, noise = table.universe, table.quanta, table.noise
    if table.measured_total is not None:
        yield (table.counts.sum() - table.measured_total) / noise["all visits"]
    # Every area is a cell of the cover.
    counted = table.counts.sum(axis=1) / table.diagnostics["scale"]
    off = np.bincount(table.cluster, counted) - table.measured_series.sum(axis=1) / quanta
    yield from off / (noise["visits by (cluster, period)"] / quanta * np.sqrt(universe.bins))


@pytest.mark.parametrize("epsilon", ["0.3", "1", "4"])
@pytest.mark.parametrize("visits", [1, 6, 40])
def test_published_sums_are_within_the_errors_of_measured_ones(
    build_town: Any, visits: int, epsilon: str
) -> None:
    town = build_town(4, 3, people=20_000 // visits, visits=visits)
    budget = PureLoss(Fraction(epsilon))
    way = DensityPeople(budget=budget, max_visits=None, max_visits_in_total=None)
    off = [one for seed in range(RELEASES) for one in deviations(town.release(way, seed))]
    assert (np.abs(off) <= 2.5).mean() >= 0.99
