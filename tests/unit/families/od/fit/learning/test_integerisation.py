"""Whole trips against the sums that they stand for."""

import numpy as np
import pytest

from hushway.families.od.fit.learning.factor_model import Blocks, CellList, FactorModel
from hushway.families.od.fit.learning.integerisation import integerise

PERIODS, PLACES = 2, 40


def city(scale: float) -> FactorModel:
    rng = np.random.default_rng(2)
    blocks = Blocks(
        origin=(np.arange(PLACES) % 3).astype(np.int32),
        destination=(np.arange(PLACES) % 2).astype(np.int32),
        rows=3,
        columns=2,
    )
    return FactorModel(
        blocks=blocks,
        origins=scale * rng.gamma(0.7, 1, (PERIODS, PLACES)),
        destinations=rng.gamma(0.7, 1, (PERIODS, PLACES)),
        between=rng.gamma(2, 1, (PERIODS, 3, 2)),
    )


def diagonal() -> CellList:
    place = np.tile(np.arange(PLACES), PERIODS)
    period = np.repeat(np.arange(PERIODS), PLACES)
    return CellList(period=period, origin=place, destination=place)


@pytest.mark.parametrize("scale", [0.001, 0.1, 3.0])
def test_sums_of_both_ends_and_of_blocks_are_kept(scale: float) -> None:
    expected, without = city(scale), diagonal()
    trips = integerise(expected, without)
    columns, rows = expected.blocks.columns, expected.blocks.rows
    for period in range(PERIODS):
        here = trips.period == period
        ends = expected.ends(period, without[np.flatnonzero(without.period == period)])
        for place, sums, more in zip(
            (trips.origin[here], trips.destination[here]), ends, (columns, rows), strict=True
        ):
            off = np.bincount(place, minlength=PLACES) - sums.sum(axis=1)
            # Blocks are made whole first, which moves the ends of each of them by a little.
            assert np.max(np.abs(off)) < 1 + more * 0.5
        assert abs(int(here.sum()) - ends[0].sum()) < 1


def test_hardly_any_trip_stands_where_none_may() -> None:
    trips = integerise(city(0.5), diagonal())
    assert len(trips) > 500
    assert np.mean(trips.origin == trips.destination) < 0.01


def test_trips_of_a_block_are_paired_as_a_product_has_them() -> None:
    """Of very many trips every pair gets about what is expected of it."""
    expected, without = city(100.0), diagonal()
    trips = integerise(expected, without)
    found = np.zeros((PERIODS, PLACES, PLACES))
    np.add.at(found, (trips.period, trips.origin, trips.destination), 1)
    period, origin, destination = (part.ravel() for part in np.indices(found.shape))
    wanted = expected.at(CellList(period=period, origin=origin, destination=destination))
    apart = origin != destination
    off = np.abs(found.ravel() - wanted)[apart].sum() / wanted[apart].sum()
    assert off < 0.1


def test_what_expects_nothing_gets_nothing() -> None:
    assert len(integerise(city(1e-9), diagonal())) == 0


def test_there_is_no_chance_in_it() -> None:
    once, again = integerise(city(0.5), diagonal()), integerise(city(0.5), diagonal())
    np.testing.assert_array_equal(once.origin, again.origin)
    np.testing.assert_array_equal(once.destination, again.destination)
