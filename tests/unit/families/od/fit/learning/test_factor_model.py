"""Products of factors against the tables that they stand for, written out in full."""

import numpy as np
import pytest

from hushway.arrays import FloatArray
from hushway.families.od.fit.learning.factor_model import (
    Blocks,
    CellList,
    FactorModel,
    Kind,
    Target,
)

PERIODS, PLACES = 3, 7
BLOCKS = Blocks(
    origin=np.array([0, 0, 1, 1, 1, 2, 2], dtype=np.int32),
    destination=np.array([0, 1, 0, 1, 0, 1, 0], dtype=np.int32),
    rows=3,
    columns=2,
)
SHAPES = {
    Kind.ORIGINS: (PERIODS, PLACES),
    Kind.DESTINATIONS: (PERIODS, PLACES),
    Kind.BLOCKS: (PERIODS, BLOCKS.rows, BLOCKS.columns),
}


def cells_at(*places: tuple[int, int, int]) -> CellList:
    period, origin, destination = np.array(places, dtype=np.int64).reshape(-1, 3).T
    return CellList(period=period, origin=origin, destination=destination)


SOME = cells_at((0, 0, 0), (1, 2, 2), (1, 2, 3), (2, 6, 1))
EVERY = cells_at(*np.ndindex(PERIODS, PLACES, PLACES))


def drawn(seed: int = 3) -> FactorModel:
    rng = np.random.default_rng(seed)
    return FactorModel(
        blocks=BLOCKS,
        origins=rng.gamma(1, 1, (PERIODS, PLACES)),
        destinations=rng.gamma(1, 1, (PERIODS, PLACES)),
        between=rng.gamma(1, 1, (PERIODS, BLOCKS.rows, BLOCKS.columns)),
    )


def in_full(expected: FactorModel, without: CellList) -> FloatArray:
    table = expected.at(EVERY).reshape(PERIODS, PLACES, PLACES)
    table[without.period, without.origin, without.destination] = 0
    return table


def single(kind: Kind) -> Target:
    """Every element by itself."""
    shape = SHAPES[kind]
    size = int(np.prod(shape))
    return Target(kind=kind, element=np.arange(size).reshape(shape), counts=np.ones(size))


def added_up(table: FloatArray, kind: Kind) -> FloatArray:
    if kind is Kind.ORIGINS:
        return table.sum(axis=2).ravel()
    if kind is Kind.DESTINATIONS:
        return table.sum(axis=1).ravel()
    sums = np.zeros(SHAPES[kind])
    rows, columns = BLOCKS.origin[EVERY.origin], BLOCKS.destination[EVERY.destination]
    np.add.at(sums, (EVERY.period, rows, columns), table.ravel())
    return sums.ravel()


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("without", [cells_at(), SOME], ids=["all", "without some"])
def test_sums_are_those_of_the_whole_table(kind: Kind, without: CellList) -> None:
    expected = drawn()
    found = expected.sums(single(kind), without)
    np.testing.assert_allclose(found, added_up(in_full(expected, without), kind), atol=1e-12)


def test_a_fit_meets_targets_that_some_table_meets() -> None:
    goal = in_full(drawn(seed=8), SOME)
    targets = [
        Target(kind=kind, element=single(kind).element, counts=added_up(goal, kind))
        for kind in Kind
    ]
    expected = FactorModel.even(BLOCKS, PERIODS)
    expected.fit(targets, SOME, sweeps=200)
    for target in targets:
        np.testing.assert_allclose(expected.sums(target, SOME), target.counts, rtol=1e-6)


def test_factors_grow_no_further_than_they_may() -> None:
    before = drawn()
    expected = before.copy(most=2.0)
    target = single(Kind.ORIGINS)
    expected.fit(
        [Target(kind=target.kind, element=target.element, counts=1e6 * target.counts)], SOME, 5
    )
    np.testing.assert_allclose(expected.origins, 2 * before.origins)
    np.testing.assert_array_equal(drawn().origins, before.origins)


def test_the_largest_cells_are_all_that_expect_so_much() -> None:
    expected = drawn()
    values = expected.at(EVERY)
    found = expected.largest(1.0, most=1000)
    cell = (found.period * PLACES + found.origin) * PLACES + found.destination
    np.testing.assert_array_equal(np.sort(cell), np.flatnonzero(values >= 1.0))
    few = expected.largest(1.0, most=5)
    assert len(few) <= 5
    assert np.all(expected.at(few) >= 1.0)


def test_the_histogram_counts_every_cell_about_where_it_is() -> None:
    expected = drawn()
    expected.origins[0, 1] = 0.0
    step, least, size = 0.35, np.log(1e-3), 40
    found = expected.histogram(step, least, size)
    assert found.sum() == pytest.approx(PERIODS * PLACES * PLACES)
    values = np.maximum(expected.at(EVERY), 1e-300)
    place = np.clip(np.rint((np.log(values) - least) / step), 0, size - 1).astype(int)
    exact = np.bincount(place, minlength=size)
    # A cell may be counted next to its own class, never further away.
    assert np.max(np.abs(np.cumsum(found) - np.cumsum(exact))) <= max(exact)
    assert found[0] == exact[0]


def test_both_ends_of_a_period_add_up_to_the_same_blocks() -> None:
    expected = drawn()
    here = SOME[np.flatnonzero(SOME.period == 1)]
    starts, stops = expected.ends(1, here)
    table = in_full(expected, SOME)[1]
    np.testing.assert_allclose(starts.sum(axis=1), table.sum(axis=1))
    np.testing.assert_allclose(stops.sum(axis=1), table.sum(axis=0))
