"""Families of sums inside others, against matrices that are written out."""

import numpy as np
import pytest

from hushway.arrays import FloatArray
from hushway.families.od.fit.partitions import Partition
from hushway.families.od.fit.reconciliation import nested_sums as nesting
from hushway.families.od.fit.reconciliation.nested_sums import NestedSums, nested_sums
from hushway.families.od.fit.reconciliation.preconditioner import aggregates_of, factored
from support.od_problems import partition

PERIODS, PLACES = 3, 4
ORIGIN, DESTINATION = (part.ravel().astype(np.int32) for part in np.indices((PLACES, PLACES)))
EACH, NONE = np.arange(PERIODS, dtype=np.int32), np.zeros(PERIODS, dtype=np.int32)


TOTAL, PERIOD = partition(0 * ORIGIN, NONE), partition(0 * ORIGIN, EACH)
BY_ORIGIN, BY_DESTINATION = partition(ORIGIN, EACH), partition(DESTINATION, EACH)
ORIGIN_ALWAYS = partition(ORIGIN, NONE)
ZONES = partition(ORIGIN // 2 * 2 + DESTINATION // 2, EACH)


def incidence(each: Partition) -> FloatArray:
    rows = each.period_class[:, None] * each.classes + each.pair_class[None, :]
    return (np.arange(each.size)[:, None] == rows.ravel()).astype(np.float64)


def nests(partitions: list[Partition]) -> list[NestedSums]:
    rng = np.random.default_rng(1)
    counts = [rng.integers(0, 50, each.size) for each in partitions]
    return nested_sums(partitions, counts, [0.5 + each for each in range(len(partitions))])


def test_a_family_lies_inside_the_first_that_refines_it() -> None:
    found = nests([TOTAL, BY_DESTINATION, PERIOD, BY_ORIGIN, ZONES, ORIGIN_ALWAYS])
    assert [nest.members for nest in found] == [(1, 2, 0), (3, 5), (4,)]


def test_what_would_be_too_much_inside_stays_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nesting, "_MOST_INSIDE", PERIODS)
    found = nests([TOTAL, PERIOD, BY_ORIGIN])
    assert [nest.members for nest in found] == [(2, 1), (0,)]


def test_coarse_sums_are_those_of_the_cells() -> None:
    (nest,) = nests([BY_ORIGIN, TOTAL, ORIGIN_ALWAYS, PERIOD])
    cells = np.random.default_rng(2).gamma(1.0, 5.0, PERIODS * PLACES**2)
    coarser = [[BY_ORIGIN, TOTAL, ORIGIN_ALWAYS, PERIOD][each] for each in nest.members[1:]]
    expected = np.concatenate([incidence(each) @ cells for each in coarser])
    np.testing.assert_allclose(nest.sums(incidence(BY_ORIGIN) @ cells), expected)


def test_resistance_is_that_of_all_families_at_their_best() -> None:
    """Multipliers y with R'y = d that cost least cost d'Q^-1 d, Q = R'N^-1 R over all families."""
    partitions = [BY_ORIGIN, TOTAL, ORIGIN_ALWAYS, PERIOD]
    (nest,) = nests(partitions)
    precision = np.zeros((BY_ORIGIN.size, BY_ORIGIN.size))
    fine = incidence(BY_ORIGIN)
    for number, each in enumerate(partitions):
        inside = (incidence(each) @ fine.T > 0).astype(np.float64)
        precision += inside.T @ inside / (0.5 + number)
    direction = np.random.default_rng(3).normal(size=BY_ORIGIN.size)
    np.testing.assert_allclose(
        nest.resistance(direction), np.linalg.solve(precision, direction), rtol=1e-9
    )
    assert nest.gap(direction) == pytest.approx(direction @ precision @ direction)


def test_a_coarse_sum_misses_what_its_parts_miss_and_the_gap_is_that_of_all() -> None:
    (nest,) = nests([BY_ORIGIN, TOTAL, ORIGIN_ALWAYS, PERIOD])
    rng = np.random.default_rng(4)
    multipliers, sums = rng.normal(0, 1e6, BY_ORIGIN.size), rng.gamma(1.0, 5.0, BY_ORIGIN.size)
    missing, gap = nest.missed(multipliers, sums, 0.0)
    assert gap == pytest.approx(nest.gap(missing), rel=1e-6)
    assert gap >= nest.gap(missing) * (1 - 1e-12)


def test_an_envelope_solves_like_a_dense_matrix() -> None:
    rng = np.random.default_rng(5)
    places = [rng.integers(0, 9, 40), rng.integers(0, 9, 40) // 3 * 3]
    diagonal, weights = rng.gamma(2.0, 1.0, 9), rng.gamma(1.0, 1.0, 40)
    matrix = np.diag(diagonal)
    for one in places:
        for other in places:
            np.add.at(matrix, (one, other), weights)
    right = rng.normal(size=9)
    found = factored(diagonal, places, weights).solve(right)
    np.testing.assert_allclose(found, np.linalg.solve(matrix, right))


@pytest.mark.parametrize(
    ("partitions", "count"),
    [
        # Two constants a period.
        ([BY_ORIGIN, BY_DESTINATION], 2 * PERIODS),
        # Zones host: two zones of origins, two of destinations, all four pairs, each period.
        ([BY_ORIGIN, BY_DESTINATION, ZONES], 8 * PERIODS),
        # What is tied over all periods is one aggregate; the host may be either.
        ([BY_DESTINATION, ORIGIN_ALWAYS], 2),
    ],
    ids=["ends", "zones", "always"],
)
def test_the_matrix_of_motions_is_that_of_all_cells(
    partitions: list[Partition], count: int
) -> None:
    aggregates = aggregates_of(partitions)
    assert aggregates is not None
    assert len(aggregates.first) == count
    rng = np.random.default_rng(6)
    moving = rng.gamma(1.0, 1.0, PERIODS * PLACES**2)
    cells = np.vstack([incidence(each) for each in partitions])
    least = rng.gamma(1.0, 1.0, len(cells))
    together = (aggregates.aggregate[None, :] == np.arange(count)[:, None]).astype(np.float64)
    matrix = together @ (np.diag(least) + cells * moving @ cells.T) @ together.T
    factor = aggregates.factor(least, cells @ moving)
    left = rng.normal(size=len(cells))
    expected = together.T @ np.linalg.solve(matrix, together @ left)
    np.testing.assert_allclose(aggregates.moved(factor, left), expected, rtol=1e-8)


def test_one_family_has_no_motions() -> None:
    assert aggregates_of([BY_ORIGIN]) is None
