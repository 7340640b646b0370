"""Bounded Dijkstra searches from link to link, with a cache of balls around the ends of links.

A search goes from link to link, not from node to node, so that U-turns can cost extra, except at a
dead end. Small searches (balls) are cached, because the next position of a trip, and other trips,
ask again.
"""

from typing import NamedTuple

import numpy as np

from hushway.arrays import IntArray
from hushway.families.links.matching.grid_index import opposites
from hushway.families.links.public.roads import RoadNetwork
from hushway.numerics.compiled import Rows, compiled_for_threads, rows, rows_of
from hushway.numerics.search import drop, push

# The first arrival at a node is best for every link but the one it came from; the second for that.
_ARRIVALS = 2


class LinkGraph(NamedTuple):
    """The network as a search reads it.

    Attributes:
        link: Rows of links: length in metres; the price of a U-turn at its end in metres; the
            opposite direction of its street, or -1; the head node; where the links that leave that
            node begin (first) and end (last); where it begins (from_x, from_y) and ends (to_x,
            to_y).
        out: Links by the node that they leave.
        straightest: No route is shorter than this share of the straight line. 1, unless lengths are
            stated shorter than they are.
    """

    link: Rows
    out: IntArray
    dearest_turn: float
    straightest: float


class Search(NamedTuple):
    """The memory of a search; one for each thread, used again for each search.

    Attributes:
        clock: The number of the current search, and of the current step.
        link: Rows of links: the number of the last search that has seen each; its slot among those
            reached; the stamp of the last step that it is a target of (mark), and which one
            (wanted).
        node: Rows of nodes: the number of the last search that has seen each, and its arrivals.
        heap: A binary heap: metres to the end of a link, and the link.
        reached: Rows of what was reached: the link; the slot of the link before it, -1 if it is the
            first; metres from the end of the source to its beginning, turns included.
    """

    clock: IntArray
    link: Rows
    node: Rows
    heap: Rows
    reached: Rows


def link_graph(roads: RoadNetwork, turn: float) -> LinkGraph:
    """Returns the graph of a network in which a U-turn counts as so many metres."""
    start, order = roads.leaving
    opposite = opposites(roads)
    first, last = start[roads.head], start[roads.head + 1]
    x, y = np.ascontiguousarray(roads.node_points.T)
    from_x, from_y, to_x, to_y = x[roads.tail], y[roads.tail], x[roads.head], y[roads.head]
    dead_end = (last - first == 1) & (opposite >= 0)
    link = rows_of(
        length=roads.length.astype(np.float64),
        turn=np.where(dead_end, 0.0, float(turn)),
        opposite=opposite,
        head=roads.head.astype(np.int64),
        first=first.astype(np.int64),
        last=last.astype(np.int64),
        from_x=from_x,
        from_y=from_y,
        to_x=to_x,
        to_y=to_y,
    )
    apart = np.hypot(to_x - from_x, to_y - from_y)
    straightest = (roads.length[apart > 0] / apart[apart > 0]).min(initial=1.0)
    return LinkGraph(link=link, out=order, dearest_turn=float(turn), straightest=float(straightest))


def reached_rows(count: int) -> Rows:
    """Returns memory for what searches reach."""
    return rows(count, link=np.int32, before=np.int32, metres=np.float64)


def empty_search(roads: RoadNetwork) -> Search:
    """Returns the memory of searches."""
    return Search(
        clock=np.zeros(2, dtype=np.int64),
        link=rows(roads.links, seen=np.int64, slot=np.int64, mark=np.int64, wanted=np.int64),
        node=rows(roads.nodes, seen=np.int64, arrivals=np.int64),
        heap=rows(_ARRIVALS * roads.links + 1, key=np.float64, thing=np.int64),
        reached=reached_rows(roads.links),
    )


class Aim(NamedTuple):
    """Where the targets are: all begin within a radius of a point; infinite for anywhere."""

    x: float
    y: float
    radius: float


@compiled_for_threads
def bounded_dijkstra(
    graph: LinkGraph, search: Search, source: int, limits: tuple[float, int], aim: Aim
) -> int:
    """Finds all links that begin within a bound from the end of a link; returns how many.

    Links come in the order of their metres, but for the price of one turn. The metres and the link
    before each do not depend on how much larger the bound was. Links from which no target can be
    reached within the bound, as far as straight lines tell, are pruned (as in A*): no route to a
    target goes through them, so nothing that is found changes.

    Args:
        source: The link that the search begins at the end of.
        limits: How many metres to go, and how many links are targets; once all are found, the
            search ends. 0 to find everything.
    """
    bound, targets = limits
    search.clock[0] += 1
    now, stamp = search.clock[0], search.clock[1]
    of_link, reached, heap = search.link, search.reached, search.heap
    # What was found, what is on the heap, and how many targets are found.
    state = (0, 0, 0)
    link, slot, arrival = source, -1, 0.0
    while True:
        if _comes_to_node(search.node, graph.link[link].head, now):
            state = _expand(graph, search, (link, slot), (arrival, bound, aim), state)
            if targets > 0 and state[2] == targets:
                # Only a cheaper way to the last of them can still turn up.
                bound = _furthest_marked(search, state[0], stamp)
                targets = 0
        count, size, marked = state
        slot = -1
        while size > 0 and slot < 0:
            arrival, link = heap[0].key, heap[0].thing
            size = drop(heap, size)
            place = of_link[link].slot
            # Otherwise it is from before a cheaper way was found.
            if arrival == reached[place].metres + graph.link[link].length:
                slot = place
        if slot < 0 or arrival > bound:
            return count
        state = (count, size, marked)


