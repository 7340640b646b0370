"""Links reached from the end of a link, held against scipy on a graph of links."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from hushway.errors import GeographyError
from hushway.families.links.matching.dijkstra import Aim, bounded_dijkstra, empty_search, link_graph
from hushway.families.links.matching.grid_index import opposites
from hushway.families.links.matching.routing import shortest_routes
from hushway.families.links.public.roads import RoadNetwork
from support.road_scenes import jittered_grid, roads_of

TURN = 70.0


EVERYWHERE = Aim(0.0, 0.0, np.inf)


def metres_between(roads: RoadNetwork) -> np.ndarray:
    """Metres from the end of each link to the beginning of each, with the price of turns."""
    opposite = opposites(roads)
    follows = roads.head[:, None] == roads.tail[None, :]
    dead_end = (follows.sum(axis=1) == 1) & (opposite >= 0)
    step = np.where(follows, 1e-9, np.inf)
    turns = np.flatnonzero((opposite >= 0) & ~dead_end)
    step[turns, opposite[turns]] = TURN
    # The way goes over the whole of each link but the first and the last.
    known = np.isfinite(step)
    weights = (step + roads.length[None, :])[known]
    to_end = dijkstra(csr_array((weights, np.nonzero(known)), shape=step.shape))
    # A link reaches itself only by going round.
    after_one = np.where(known, step, np.inf)
    return np.minimum(after_one, (to_end[:, :, None] + step[None, :, :]).min(axis=1))


@pytest.mark.parametrize("seed", range(4))
def test_reached_links_are_as_far_as_scipy_says(seed: int) -> None:
    roads = jittered_grid(5, seed=seed, one_way=0.3)
    expected = metres_between(roads)
    graph, search = link_graph(roads, TURN), empty_search(roads)
    bound = 400.0
    turned = 0
    for source in range(roads.links):
        count = bounded_dijkstra(graph, search, source, (bound, 0), EVERYWHERE)
        found = np.full(roads.links, np.inf)
        found[search.reached["link"][:count]] = search.reached["metres"][:count]
        near = expected[source] <= bound - 1e-3
        np.testing.assert_allclose(found[near], expected[source][near], atol=1e-6)
        assert (found[~near] > bound - 2e-3).all()
        turned += int(near[opposites(roads)[source]])
    assert turned > 10


def by_link(reached: np.ndarray) -> dict[int, tuple[float, int]]:
    """Metres to each link, and the link before it."""
    before = [int(reached["link"][slot]) if slot >= 0 else -1 for slot in reached["before"]]
    facts = zip(reached["metres"].tolist(), before, strict=True)
    return dict(zip(reached["link"].tolist(), facts, strict=True))


def test_a_larger_bound_changes_nothing_within_the_smaller() -> None:
    # Without jitter nearly all distances are equal to others.
    roads = jittered_grid(8, jitter=0.0, one_way=0.1)
    graph, search = link_graph(roads, 100.0), empty_search(roads)
    for source in range(0, roads.links, 5):
        small = by_link(
            search.reached[: bounded_dijkstra(graph, search, source, (300.0, 0), EVERYWHERE)]
        )
        large = by_link(
            search.reached[: bounded_dijkstra(graph, search, source, (900.0, 0), EVERYWHERE)]
        )
        assert small.items() <= large.items()
        assert all(metres > 300.0 for link, (metres, _) in large.items() if link not in small)


def test_a_search_for_targets_ends_early_with_the_same_ways() -> None:
    roads = jittered_grid(10)
    graph, search = link_graph(roads, 100.0), empty_search(roads)
    target = 50
    for source in range(0, roads.links, 7):
        search.clock[1] += 1
        everything = bounded_dijkstra(graph, search, source, (5000.0, 0), EVERYWHERE)
        whole = search.reached[:everything].copy()
        search.clock[1] += 1
        search.link["mark"][target] = search.clock[1]
        count = bounded_dijkstra(graph, search, source, (5000.0, 1), EVERYWHERE)
        some = search.reached[:count]
        at = int(np.flatnonzero(some["link"] == target)[0])
        assert np.array_equal(some[at], whole[at])
        assert count < everything


@pytest.mark.parametrize("stated", [1.0, 0.6])
def test_a_search_that_is_aimed_finds_the_same_ways_and_looks_at_fewer_links(stated: float) -> None:
    town = jittered_grid(9)
    # Lengths may be stated shorter than the straight line.
    rng = np.random.default_rng(3)
    roads = replace(town, length=town.length * rng.uniform(stated, 1.0, town.links))
    graph, search = link_graph(roads, 100.0), empty_search(roads)
    looked_at = [0, 0]
    for source, target in rng.integers(0, roads.links, (60, 2)).tolist():
        x, y = roads.node_points[roads.tail[target]]
        found = []
        for number, aim in enumerate((EVERYWHERE, Aim(float(x), float(y), 0.0))):
            search.clock[1] += 1
            search.link["mark"][target] = search.clock[1]
            count = bounded_dijkstra(graph, search, source, (700.0, 1), aim)
            looked_at[number] += count
            reached = search.reached[:count]
            at = int(np.argmax(reached["link"] == target)) if target in reached["link"] else -1
            way = []
            while at >= 0:
                way.append((int(reached[at]["link"]), float(reached[at]["metres"])))
                at = int(reached[at]["before"])
            found.append(way)
        assert found[0] == found[1]
    assert looked_at[1] < looked_at[0]


def random_roads(seed: int) -> RoadNetwork:
    """A network with parallel links, loops and parts that cannot be reached."""
    rng = np.random.default_rng(seed)
    nodes, links = 60, 150
    x, y = rng.uniform(0, 2000, (2, nodes))
    ends = rng.integers(0, nodes, (links, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    return roads_of(x, y, ends[:, 0].copy(), ends[:, 1].copy())


def cheapest(roads: RoadNetwork, cost: np.ndarray) -> np.ndarray:
    between = np.full((roads.nodes, roads.nodes), np.inf)
    np.minimum.at(between, (roads.tail, roads.head), cost)
    known = np.isfinite(between)
    return dijkstra(csr_array((between[known], np.nonzero(known)), shape=between.shape))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["length", "anything"])
def test_routes_cost_what_scipy_says_and_hang_together(seed: int, kind: str) -> None:
    roads = random_roads(seed)
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


def test_links_that_cost_nothing_are_no_trouble() -> None:
    roads = jittered_grid(6)
    start, links = shortest_routes(roads, np.array([0]), np.array([35]), np.zeros(roads.links))
    assert roads.tail[links[0]] == 0
    assert roads.head[links[-1]] == 35
    assert start.tolist() == [0, len(links)]


def test_the_number_of_threads_does_not_show() -> None:
    roads = jittered_grid(15)
    rng = np.random.default_rng(3)
    origin, destination = rng.integers(0, roads.nodes, (2, 3000))
    # Equal costs everywhere: many routes are equally good.
    cost = np.ones(roads.links)
    alone = shortest_routes(roads, origin, destination, cost, threads=1)
    together = shortest_routes(roads, origin, destination, cost, threads=3)
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_no_routes_are_an_empty_answer() -> None:
    roads = jittered_grid(3)
    none = np.zeros(0, dtype=np.int64)
    start, links = shortest_routes(roads, none, none, roads.length)
    assert start.tolist() == [0]
    assert len(links) == 0


@pytest.mark.parametrize("cost", [-1.0, np.nan, np.inf])
def test_a_cost_that_does_not_add_up_is_refused(cost: float) -> None:
    roads = jittered_grid(3)
    costs = roads.length.copy()
    costs[2] = cost
    with pytest.raises(GeographyError, match="not negative"):
        shortest_routes(roads, np.array([0]), np.array([1]), costs)


@pytest.mark.parametrize("node", [-1, 9])
def test_a_node_that_does_not_exist_is_refused(node: int) -> None:
    roads = jittered_grid(3)
    with pytest.raises(GeographyError, match="nodes of the network"):
        shortest_routes(roads, np.array([0]), np.array([node]), roads.length)
