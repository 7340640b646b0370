import numpy as np
import pytest
from scipy import stats

from hushway.arrays import FloatArray
from hushway.families.links.city.road_city import road_city
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.study.methods import (
    busiest,
    class_distance,
    counts_distance,
    link_errors,
    network_length,
)


@pytest.fixture(scope="module")
def roads() -> RoadNetwork:
    return road_city(3, links=1000)


@pytest.fixture(scope="module")
def truth(roads: RoadNetwork) -> FloatArray:
    return np.random.default_rng(1).poisson(0.7, roads.links).astype(np.float64)


def test_the_truth_has_no_errors(truth: FloatArray, roads: RoadNetwork) -> None:
    found = link_errors(truth, truth, roads).value
    assert (found.length_ratio, found.top_share, found.major_share) == (1.0, 1.0, 1.0)
    assert (found.counts_distance, found.class_distance) == (0.0, 0.0)
    assert (found.relative_error, found.rmse) == (0.0, 0.0)


def test_nothing_published_is_as_bad_as_it_gets(truth: FloatArray, roads: RoadNetwork) -> None:
    found = link_errors(truth, np.zeros_like(truth), roads).value
    assert (found.length_ratio, found.top_share, found.major_share) == (0.0, 0.0, 0.0)
    assert found.relative_error == 1.0
    assert found.counts_distance == pytest.approx(1.0)
    assert found.class_distance == 4.0


def test_distances_are_those_of_scipy(truth: FloatArray, roads: RoadNetwork) -> None:
    other = np.random.default_rng(2).poisson(1.1, roads.links).astype(np.float64)
    assert counts_distance(truth, other) == pytest.approx(stats.wasserstein_distance(truth, other))
    classes = [roads.road_class[counts > 0] for counts in (truth, other * (roads.road_class < 5))]
    expected = stats.wasserstein_distance(*classes)
    assert expected > 0
    shown = other * (roads.road_class < 5)
    assert class_distance(truth, shown, roads) == pytest.approx(expected)


def test_which_link_has_which_count_matters_only_to_the_other_errors(
    truth: FloatArray, roads: RoadNetwork
) -> None:
    mixed = np.random.default_rng(3).permutation(truth)
    found = link_errors(truth, mixed, roads).value
    assert found.counts_distance == 0.0
    assert found.relative_error > 0.5
    assert found.top_share < 0.5


def test_lengths_are_those_of_links_in_use(roads: RoadNetwork) -> None:
    counts = np.zeros(roads.links)
    counts[[3, 8]] = 1.0, 0.25
    assert network_length(counts, roads) == pytest.approx(roads.length[3] + roads.length[8])


def test_links_without_a_count_are_never_busy() -> None:
    assert busiest(np.array([0.0, 3.0, 1.0, 3.0]), 2).tolist() == [1, 3]
    assert busiest(np.array([0.0, 0.0, 2.0]), 2).tolist() == [2]


def test_major_routes_are_weighed_by_kilometres_and_never_beyond_the_truth(
    roads: RoadNetwork,
) -> None:
    truth, published = np.zeros(roads.links), np.zeros(roads.links)
    truth[[0, 1]] = 10.0, 5.0
    published[[0, 1]] = 40.0, 1.0
    found = link_errors(truth, published, roads).value
    length = roads.length
    expected = (10 * length[0] + 1 * length[1]) / (10 * length[0] + 5 * length[1])
    assert found.major_share == pytest.approx(expected)
    assert found.relative_error == pytest.approx(34 / 15)
