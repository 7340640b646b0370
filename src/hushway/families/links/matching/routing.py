"""Cheapest routes between nodes of a road network, by A*."""

from collections.abc import Callable
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import GeographyError
from hushway.families.links.public.roads import RoadNetwork
from hushway.numerics.compiled import Rows, compiled_for_threads, rows, rows_of
from hushway.numerics.search import drop, push
from hushway.numerics.threads import chunks, in_order, usual_threads

_ROUTES_AT_ONCE = 512
# Rounding must not make the straight line look longer than a road along it.
_CAREFUL = 1 - 1e-9


class Streets(NamedTuple):
    """The network as a search reads it: the links that leave each node, side by side.

    Attributes:
        node: Rows of nodes: where its links begin (first) and end (last), and where it is (x, y).
        out: Rows of links in the order of the nodes that they leave: the link, its head, its cost.
        pace: Least cost of a metre of straight line: the A* heuristic.
    """

    node: Rows
    out: Rows
    pace: float


class Scratch(NamedTuple):
    """The memory of a search; one for each thread, used again for each route.

    Attributes:
        node: Rows of nodes: twice the number of the last search that has seen each, plus 1 once it
            is settled; the cost to get there; the link by which it was reached; the node before.
    """

    node: Rows
    heap: Rows


def shortest_routes(
    roads: RoadNetwork,
    origin: IntArray,
    destination: IntArray,
    cost: FloatArray,
    *,
    threads: int | None = None,
) -> tuple[IntArray, IntArray]:
    """Returns a cheapest route for each pair of nodes, the same whatever the number of threads.

    Args:
        cost: What each link costs, not negative: metres, seconds or anything that adds up.

    Returns:
        Where the links of each route begin (one entry more than routes), and the links of all
        routes in a row. A route is empty if there is none, or if it ends where it begins.

    Raises:
        GeographyError: A cost is negative or missing, or a node does not exist.
    """
    _check(roads, origin, destination, cost)
    streets = _streets(roads, cost)
    spare: SimpleQueue[Scratch] = SimpleQueue()
    threads = usual_threads(threads)
    for _ in range(threads):
        spare.put(_scratch(roads))

    def work(stretch: tuple[int, int]) -> tuple[IntArray, IntArray]:
        # There are as many as threads, so none waits.
        scratch = spare.get()
        pairs = slice(*stretch)
        scratch.node["seen"] = 0
        found = _routes(streets, scratch, origin[pairs], destination[pairs])
        spare.put(scratch)
        return found

    return _joined(work, len(origin), threads)


def _joined(
    work: Callable[[tuple[int, int]], tuple[IntArray, IntArray]], routes: int, threads: int
) -> tuple[IntArray, IntArray]:
    stretches = chunks(np.ones(routes, dtype=np.int64), _ROUTES_AT_ONCE)
    lengths, links = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for some_lengths, some_links in in_order(work, stretches, threads):
        lengths.append(some_lengths)
        links.append(some_links)
    return np.cumsum(np.concatenate(lengths)), np.concatenate(links)


def _check(roads: RoadNetwork, origin: IntArray, destination: IntArray, cost: FloatArray) -> None:
    if len(cost) != roads.links or not bool((cost >= 0).all() and np.isfinite(cost).all()):
        raise GeographyError(
            "The costs of links must be finite numbers, not negative, one for each link.",
            advice="Use lengths in metres or times in seconds.",
        )
    nodes = np.concatenate([origin, destination])
    if len(origin) != len(destination) or bool(((nodes < 0) | (nodes >= roads.nodes)).any()):
        raise GeographyError(
            "Routes must be asked for between nodes of the network.",
            advice="Give the indices of one origin and one destination for each route.",
        )


def _streets(roads: RoadNetwork, cost: FloatArray) -> Streets:
    start, order = roads.leaving
    x, y = np.ascontiguousarray(roads.node_points.T)
    straight = np.hypot(x[roads.head] - x[roads.tail], y[roads.head] - y[roads.tail])
    apart = straight > 0
    pace = float((cost[apart] / straight[apart]).min()) if apart.any() else 0.0
    head = roads.head[order].astype(np.int64)
    return Streets(
        node=rows_of(first=start[:-1], last=start[1:], x=x, y=y),
        out=rows_of(link=order, head=head, cost=cost[order].astype(np.float64)),
        pace=pace * _CAREFUL,
    )


def _scratch(roads: RoadNetwork) -> Scratch:
    # Every link puts a node on the heap at most once, because no node is settled twice.
    return Scratch(
        node=rows(roads.nodes, seen=np.int64, cost=np.float64, link=np.int64, before=np.int64),
        heap=rows(roads.links + 1, key=np.float64, thing=np.int64),
    )


@compiled_for_threads
def _routes(
    streets: Streets, scratch: Scratch, origin: IntArray, destination: IntArray
) -> tuple[IntArray, IntArray]:
    """Returns the number of links of each route, and the links of all routes in a row."""
    lengths = np.zeros(len(origin), dtype=np.int64)
    links = np.empty(64 * len(origin) + 64, dtype=np.int64)
    filled = 0
    for i in range(len(origin)):
        if not _search(streets, scratch, origin[i], destination[i], i + 1):
            continue
        length = 0
        node = destination[i]
        while node != origin[i]:
            length += 1
            node = scratch.node[node].before
        if filled + length > len(links):
            more = np.empty(2 * (filled + length), dtype=np.int64)
            for taken in range(filled):
                more[taken] = links[taken]
            links = more
        filled += length
        lengths[i] = length
        node = destination[i]
        for back in range(length):
            links[filled - 1 - back] = scratch.node[node].link
            node = scratch.node[node].before
    return lengths, links[:filled].copy()


@compiled_for_threads
def _search(streets: Streets, scratch: Scratch, origin: int, destination: int, number: int) -> bool:
    """Runs A* with the straight line as its heuristic; says whether there is a route.

    The heuristic is consistent, so a node is settled when it leaves the heap for the first time.
    """
    reached_now, settled_now = 2 * number, 2 * number + 1
    heap, nodes = scratch.heap, scratch.node
    to_x, to_y = streets.node[destination].x, streets.node[destination].y
    nodes[origin].seen = reached_now
    nodes[origin].cost = 0.0
    nodes[origin].before = origin
    size = push(heap, 0, 0.0, origin)
    while size > 0:
        node = heap[0].thing
        if node == destination:
            return True
        size = drop(heap, size)
        # It may be on the heap again, from before a cheaper way was found.
        if nodes[node].seen == settled_now:
            continue
        nodes[node].seen = settled_now
        for at in range(streets.node[node].first, streets.node[node].last):
            head = streets.out[at].head
            cost = nodes[node].cost + streets.out[at].cost
            if nodes[head].seen == settled_now:
                continue
            if nodes[head].seen == reached_now and cost >= nodes[head].cost:
                continue
            nodes[head].seen = reached_now
            nodes[head].cost = cost
            nodes[head].link = streets.out[at].link
            nodes[head].before = node
            left = np.hypot(streets.node[head].x - to_x, streets.node[head].y - to_y)
            size = push(heap, size, cost + streets.pace * left, head)
    return False
