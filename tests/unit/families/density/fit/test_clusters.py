from dataclasses import replace

import numpy as np
import pytest

from hushway.families.density.fit.clusters import merge_small
from hushway.families.density.fit.places import Expected, Places, known_places
from hushway.families.density.fit.totals import cells_within
from support.long import often


def as_printed(
    totals: np.ndarray, centres: np.ndarray, sizes: np.ndarray, threshold: float
) -> list[int]:
    """Algorithm 3 with sets of cells, centres worked out anew in every step."""
    clusters = [[i] for i in range(len(totals))]

    def total(cluster: list[int]) -> float:
        return sum(totals[i] for i in cluster)

    def centre(cluster: list[int]) -> np.ndarray:
        return np.average(centres[cluster], axis=0, weights=sizes[cluster])

    while len(clusters) > 1 and min(map(total, clusters)) < threshold:
        smallest = min(clusters, key=total)
        others = [cluster for cluster in clusters if cluster is not smallest]
        away = [np.linalg.norm(centre(cluster) - centre(smallest)) for cluster in others]
        others[int(np.argmin(away))] += smallest
        clusters = others
    number = {cell: min(cluster) for cluster in clusters for cell in cluster}
    order = sorted(set(number.values()))
    return [order.index(number[i]) for i in range(len(totals))]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", often(range(6)))
@pytest.mark.parametrize("threshold", [0.0, 5.0, 40.0, 1e9])
def test_cells_are_merged_as_printed(seed: int, threshold: float) -> None:
    rng = np.random.default_rng(seed)
    totals = rng.gamma(0.8, 4.0, 80) + rng.laplace(0, 2, 80)
    centres, sizes = rng.random((80, 2)), rng.random(80) + 0.1
    assert (totals < 0).any()
    found = merge_small(totals, centres, sizes, threshold)
    assert found.tolist() == as_printed(totals, centres, sizes, threshold)


def test_no_cluster_is_left_below_the_threshold() -> None:
    rng = np.random.default_rng(7)
    totals = rng.gamma(1.0, 10.0, 400)
    found = merge_small(totals, rng.random((400, 2)), np.ones(400), 50.0)
    assert found.dtype == np.int64
    assert len(np.unique(found)) == found.max() + 1 > 10
    assert np.bincount(found, weights=totals).min() >= 50.0


def test_large_cells_stay_by_themselves() -> None:
    centres = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]])
    assert merge_small(np.full(3, 9.0), centres, np.ones(3), 9.0).tolist() == [0, 1, 2]


def test_a_small_cell_joins_its_nearest_neighbour() -> None:
    centres = np.array([[0.0, 0.0], [5.0, 0.0], [4.0, 0.0]])
    assert merge_small(np.array([9.0, 9.0, 1.0]), centres, np.ones(3), 5.0).tolist() == [0, 1, 1]


def test_a_merged_centre_leans_to_the_larger_ground() -> None:
    # Cells 0 and 1 merge first, around 1 or around 9: farther from cell 2 than cell 3, or nearer.
    centres = np.array([[0.0, 0.0], [10.0, 0.0], [20.0, 0.0], [33.0, 0.0]])
    totals = np.array([0.0, 20.0, 11.0, 99.0])
    near_0 = merge_small(totals, centres, np.array([9.0, 1.0, 1.0, 1.0]), 12.0)
    near_1 = merge_small(totals, centres, np.array([1.0, 9.0, 1.0, 1.0]), 12.0)
    assert near_0.tolist() == [0, 0, 1, 1]
    assert near_1.tolist() == [0, 0, 0, 1]


def test_negative_totals_end_in_one_cluster() -> None:
    rng = np.random.default_rng(8)
    assert not merge_small(-rng.random(30), rng.random((30, 2)), np.ones(30), 0.0).any()


def test_one_cell_is_one_cluster() -> None:
    assert merge_small(np.array([-3.0]), np.zeros((1, 2)), np.ones(1), 5.0).tolist() == [0]


def test_arguments_are_left_as_they_are() -> None:
    totals, centres, sizes = np.array([1.0, 2.0]), np.array([[0.0, 1.0], [2.0, 3.0]]), np.ones(2)
    merge_small(totals, centres, sizes, 10.0)
    assert totals.tolist() == [1.0, 2.0]
    assert centres.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert sizes.tolist() == [1.0, 1.0]


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