@compiled_for_threads
def _comes_to_node(nodes: Rows, node: int, now: int) -> bool:
    """Notes an arrival; says whether it can be of any use."""
    if nodes[node].seen != now:
        nodes[node].seen = now
        nodes[node].arrivals = 0
    nodes[node].arrivals += 1
    return bool(nodes[node].arrivals <= _ARRIVALS)


@compiled_for_threads
def _expand(
    graph: LinkGraph,
    search: Search,
    come: tuple[int, int],
    metres: tuple[float, float, Aim],
    state: tuple[int, int, int],
) -> tuple[int, int, int]:
    """Relaxes the links that leave the end of a link."""
    link, slot = come
    arrival, bound, aim = metres
    count, size, marked = state
    now, stamp = search.clock[0], search.clock[1]
    of_link, reached = search.link, search.reached
    for at in range(graph.link[link].first, graph.link[link].last):
        onward = graph.out[at]
        begins = arrival
        if onward == graph.link[link].opposite:
            begins += graph.link[link].turn
        if begins > bound:
            continue
        if of_link[onward].seen != now:
            of_link[onward].seen = now
            of_link[onward].slot = count
            reached[count].link = onward
            count += 1
            if of_link[onward].mark == stamp:
                marked += 1
        elif begins >= reached[of_link[onward].slot].metres:
            continue
        place = of_link[onward].slot
        reached[place].metres = begins
        reached[place].before = slot
        ends = begins + graph.link[onward].length
        if ends <= bound and ends + _still_to_go(graph, onward, aim) <= bound:
            size = push(search.heap, size, ends, onward)
    return count, size, marked


@compiled_for_threads
def _still_to_go(graph: LinkGraph, link: int, aim: Aim) -> float:
    """Returns a lower bound of the metres from the end of a link to the nearest target."""
    if aim.radius == np.inf:
        return 0.0
    away = np.hypot(graph.link[link].to_x - aim.x, graph.link[link].to_y - aim.y) - aim.radius
    # A millimetre for the rounding of coordinates.
    return float(max(graph.straightest * away - 1e-3, 0.0))


@compiled_for_threads
def _furthest_marked(search: Search, count: int, stamp: int) -> float:
    furthest = 0.0
    for i in range(count):
        if search.link[search.reached[i].link].mark == stamp:
            furthest = max(furthest, search.reached[i].metres)
    return furthest


# Balls come in few sizes, so that the next step of a trip finds the one it needs.
_SMALLEST = 150.0
_LARGEST = 300.0
# Sixteen bytes each: 48 MB for each thread.
_ROWS = 3_000_000


class Balls(NamedTuple):
    """The cache: links around the ends of links.

    Attributes:
        of_link: Rows of links: how far the ball of each goes, -1 if it has none (bound); where it
            begins (first) and ends (last).
        reached: What searches reached, all balls in a row. Slots of links before count within a
            ball.
    """

    of_link: Rows
    reached: Rows
    filled: IntArray


class Ball(NamedTuple):
    """One ball: some rows of what a search reached."""

    first: int
    last: int
    reached: Rows


def empty_balls(roads: RoadNetwork) -> Balls:
    """Returns an empty cache."""
    of_link = rows(roads.links, bound=np.float64, first=np.int64, last=np.int64)
    of_link["bound"] = -1.0
    return Balls(
        of_link=of_link,
        reached=reached_rows(max(_ROWS, roads.links)),
        filled=np.zeros(1, dtype=np.int64),
    )


@compiled_for_threads
def ball_around(
    roads: tuple[LinkGraph, Search, Balls], source: int, bound: float, targets: int, aim: Aim
) -> Ball:
    """Returns the links within a bound of a link's end, and perhaps more, cached if they are few.

    A ball that is too large to cache holds only what leads to the targets.
    """
    graph, search, balls = roads
    if bound > _LARGEST:
        return Ball(
            0, bounded_dijkstra(graph, search, source, (bound, targets), aim), search.reached
        )
    if balls.of_link[source].bound < bound:
        size = _SMALLEST
        while size < bound:
            size *= 2.0
        everywhere = Aim(0.0, 0.0, np.inf)
        count = bounded_dijkstra(graph, search, source, (size, 0), everywhere)
        _keep(balls, source, size, search.reached[:count])
    return Ball(balls.of_link[source].first, balls.of_link[source].last, balls.reached)


@compiled_for_threads
def _keep(balls: Balls, source: int, bound: float, reached: Rows) -> None:
    if balls.filled[0] + len(reached) > len(balls.reached):
        # Beginning again is simpler than choosing, and what is found never depends on it.
        for link in range(len(balls.of_link)):
            balls.of_link[link].bound = -1.0
        balls.filled[0] = 0
    first = balls.filled[0]
    last = first + len(reached)
    for i in range(len(reached)):
        balls.reached[first + i] = reached[i]
    balls.of_link[source].bound = bound
    balls.of_link[source].first = first
    balls.of_link[source].last = last
    balls.filled[0] = last
