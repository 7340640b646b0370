"""Cycle cancelling: pushes flow along cycles until every edge carries a whole amount.

Only the fraction that an edge carries above its floor matters, in fixed point: 0 is the floor and
`ONE` the ceiling. What flows into a vertex flows out of it, so a vertex with one fractional edge
has another, and a walk along fractional edges must close a cycle. Pushing along it, as far as its
edges allow, leaves every vertex balanced and makes an edge whole; whole edges are never touched
again. The walk up to that edge is kept, as in dependent rounding (Gandhi, Khuller, Parthasarathy
and Srinivasan 2006).

A walk carries the state of its edges along in its own rows, so that a push runs over memory in
order; an edge gets its flow back when the walk leaves it.
"""

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.numerics.compiled import compiled

# 2^-44 is below the error of any sum of floats that comes here. Sums of many fractions may pass
# 2^63 and wrap; only their remainders and their small differences are ever used.
FRACTION_BITS = 44
ONE = 1 << FRACTION_BITS

# Columns of the table of edges: where an edge begins and ends, the fraction it carries, what it
# costs to raise it by one, and its places in the lists of the vertices where it begins and ends.
TAIL, HEAD, FLOW, PRICE, TAIL_PLACE, HEAD_PLACE = range(6)

# Columns of the lists: an edge, and the vertex at its other end.
EDGE, BEYOND = range(2)

# Rows of a walk: its vertices, the edge after each, how far that edge lets the walk push onwards,
# and the price of pushing by one along all edges before it.
_VERTEX, _EDGE, _ROOM, _COST = range(4)

# Rows of the table of other elements: how far each has moved from its real value, and a scratch.
_DRIFT, _STEPS = range(2)

# How many edges of a vertex are looked at for one that closes a cycle. Short cycles are cheap, and
# so is looking; measured between 1 and all.
_SIGHT = 8
# What a squared drift of another margin's element costs beside the squared shift of a group.
DRIFT_PRICE = 0.2


@compiled
def cancel_cycles(
    edges: IntArray, lists: IntArray, spans: IntArray, others: IntArray, drift: FloatArray
) -> None:
    """Moves the flow of every edge to 0 or `ONE`.

    Flows that were declared whole beforehand may leave vertices a little out of balance. Then a
    vertex can have a single fractional edge, which is as far from whole as the vertex is from
    balance; it is moved to the nearest end, and the imbalance passes to the vertex beyond.

    Args:
        edges: One row for each edge, changed in place; no edge is a loop. The last ones are groups.
        lists: The fractional edges of each vertex, one vertex after the other; emptied.
        spans: Where the list of each vertex begins and ends.
        others: For each margin that is not in the network, the element of each group.
        drift: Two rows of zeros, as long as these margins have elements.
    """
    walk = np.empty((4, len(spans) + 1), dtype=np.int64)
    place = np.full(len(spans), -1, dtype=np.int64)
    for origin in range(len(spans) - 1, -1, -1):
        depth = 0
        walk[_VERTEX, 0], walk[_COST, 0], place[origin] = origin, 0, 0
        while depth >= 0:
            here = walk[_VERTEX, depth]
            came = walk[_EDGE, depth - 1] if depth > 0 else -1
            found = _next(lists, spans[here], place, came)
            if found < 0:
                place[here] = -1
                depth -= 1
                if depth >= 0:
                    walk[_ROOM, depth] = 0 if 2 * walk[_ROOM, depth] < ONE else ONE
                    _leave(edges, lists, spans, walk, depth)
                continue
            there = lists[found, BEYOND]
            _enter(edges, walk, depth, lists[found, EDGE])
            if place[there] < 0:
                depth += 1
                walk[_VERTEX, depth], place[there] = there, depth
                continue
            kept = _cancel(edges, walk, (place[there], depth), others, drift)
            for left in range(kept, depth + 1):
                _leave(edges, lists, spans, walk, left)
                place[walk[_VERTEX, left]] = -1
            depth = kept
            place[walk[_VERTEX, depth]] = depth


@compiled
def _next(lists: IntArray, span: IntArray, place: IntArray, came: int) -> int:
    """Returns where in its list a vertex has an edge to go on by, or -1 if only back."""
    found = -1
    for at in range(span[1] - 1, max(span[0], span[1] - 1 - _SIGHT) - 1, -1):
        if lists[at, EDGE] != came:
            if place[lists[at, BEYOND]] >= 0:
                return at
            if found < 0:
                found = at
    return found


