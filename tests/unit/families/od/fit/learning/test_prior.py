"""What is expected of cells, from sums with next to no noise unless a test says otherwise."""

from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.learning.prior import NoisySums, prior_mean
from hushway.families.od.fit.partitions import Partition
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.randomness import SeededSource
from support.od_problems import partition

PLACES = 8
SURE = DiscreteLaplace(Fraction(1, 50))
BLIND = DiscreteLaplace(Fraction(10**6))
ORIGIN, DESTINATION = (part.ravel().astype(np.int32) for part in np.indices((PLACES, PLACES)))
EVERYWHERE = np.zeros(PLACES * PLACES, dtype=np.int32)


def measured(table: FloatArray, one: Partition) -> NoisySums:
    values = one.sums(table).round().astype(np.int64)
    return NoisySums(partition=one, values=values, law=SURE)


def product_table() -> FloatArray:
    """Trips in proportion to origins and destinations, which change places over the day."""
    weights = np.arange(1.0, PLACES + 1)
    rows = [np.outer(weights, weights[::-1]), 3 * np.outer(weights[::-1], weights)]
    return 50 * np.array([row.ravel() for row in rows])


def nothing_seen(shape: tuple[int, int]) -> IntArray:
    """Cells under so much noise that they say nothing."""
    return BLIND.draw(SeededSource(5), shape[0] * shape[1]).reshape(shape)


def test_sums_by_origin_and_by_destination_make_the_expectation_a_product_of_both() -> None:
    table = product_table()
    sums = [measured(table, partition(ends, [0, 1])) for ends in (ORIGIN, DESTINATION)]
    found = prior_mean(sums, nothing_seen(table.shape), BLIND, EVERYWHERE)
    np.testing.assert_allclose(found, table, rtol=1e-3)


def test_every_family_of_sums_is_honoured() -> None:
    rng = np.random.default_rng(7)
    table = rng.gamma(0.5, 400.0, (2, PLACES * PLACES))
    zones = partition(ORIGIN // 4 * 2 + DESTINATION // 4, [0, 0])
    families = [partition(ORIGIN, [0, 1]), partition(DESTINATION, [0, 1]), zones]
    found = prior_mean(
        [measured(table, each) for each in families], nothing_seen(table.shape), BLIND, EVERYWHERE
    )
    for each in families:
        np.testing.assert_allclose(each.sums(found), each.sums(table), rtol=0.02)


def test_pairs_at_a_distance_that_has_trips_are_expected_to_have_more() -> None:
    near = np.abs(ORIGIN - DESTINATION) <= 2
    table = np.where(near, 900, 0)[None, :]
    total = measured(table.astype(np.float64), partition(EVERYWHERE, [0]))
    found = prior_mean([total], table, SURE, np.where(near, 0, 1).astype(np.int32))
    assert found[0, near].min() > 10 * found[0, ~near].max() > 0
    assert found.sum() == pytest.approx(table.sum(), rel=0.1)


def test_distances_say_nothing_if_cells_say_nothing() -> None:
    table = np.full((1, PLACES * PLACES), 9)
    total = measured(table.astype(np.float64), partition(EVERYWHERE, [0]))
    classes = np.minimum(np.abs(ORIGIN - DESTINATION), 3).astype(np.int32)
    found = prior_mean([total], nothing_seen(table.shape), BLIND, classes)
    np.testing.assert_allclose(found, 9, rtol=0.05)


def test_classes_of_periods_may_come_in_any_order() -> None:
    table = np.repeat([[10.0], [1000.0]], PLACES * PLACES, axis=1)
    for order in ([0, 1], [1, 0]):
        families = [partition(EVERYWHERE, [0, 1]), partition(ORIGIN, order)]
        sums = [measured(table, each) for each in families]
        found = prior_mean(sums, nothing_seen(table.shape), BLIND, EVERYWHERE)
        np.testing.assert_allclose(found, table, rtol=0.01)


def test_sums_over_parts_of_the_day_have_the_trips_of_their_parts() -> None:
    table = np.repeat([[10.0], [30.0], [900.0], [500.0]], PLACES * PLACES, axis=1)
    families = [partition(EVERYWHERE, [0, 1, 2, 3]), partition(ORIGIN, [0, 0, 1, 1])]
    sums = [measured(table, each) for each in families]
    found = prior_mean(sums, nothing_seen(table.shape), BLIND, EVERYWHERE)
    np.testing.assert_allclose(found.sum(axis=1), table.sum(axis=1), rtol=0.01)


def test_where_nobody_travels_next_to_nothing_is_expected_but_never_nothing() -> None:
    table = np.zeros((3, PLACES * PLACES), dtype=np.int64)
    sums = [measured(table.astype(np.float64), partition(ORIGIN, [0, 1, 2]))]
    found = prior_mean(sums, table, SURE, EVERYWHERE)
    assert np.all((found > 0) & (found < 1e-3))
