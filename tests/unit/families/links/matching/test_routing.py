"""Cheapest routes, held against scipy's."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from hushway.errors import GeographyError
from hushway.families.links.matching.routing import shortest_routes
from hushway.families.links.public.roads import RoadNetwork

MakeRoads = Callable[..., RoadNetwork]


def random_roads(make_roads: MakeRoads, seed: int) -> RoadNetwork:
    """A network with parallel links, loops and parts that cannot be reached."""
    rng = np.random.default_rng(seed)
    nodes, links = 60, 150
    x, y = rng.uniform(0, 2000, (2, nodes))
    ends = rng.integers(0, nodes, (links, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    return make_roads(x, y, ends[:, 0].copy(), ends[:, 1].copy())


def cheapest(roads: RoadNetwork, cost: np.ndarray) -> np.ndarray:
    between = np.full((roads.nodes, roads.nodes), np.inf)
    np.minimum.at(between, (roads.tail, roads.head), cost)
    known = np.isfinite(between)
    return dijkstra(csr_array((between[known], np.nonzero(known)), shape=between.shape))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["length", "anything"])
def test_routes_cost_what_scipy_says_and_hang_together(
    make_roads: MakeRoads, seed: int, kind: str
) -> None:
    roads = random_roads(make_roads, seed)
    rng = np.random.default_rng(100 + seed)
    cost = roads.length if kind == "length" else rng.exponential(5.0, roads.links)
    origin, destination = (
        grid.ravel() for grid in np.meshgrid(np.arange(roads.nodes), np.arange(roads.nodes))
    )
    start, links = shortest_routes(roads, origin, destination, cost)
    expected = cheapest(roads, cost)[origin, destination]
    for i, (a, b) in enumerate(zip(origin, destination, strict=True)):
        route = links[start[i] : start[i + 1]]
        if a == b or np.isinf(expected[i]):
            assert len(route) == 0
            continue
        assert roads.tail[route[0]] == a
        assert roads.head[route[-1]] == b
        assert (roads.head[route[:-1]] == roads.tail[route[1:]]).all()
        assert cost[route].sum() == pytest.approx(expected[i])
    assert np.isinf(expected).any()


def test_links_that_cost_nothing_are_no_trouble(make_town: MakeRoads) -> None:
    roads = make_town(6)
    start, links = shortest_routes(roads, np.array([0]), np.array([35]), np.zeros(roads.links))
    assert roads.tail[links[0]] == 0
    assert roads.head[links[-1]] == 35
    assert start.tolist() == [0, len(links)]


def test_the_number_of_threads_does_not_show(make_town: MakeRoads) -> None:
    roads = make_town(15)
    rng = np.random.default_rng(3)
    origin, destination = rng.integers(0, roads.nodes, (2, 3000))
    # Equal costs everywhere: many routes are equally good.
    cost = np.ones(roads.links)
    alone = shortest_routes(roads, origin, destination, cost, threads=1)
    together = shortest_routes(roads, origin, destination, cost, threads=3)
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_no_routes_are_an_empty_answer(make_town: MakeRoads) -> None:
    roads = make_town(3)
    none = np.zeros(0, dtype=np.int64)
    start, links = shortest_routes(roads, none, none, roads.length)
    assert start.tolist() == [0]
    assert len(links) == 0


@pytest.mark.parametrize("cost", [-1.0, np.nan, np.inf])
def test_a_cost_that_does_not_add_up_is_refused(make_town: MakeRoads, cost: float) -> None:
    roads = make_town(3)
    costs = roads.length.copy()
    costs[2] = cost
    with pytest.raises(GeographyError, match="not negative"):
        shortest_routes(roads, np.array([0]), np.array([1]), costs)


@pytest.mark.parametrize("node", [-1, 9])
def test_a_node_that_does_not_exist_is_refused(make_town: MakeRoads, node: int) -> None:
    roads = make_town(3)
    with pytest.raises(GeographyError, match="nodes of the network"):
        shortest_routes(roads, np.array([0]), np.array([node]), roads.length)