@compiled
def _enter(edges: IntArray, walk: IntArray, depth: int, edge: int) -> None:
    """Adds an edge to the end of a walk."""
    flow, price = edges[edge, FLOW], edges[edge, PRICE]
    forward = edges[edge, TAIL] == walk[_VERTEX, depth]
    walk[_EDGE, depth] = edge
    walk[_ROOM, depth] = ONE - flow if forward else flow
    walk[_COST, depth + 1] = walk[_COST, depth] + (price if forward else -price)


@compiled
def _leave(edges: IntArray, lists: IntArray, spans: IntArray, walk: IntArray, depth: int) -> None:
    """Gives an edge of a walk its flow back, and strikes it off its lists if that is whole."""
    edge, room = walk[_EDGE, depth], walk[_ROOM, depth]
    edges[edge, FLOW] = ONE - room if edges[edge, TAIL] == walk[_VERTEX, depth] else room
    if _is_whole(room):
        _strike_off(edges, lists, spans, edges[edge, TAIL], edges[edge, TAIL_PLACE])
        _strike_off(edges, lists, spans, edges[edge, HEAD], edges[edge, HEAD_PLACE])


@compiled
def _strike_off(edges: IntArray, lists: IntArray, spans: IntArray, vertex: int, place: int) -> None:
    """Fills a place of a vertex's list with its last edge."""
    last = spans[vertex, 1] - 1
    edge = lists[last, EDGE]
    lists[place, EDGE], lists[place, BEYOND] = edge, lists[last, BEYOND]
    edges[edge, TAIL_PLACE if edges[edge, TAIL] == vertex else HEAD_PLACE] = place
    spans[vertex, 1] = last


@compiled
def _cancel(
    edges: IntArray, walk: IntArray, ends: tuple[int, int], others: IntArray, drift: FloatArray
) -> int:
    """Pushes along a cycle, part of a walk; returns the place of the first edge made whole."""
    first, last = ends
    least, most = ONE, 0
    for place in range(first, last + 1):
        least = min(least, walk[_ROOM, place])
        most = max(most, walk[_ROOM, place])
    onwards, back = least, most - ONE
    push = onwards if walk[_COST, last + 1] <= walk[_COST, first] else back
    if len(others):
        price = (walk[_COST, last + 1] - walk[_COST, first]) / ONE
        cycle = walk[:, first : last + 1]
        push = _steered(edges, cycle, others, drift, (onwards, back), price)
    kept = last
    for place in range(last, first - 1, -1):
        walk[_ROOM, place] -= push
        if _is_whole(walk[_ROOM, place]):
            kept = place
    return kept


@compiled
def _steered(  # noqa: PLR0917  compiled code takes plain arrays
    edges: IntArray,
    cycle: IntArray,
    others: IntArray,
    drift: FloatArray,
    pushes: tuple[int, int],
    price: float,
) -> int:
    """Chooses the push that leaves groups and the other margins nearer to their real values."""
    linear, square = _steepness(edges, cycle, others, drift)
    linear, square = price + DRIFT_PRICE * linear, DRIFT_PRICE * square
    one, two = pushes[0] / ONE, pushes[1] / ONE
    push = (
        pushes[0] if one * (linear + one * square) <= two * (linear + two * square) else pushes[1]
    )
    ordinary = len(edges) - others.shape[1]
    for place in range(cycle.shape[1]):
        group = cycle[_EDGE, place] - ordinary
        for margin in range(len(others) if group >= 0 else 0):
            change = push / ONE * _direction(edges, cycle, place)
            drift[_DRIFT, others[margin, group]] += change
    return push


@compiled
def _steepness(
    edges: IntArray, cycle: IntArray, others: IntArray, drift: FloatArray
) -> tuple[float, float]:
    """Returns what a push does to the sum of squared drifts: the linear and the square term."""
    linear, square = 0.0, 0.0
    ordinary = len(edges) - others.shape[1]
    for place in range(cycle.shape[1]):
        group = cycle[_EDGE, place] - ordinary
        sign = _direction(edges, cycle, place)
        for margin in range(len(others) if group >= 0 else 0):
            element = others[margin, group]
            linear += 2 * sign * drift[_DRIFT, element]
            square += 2 * sign * drift[_STEPS, element] + 1
            drift[_STEPS, element] += sign
    for place in range(cycle.shape[1]):
        group = cycle[_EDGE, place] - ordinary
        for margin in range(len(others) if group >= 0 else 0):
            drift[_STEPS, others[margin, group]] = 0
    return linear, square


@compiled
def _direction(edges: IntArray, walk: IntArray, place: int) -> int:
    """Returns 1 if a walk follows an edge, -1 if it goes against it."""
    return 1 if edges[walk[_EDGE, place], TAIL] == walk[_VERTEX, place] else -1


@compiled
def _is_whole(flow: int) -> bool:
    return flow == 0 or flow == ONE  # noqa: PLR1714  (a tuple is slower in compiled code)
