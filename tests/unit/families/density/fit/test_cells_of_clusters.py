"""How the total of a cluster is shared among its cells: as far as each of them is in doubt."""

from dataclasses import replace

import numpy as np
import pytest

from hushway.families.density.fit.places import Expected, Places, known_places
from hushway.families.density.fit.totals import cells_within

ONE_CLUSTER = np.zeros(101, dtype=np.int64)


def cells(noise: float, *, hidden: float) -> Places:
    """A place of 700 visits that everybody sees, among a hundred of which 5 each are expected."""
    values = np.append(700.0, np.full(100, 5.0))
    return Places(
        counted=values,
        variance=np.append(noise**2, np.full(100, 4.0)),
        scale=np.ones(101),
        scale_variance=np.zeros(101),
        hidden=np.append(0.0, np.full(100, hidden)),
    )


def test_what_noise_hid_in_a_cluster_does_not_go_to_the_place_that_stands_out() -> None:
    # The cluster holds three times what its cells lead one to expect.
    best = Expected(np.array([3600.0]), np.array([100.0]))
    found, _ = cells_within(cells(20.0, hidden=1.0), ONE_CLUSTER, best, 1.0)
    assert found.sum() == pytest.approx(3600)
    # In proportion it would be 2100.
    assert found[0] < 1000
    assert found[1:] == pytest.approx(np.full(100, found[1]))


def test_busier_people_of_a_cluster_move_all_of_its_cells_alike() -> None:
    best = Expected(np.array([1320.0]), np.array([1.0]))
    sharp = cells(1.0, hidden=0.0)
    sharper = replace(sharp, variance=sharp.variance / 100)
    found, _ = cells_within(sharper, ONE_CLUSTER, best, 0.01)
    assert found == pytest.approx(sharp.counted * 1.1, rel=0.02)


def test_a_cluster_that_holds_next_to_nothing_leaves_no_cell_below_nothing() -> None:
    best = Expected(np.array([1.0]), np.array([1.0]))
    found, variance = cells_within(cells(20.0, hidden=1.0), ONE_CLUSTER, best, 1.0)
    assert found.sum() == pytest.approx(1)
    assert found.min() > 0
    assert variance.min() > 0


def test_doubt_that_is_left_holds_the_noise_of_the_cluster_and_of_its_cells() -> None:
    alone = np.arange(2)
    apart = Places(
        counted=np.array([50.0, 80.0]),
        variance=np.array([25.0, 36.0]),
        scale=np.ones(2),
        scale_variance=np.zeros(2),
        hidden=np.zeros(2),
    )
    best = Expected(np.array([60.0, 70.0]), np.array([9.0, 16.0]))
    # A cell that is a cluster is known as well as the cluster is.
    found, variance = cells_within(apart, alone, best, 0.0)
    assert found == pytest.approx(best.values)
    assert variance == pytest.approx(best.variance)
    together = Expected(np.array([130.0]), np.array([0.0]))
    _, variance = cells_within(apart, np.zeros(2, dtype=np.int64), together, 0.0)
    # Two numbers of which the sum is known are off by the same.
    assert variance == pytest.approx(np.full(2, 25 * 36 / (25 + 36)))


def test_a_place_is_hidden_as_far_as_its_noisy_count_says_nothing() -> None:
    people = np.append(500.0, np.random.default_rng(2).normal(0, 10, 200))
    places = known_places(people[None, :], 100.0, None)
    assert places.hidden[0] < 0.1
    assert np.median(places.hidden) > 0.8
