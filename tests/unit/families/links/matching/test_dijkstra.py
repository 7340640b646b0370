"""Links reached from the end of a link, held against scipy on a graph of links."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from hushway.families.links.matching.dijkstra import Aim, bounded_dijkstra, empty_search, link_graph
from hushway.families.links.matching.grid_index import opposites
from hushway.families.links.public.roads import RoadNetwork

MakeRoads = Callable[..., RoadNetwork]

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
def test_reached_links_are_as_far_as_scipy_says(make_town: MakeRoads, seed: int) -> None:
    roads = make_town(5, seed=seed, one_way=0.3)
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


def test_a_larger_bound_changes_nothing_within_the_smaller(make_town: MakeRoads) -> None:
    # Without jitter nearly all distances are equal to others.
    roads = make_town(8, jitter=0.0, one_way=0.1)
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


def test_a_search_for_targets_ends_early_with_the_same_ways(make_town: MakeRoads) -> None:
    roads = make_town(10)
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
def test_a_search_that_is_aimed_finds_the_same_ways_and_looks_at_fewer_links(
    make_town: MakeRoads, stated: float
) -> None:
    town = make_town(9)
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
