"""Assigns trips to roads so that nobody could arrive sooner by another way: user equilibrium.

Wardrop's equilibrium is the least of Beckmann's convex sum, and conjugate Frank-Wolfe goes down to
it (Mitradjieva and Lindberg, Transportation Science 47, 2013): it puts everybody on the quickest
ways of the moment, bends that direction so that it does not undo the one before, and goes as far as
is best.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from scipy.optimize import brentq

from hushway.arrays import FloatArray, IntArray
from hushway.numerics.compiled import Rows, compiled_for_threads, rows
from hushway.numerics.search import drop, push

_ROUNDS: Final = 500
# A direction keeps no more than this of the one before, so that it always goes on.
_MOST_KEPT: Final = 0.99


class _Search(NamedTuple):
    """The memory of a search from one node, used again for each.

    Attributes:
        seconds: From the source to every node, as far as it is known.
        by: The link by which each node is reached soonest.
        order: Nodes as they are reached.
    """

    heap: Rows
    seconds: FloatArray
    by: IntArray
    order: IntArray
    vehicles: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class RoadSupply:
    """What roads offer: links whose time grows with those who drive there (the BPR function).

    Attributes:
        nodes: How many nodes there are; each can be reached from each.
        tail: The node that each link leaves.
        free_s: Seconds of each link while it is empty.
        capacity: Vehicles an hour of each link; infinite for a time that never changes.
        weight: By which part of `free_s` a link takes longer when it is at capacity.
    """

    nodes: int
    tail: IntArray
    head: IntArray
    free_s: FloatArray
    capacity: FloatArray
    weight: float = 0.15
    power: float = 4.0

    def seconds(self, volumes: FloatArray) -> FloatArray:
        """Returns the seconds of each link by vehicles an hour."""
        slowed = self.weight * (volumes / self.capacity) ** self.power
        return np.asarray(self.free_s * (1 + slowed))

    def slopes(self, volumes: FloatArray) -> FloatArray:
        """Returns by how many seconds one more vehicle an hour slows each link."""
        rate = self.weight * self.power / self.capacity
        return np.asarray(self.free_s * rate * (volumes / self.capacity) ** (self.power - 1))

    @cached_property
    def leaving(self) -> tuple[IntArray, IntArray]:
        """Where the links of each node begin, and links in the order of the nodes they leave."""
        order = np.argsort(self.tail, kind="stable").astype(np.int64)
        starts = np.searchsorted(self.tail[order], np.arange(self.nodes + 1)).astype(np.int64)
        return starts, order


@dataclass(frozen=True, kw_only=True, eq=False)
class RoadDemand:
    """Vehicles an hour from nodes to other nodes."""

    origin: IntArray
    destination: IntArray
    vehicles: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Assignment:
    """Traffic in equilibrium.

    Attributes:
        volumes: Vehicles an hour on each link.
        seconds: What each link takes then.
        gap: Which part of all time would be saved if everybody drove the quickest ways of now.
    """

    volumes: FloatArray
    seconds: FloatArray
    gap: float


def assign(supply: RoadSupply, demand: RoadDemand, *, gap: float = 1e-4) -> Assignment:
    """Returns the equilibrium of vehicles on roads, to a relative gap or for so many rounds."""
    volumes, _ = quickest_ways(supply, demand, supply.free_s)
    target = volumes
    for left in reversed(range(_ROUNDS)):
        seconds = supply.seconds(volumes)
        quickest, least_s = quickest_ways(supply, demand, seconds)
        found = Assignment(
            volumes=volumes, seconds=seconds, gap=_relative(least_s, float(seconds @ volumes))
        )
        if found.gap <= gap or not left:
            break
        target = _conjugate(supply.slopes(volumes), volumes, target, quickest)
        volumes = volumes + _best_step(supply, volumes, target - volumes) * (target - volumes)
    return found


def quickest_ways(
    supply: RoadSupply, demand: RoadDemand, seconds: FloatArray
) -> tuple[FloatArray, float]:
    """Puts everybody on a quickest way; returns the volumes of links, and all their seconds."""
    order = np.argsort(demand.origin, kind="stable")
    volumes, links = np.zeros(len(seconds)), len(seconds)
    search = _Search(
        heap=rows(links + 1, key=np.float64, thing=np.int64),
        seconds=np.empty(supply.nodes),
        by=np.empty(supply.nodes, dtype=np.int64),
        order=np.empty(supply.nodes, dtype=np.int64),
        vehicles=np.zeros(supply.nodes),
    )
    ends = demand.origin[order], demand.destination[order]
    total = _load(
        (*supply.leaving, supply.tail, supply.head),
        seconds,
        (*ends, demand.vehicles[order]),
        search,
        volumes,
    )
    return volumes, total


def _relative(least: float, total: float) -> float:
    return max(0.0, 1 - least / total) if total > 0 else 0.0


def _conjugate(
    slopes: FloatArray, volumes: FloatArray, before: FloatArray, quickest: FloatArray
) -> FloatArray:
    """Returns where to go: the quickest ways, mixed with where the step before went to."""
    last, now = before - volumes, quickest - volumes
    curved = float(last @ (slopes * (now - last)))
    kept = float(last @ (slopes * now)) / curved if curved else 0.0
    kept = min(kept, _MOST_KEPT) if kept > 0 else 0.0
    return kept * before + (1 - kept) * quickest


def _best_step(supply: RoadSupply, volumes: FloatArray, direction: FloatArray) -> float:
    """Returns which part of a direction to go: where Beckmann's sum stops falling."""

    def climb(step: float) -> float:
        return float(supply.seconds(volumes + step * direction) @ direction)

    if climb(0.0) >= 0:
        return 0.0
    return 1.0 if climb(1.0) <= 0 else float(brentq(climb, 0.0, 1.0, xtol=1e-12))


