import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hushway.errors import PlanError
from hushway.families.links.city.grid import river_y
from hushway.families.links.city.road_city import road_city
from hushway.families.links.public.roads import RoadNetwork


@pytest.fixture(scope="module")
def roads() -> RoadNetwork:
    return road_city(5, links=8_000)


@pytest.mark.parametrize("seed", [0, 7, 2**63])
@pytest.mark.parametrize("links", [1_000, 3_000, 20_000])
def test_a_city_has_about_the_links_that_were_asked_for(seed: int, links: int) -> None:
    assert abs(road_city(seed, links=links).links / links - 1) < 0.12


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_node_can_be_reached_from_every_other(seed: int) -> None:
    roads = road_city(seed, links=2_000)
    ones = np.ones(roads.links)
    graph = coo_array((ones, (roads.tail, roads.head)), shape=(roads.nodes, roads.nodes))
    parts, _ = connected_components(graph.tocsr(), directed=True, connection="strong")
    assert parts == 1


def test_a_seed_gives_the_same_network_and_another_seed_another(roads: RoadNetwork) -> None:
    assert road_city(5, links=8_000).digest == roads.digest
    assert road_city(6, links=8_000).digest != roads.digest


def test_courses_lead_from_tail_to_head(roads: RoadNetwork) -> None:
    first, last = roads.start[:-1], roads.start[1:] - 1
    for point, node in ((first, roads.tail), (last, roads.head)):
        assert np.array_equal(roads.lon[point], roads.node_lon[node])
        assert np.array_equal(roads.lat[point], roads.node_lat[node])


def test_lengths_are_those_of_the_courses(roads: RoadNetwork) -> None:
    step = np.hypot(*np.diff(roads.points, axis=0).T)
    for link in range(0, roads.links, 97):
        course = slice(roads.start[link], roads.start[link + 1] - 1)
        assert abs(step[course].sum() - roads.length[link]) < 0.02


def test_two_directions_of_a_street_run_along_the_same_points(roads: RoadNetwork) -> None:
    both = np.flatnonzero(roads.street[:-1] == roads.street[1:])
    assert len(both) > 0.8 * len(np.unique(roads.street))
    assert np.array_equal(roads.tail[both], roads.head[both + 1])
    assert np.array_equal(roads.head[both], roads.tail[both + 1])
    for link in both[::53].tolist():
        forth = slice(roads.start[link], roads.start[link + 1])
        back = slice(roads.start[link + 1], roads.start[link + 2])
        assert np.array_equal(roads.lon[forth], roads.lon[back][::-1])
        assert np.array_equal(roads.lat[forth], roads.lat[back][::-1])


def test_no_two_links_lead_from_one_node_to_the_same_other(roads: RoadNetwork) -> None:
    pairs = roads.tail * roads.nodes + roads.head
    assert len(np.unique(pairs)) == roads.links
    assert (roads.tail != roads.head).all()


def test_classes_have_sensible_shares_and_speeds(roads: RoadNetwork) -> None:
    share = np.bincount(roads.road_class, minlength=6) / roads.links
    assert (share[1:] > 0).all()
    assert 0.55 < share[5] < 0.8
    assert share[1] < share[2] < share[4] < share[5]
    means = [roads.speed[roads.road_class == each].mean() for each in range(1, 6)]
    assert means == sorted(means, reverse=True)


def test_there_are_one_ways_dead_ends_and_nodes_without_a_crossing(roads: RoadNetwork) -> None:
    assert 0.03 < (np.bincount(roads.street) == 1).mean() < 0.3
    _, first = np.unique(roads.street, return_index=True)
    ends = np.concatenate([roads.tail[first], roads.head[first]])
    degree = np.bincount(ends, minlength=roads.nodes)
    assert 0.04 < (degree == 1).mean() < 0.2
    assert 0.05 < (degree == 2).mean() < 0.5
    assert (degree >= 3).mean() > 0.5


def test_some_streets_bend(roads: RoadNetwork) -> None:
    size = np.diff(roads.start)
    assert 0.3 < (size > 2).mean() < 0.98
    assert size.max() <= 5


def test_few_roads_cross_the_river_and_none_of_them_is_a_small_street() -> None:
    roads = road_city(3, links=20_000)
    x, y = roads.node_points.T
    # The grid decides how wide the city is for the river, without jitter of the radials beyond it.
    grid = np.char.startswith(roads.name, "Street") | np.char.startswith(roads.name, "Avenue")
    half = np.abs(x[roads.tail[grid]]).max()
    north = y > river_y(x, float(half))
    far = np.abs(y - river_y(x, float(half))) > 20
    sure = far[roads.tail] & far[roads.head]
    crossing = (north[roads.tail] != north[roads.head]) & sure
    assert 4 <= crossing.sum() < 60
    assert roads.road_class[crossing].max() <= 3


@pytest.mark.parametrize("links", [999, 300_001])
def test_sizes_out_of_range_are_refused(links: int) -> None:
    with pytest.raises(PlanError, match="links"):
        road_city(1, links=links)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(PlanError, match="seed"):
        road_city(-1)


def test_a_city_can_be_laid_elsewhere() -> None:
    here, there = road_city(4, links=1_000), road_city(4, links=1_000, middle=(10.0, -20.0))
    assert np.array_equal(here.tail, there.tail)
    assert abs(there.node_lon.mean() - 10) < 0.01
    assert abs(there.node_lat.mean() + 20) < 0.01
    assert np.abs(here.length / there.length - 1).max() < 0.02
