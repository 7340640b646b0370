"""Traffic in equilibrium: a network with a known answer, and a town judged by another search."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from hushway.families.links.city.road_city import road_city
from hushway.transit.traffic.equilibrium import RoadDemand, RoadSupply, assign

INF = np.inf


def braess(*, bridge: bool) -> RoadSupply:
    """Links o-a, o-b, a-d, b-d, and a bridge a-b of half a second; o-a and b-d take 1 + volume."""
    links = 5 if bridge else 4
    return RoadSupply(
        nodes=4,
        tail=np.array([0, 0, 1, 2, 1])[:links],
        head=np.array([1, 2, 3, 3, 2])[:links],
        free_s=np.array([1.0, 5.0, 5.0, 1.0, 0.5])[:links],
        capacity=np.array([1.0, INF, INF, 1.0, INF])[:links],
        weight=1.0,
        power=1.0,
    )


FOUR = RoadDemand(origin=np.array([0]), destination=np.array([3]), vehicles=np.array([4.0]))


@pytest.mark.parametrize(
    ("bridge", "volumes", "each_s"),
    [
        (False, [2, 2, 2, 2], 8.0),
        # All three ways take as long: 1 + 3.5 + 5 on the outer ones, 2 (1 + 3.5) + 0.5 between.
        (True, [3.5, 0.5, 0.5, 3.5, 3], 9.5),
    ],
)
def test_a_bridge_makes_everybody_slower_in_braess_network(
    bridge: bool, volumes: list[float], each_s: float
) -> None:
    found = assign(braess(bridge=bridge), FOUR, gap=1e-9)
    assert found.gap <= 1e-9
    assert found.volumes == pytest.approx(volumes, abs=1e-3)
    assert found.volumes @ found.seconds == pytest.approx(4 * each_s, rel=1e-4)


def test_a_town_comes_to_rest_and_nobody_gets_lost() -> None:
    roads = road_city(5, links=1500)
    supply = RoadSupply(
        nodes=roads.nodes,
        tail=roads.tail,
        head=roads.head,
        free_s=roads.length / roads.speed * 3.6,
        capacity=400 * roads.lanes,
    )
    rng = np.random.default_rng(1)
    ends = rng.integers(roads.nodes, size=(2, 400))
    demand = RoadDemand(origin=ends[0], destination=ends[1], vehicles=rng.random(400) * 140)
    found = assign(supply, demand)
    balance = (
        np.bincount(roads.tail, found.volumes, roads.nodes)
        - np.bincount(roads.head, found.volumes, roads.nodes)
        - np.bincount(demand.origin, demand.vehicles, roads.nodes)
        + np.bincount(demand.destination, demand.vehicles, roads.nodes)
    )
    assert np.abs(balance).max() < 1e-6
    # Another search, over the quickest of all links between the same two nodes.
    order = np.argsort(-found.seconds)
    graph = np.full((roads.nodes, roads.nodes), np.inf)
    graph[roads.tail[order], roads.head[order]] = found.seconds[order]
    tails, heads = np.nonzero(np.isfinite(graph))
    sparse = coo_array((graph[tails, heads], (tails, heads)), shape=graph.shape).tocsr()
    quickest = dijkstra(sparse, indices=demand.origin)[np.arange(400), demand.destination]
    spent = found.volumes @ found.seconds
    assert 1 - quickest @ demand.vehicles / spent == pytest.approx(found.gap, abs=1e-9)
    assert found.gap <= 1e-4
    # Roads are full enough that an equilibrium is not just everybody's shortest way.
    assert spent > 1.05 * (found.volumes @ supply.free_s)


def test_no_trips_leave_roads_empty() -> None:
    nobody = RoadDemand(origin=FOUR.origin, destination=FOUR.destination, vehicles=np.zeros(1))
    found = assign(braess(bridge=True), nobody)
    assert not found.volumes.any()
    assert found.gap == 0
