"""Crossing margins joined, against the projection that factors and works in double-double."""

from dataclasses import dataclass

import numpy as np
import pytest

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.od.fit.partitions import Partition
from hushway.families.od.fit.projection.dense_cells import DenseCells
from hushway.families.od.fit.projection.problem import Margin
from hushway.families.od.fit.projection.project import Projection, project
from hushway.families.od.fit.reconciliation.reconcile import (
    OutOfReachError,
    WeightedSums,
    project_crossing,
    relative_bound,
)


@dataclass
class Table:
    """Noisy cells, and noisy sums over classes of periods and pairs that cross."""

    values: IntArray
    sums: list[WeightedSums]

    def projected(self) -> Projection:
        periods, pairs = self.values.shape
        period, pair = np.divmod(np.arange(self.values.size), pairs)
        return project(
            DenseCells(
                values=self.values.ravel(),
                pair_class=np.arange(pairs, dtype=np.int32),
                pair_classes=pairs,
                period_class=np.arange(periods, dtype=np.int32),
                period_classes=periods,
            ),
            [
                Margin(
                    element=each.partition.period_class[period].astype(np.int64)
                    * each.partition.classes
                    + each.partition.pair_class[pair],
                    counts=each.counts,
                    weight=each.weight,
                )
                for each in self.sums
            ],
        )

    def dense(self, projection: Projection) -> FloatArray:
        values = np.zeros(self.values.size)
        values[projection.cells] = projection.values
        return values.reshape(self.values.shape)


def classes(rng: np.random.Generator, things: int, most: int) -> tuple[IntArray, int]:
    count = int(rng.integers(1, most + 1))
    # Every class has a thing, as every element of a feature has a cell.
    return rng.permutation(np.arange(things) % count).astype(np.int32), count


def random_table(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    periods, pairs = int(rng.integers(1, 6)), int(rng.integers(4, 60))
    counts = rng.gamma(0.2, rng.choice([1.0, 5.0, 50.0, 1000.0]), (periods, pairs))
    noise = rng.laplace(0, rng.choice([0.5, 5.0, 50.0]), counts.shape)
    sums = []
    for _ in range(int(rng.integers(2, 6))):
        period_class, of_periods = classes(rng, periods, periods)
        pair_class, of_pairs = classes(rng, pairs, pairs // 2)
        partition = Partition(
            period_class=period_class, pair_class=pair_class, periods=of_periods, classes=of_pairs
        )
        exact = partition.sums(np.rint(counts))
        sums.append(
            WeightedSums(
                partition=partition,
                counts=np.rint(exact + rng.laplace(0, 10, partition.size)).astype(np.int64),
                weight=counts.size / partition.size * 10.0 ** rng.uniform(-1.5, 1.5),
            )
        )
    return Table(values=np.rint(counts + noise).astype(np.int64), sums=sums)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(100))
def test_both_ways_lead_to_the_same_table(seed: int) -> None:
    table = random_table(seed)
    one, other = table.projected(), project_crossing(table.values, table.sums, tolerance=1e-9)
    distance = float(np.linalg.norm(table.dense(one) - other.values))
    assert distance <= one.optimality.bound + other.bound
    assert relative_bound(other) <= 1e-9 * (1 + 1e-9)
    for mine, theirs in zip(one.margin_totals, other.totals, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-7, atol=1e-5)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-5])
def test_the_bound_is_true_long_before_the_end(seed: int, tolerance: float) -> None:
    table = random_table(seed)
    exact = table.dense(table.projected())
    found = project_crossing(table.values, table.sums, tolerance=tolerance)
    assert np.linalg.norm(exact - found.values) <= found.bound + 1e-9


def test_sums_that_contradict_each_other_beyond_what_doubles_hold_are_refused() -> None:
    """Both sums weigh a million times a cell, and they are a million trips apart."""
    all_of_it, halves = np.zeros(8, dtype=np.int32), np.arange(8, dtype=np.int32) % 2
    one, other = (
        Partition(
            period_class=np.zeros(1, dtype=np.int32), pair_class=pairs, periods=1, classes=size
        )
        for pairs, size in ((halves, 2), (np.arange(8, dtype=np.int32) // 4, 2))
    )
    sums = [
        WeightedSums(partition=one, counts=np.array([10**6, 10**6]), weight=1e9),
        WeightedSums(partition=other, counts=np.array([0, 0]), weight=1e9),
    ]
    with pytest.raises(OutOfReachError, match="was asked for"):
        project_crossing(all_of_it[None, :].astype(np.int64), sums, tolerance=1e-15)


def test_counts_that_doubles_do_not_hold_are_refused() -> None:
    table = random_table(1)
    table.values[0, 0] = 1 << 53
    with pytest.raises(ReleaseError, match="too large"):
        project_crossing(table.values, table.sums, tolerance=1e-9)