@compiled_for_threads
def _load(
    roads: tuple[IntArray, IntArray, IntArray, IntArray],
    seconds: FloatArray,
    demand: tuple[IntArray, IntArray, FloatArray],
    search: _Search,
    volumes: FloatArray,
) -> float:
    """Adds the vehicles of all pairs, sorted by origin, to the links of their quickest ways."""
    origin, destination, vehicles = demand
    total, pair = 0.0, 0
    while pair < len(origin):
        source = origin[pair]
        reached = _reach(roads, seconds, search, source)
        while pair < len(origin) and origin[pair] == source:
            search.vehicles[destination[pair]] += vehicles[pair]
            total += vehicles[pair] * search.seconds[destination[pair]]
            pair += 1
        # From the furthest node back: what comes to a node has come over the link to it.
        for at in range(reached - 1, 0, -1):
            node = search.order[at]
            link = search.by[node]
            volumes[link] += search.vehicles[node]
            search.vehicles[roads[2][link]] += search.vehicles[node]
            search.vehicles[node] = 0.0
        search.vehicles[source] = 0.0
    return total


@compiled_for_threads
def _reach(
    roads: tuple[IntArray, IntArray, IntArray, IntArray],
    seconds: FloatArray,
    search: _Search,
    source: int,
) -> int:
    """Finds the quickest way from a node to every other (Dijkstra); returns how many it reached."""
    starts, leaving, _, head = roads
    search.seconds[:] = np.inf
    search.seconds[source] = 0.0
    size, reached = push(search.heap, 0, 0.0, source), 0
    while size > 0:
        arrival, node = search.heap[0].key, search.heap[0].thing
        size = drop(search.heap, size)
        # Otherwise it is from before a quicker way was found.
        if arrival > search.seconds[node]:
            continue
        search.order[reached] = node
        reached += 1
        for at in range(starts[node], starts[node + 1]):
            link = leaving[at]
            ends = arrival + seconds[link]
            if ends < search.seconds[head[link]]:
                search.seconds[head[link]] = ends
                search.by[head[link]] = link
                size = push(search.heap, size, ends, head[link])
    return reached
