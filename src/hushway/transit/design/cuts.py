"""How much the riders of each pair can save at the most, as a sum over the arcs that are opened.

Let arcs be open in part, y between 0 and 1, and let a rider be split into parts, one for each way,
so that no more of the rider goes along an arc than is open. The cheapest such split is a
minimum-cost flow. Its dual prices say what opening more of each arc is worth: the pair then costs
`price` - sum `worth` y or more, for EVERY y. These are Benders cuts.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.numerics.compiled import compiled
from hushway.transit.design.problem import DesignProblem

# Arcs that are open by less than this do not carry anybody.
_LITTLE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class PairGraphs:
    """For each pair, a small graph of all that could make it cheaper; every other arc is left out.

    The nodes are the hubs, then the origin, then the destination. Arcs are sorted by pair.

    Attributes:
        riders: Riders of each pair that buses could help.
        without_buses: What they pay if no arc is open.
        most_saved: What each saves if all arcs are open.
        first: Where the arcs of each pair begin, and where the last ones end.
        bus: Its number, hubs * tail + head, if it is a bus arc; -1 otherwise.
    """

    hubs: int
    riders: FloatArray
    without_buses: FloatArray
    most_saved: FloatArray
    first: IntArray
    tail: IntArray
    head: IntArray
    cost: FloatArray
    bus: IntArray

    @property
    def pair(self) -> IntArray:
        """The pair of each arc."""
        return np.repeat(np.arange(len(self.riders)), np.diff(self.first))


@dataclass(frozen=True, kw_only=True, eq=False)
class Cuts:
    """One cut a pair: it saves at most `spare` + sum of `worth` over its arcs, times y.

    Attributes:
        spare: What it saves whatever is open.
        worth: What each of its arcs is worth; 0 on arcs that are not buses.
    """

    spare: FloatArray
    worth: FloatArray

    def saved(self, graphs: PairGraphs, y: FloatArray) -> FloatArray:
        """Returns what each pair can save at most if arcs are open to this part."""
        opened = np.where(graphs.bus >= 0, y[graphs.bus], 0.0)
        pairs = len(graphs.riders)
        return self.spare + np.bincount(graphs.pair, self.worth * opened, minlength=pairs)


def pair_graphs(problem: DesignProblem) -> PairGraphs:
    """Returns the arcs that can help each pair, even if all others were open as well."""
    hubs = len(problem.arc_cost)
    between = problem.between_hubs(problem.may_open)
    reach = np.stack([(problem.to_hub + between[:, k]).min(axis=1) for k in range(hubs)], axis=1)
    leave = np.stack([(problem.from_hub + between[k]).min(axis=1) for k in range(hubs)], axis=1)
    by_arc = reach[:, :, None] + problem.arc_cost + leave[:, None, :]
    useful = problem.may_open & (by_arc < problem.without_buses[:, None, None])
    useful &= (problem.riders > 0)[:, None, None]
    helped = useful.any(axis=(1, 2))
    useful, least = useful[helped], by_arc[helped]
    without = problem.without_buses[helped]
    pair, tail, head = np.nonzero(useful)
    starts = _ends(useful.any(axis=2), problem.to_hub[helped])
    ends = _ends(useful.any(axis=1), problem.from_hub[helped])
    each = np.arange(len(without))
    pairs = np.concatenate([pair, starts[0], ends[0], each])
    order = np.argsort(pairs, kind="stable")
    origin, destination = hubs, hubs + 1
    tails = [tail, np.full(len(starts[0]), origin), ends[1], np.full(len(each), origin)]
    heads = [head, starts[1], np.full(len(ends[0]), destination), np.full(len(each), destination)]
    costs = [problem.arc_cost[tail, head], starts[2], ends[2], without]
    bus = np.full(len(pairs), -1, dtype=np.int64)
    bus[: len(pair)] = tail * hubs + head
    return PairGraphs(
        hubs=hubs,
        riders=problem.riders[helped],
        without_buses=without,
        most_saved=without - np.where(useful, least, np.inf).min(axis=(1, 2), initial=np.inf),
        first=np.searchsorted(pairs[order], np.arange(len(without) + 1)),
        tail=np.concatenate(tails)[order],
        head=np.concatenate(heads)[order],
        cost=np.concatenate(costs)[order],
        bus=bus[order],
    )


def cuts_at(graphs: PairGraphs, y: FloatArray) -> Cuts:
    """Returns the cuts that are exact if arcs are open to this part.

    Args:
        y: The part of each bus arc that is open, by its number.
    """
    room = np.where(graphs.bus >= 0, y[graphs.bus], np.inf)
    spare, worth = np.zeros(len(graphs.riders)), np.zeros(len(graphs.tail))
    nodes = graphs.hubs + 2
    _price_all(nodes, graphs.first, graphs.tail, graphs.head, graphs.cost, room, spare, worth)
    worth[graphs.bus < 0] = 0.0
    return Cuts(spare=spare, worth=worth)


def _ends(used: BoolArray, cost: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Returns the pair, hub and cost of ways to the first hubs of buses, or from the last."""
    pair, hub = np.nonzero(used & np.isfinite(cost))
    return pair, hub, cost[pair, hub]


@compiled
def _price_all(  # noqa: PLR0913, PLR0917 - compiled code takes plain arrays
    nodes: int,
    first: IntArray,
    tail: IntArray,
    head: IntArray,
    cost: FloatArray,
    room: FloatArray,
    spare: FloatArray,
    worth: FloatArray,
) -> None:
    for pair in range(len(first) - 1):
        here = slice(first[pair], first[pair + 1])
        price = _flow_prices(nodes, tail[here], head[here], cost[here], room[here])
        _make_feasible(price, tail[here], head[here], cost[here], room[here])
        without = cost[first[pair + 1] - 1]
        spare[pair] = without - price[nodes - 1]
        for arc in range(first[pair], first[pair + 1]):
            worth[arc] = max(0.0, price[head[arc]] - price[tail[arc]] - cost[arc])


@compiled
def _flow_prices(
    nodes: int, tail: IntArray, head: IntArray, cost: FloatArray, room: FloatArray
) -> FloatArray:
    """Sends one rider along the cheapest ways first; returns what each node costs the last part."""
    flow = np.zeros(len(tail))
    price = np.zeros(nodes)
    came_by = np.zeros(nodes, dtype=np.int64)
    left = 1.0
    # Any prices make a true cut: the limit only stops rounding from going round for ever.
    for _ in range(4 * len(tail)):
        _label(price, came_by, tail, head, cost, room, flow)
        sent = _push(left, came_by, tail, head, room, flow)
        left -= sent
        if sent <= 0 or left <= _LITTLE:
            break
    return price


@compiled
def _label(  # noqa: PLR0917 - compiled code takes plain arrays
    price: FloatArray,
    came_by: IntArray,
    tail: IntArray,
    head: IntArray,
    cost: FloatArray,
    room: FloatArray,
    flow: FloatArray,
) -> None:
    """Finds the cheapest way from the origin to every node, where flow may also be taken back."""
    origin = len(price) - 2
    price[:] = np.inf
    price[origin] = 0.0
    # Less than this is rounding, and would send labels round in circles.
    step = 1e-10 * cost[len(cost) - 1]
    for _ in range(len(price)):
        changed = False
        for arc in range(len(tail)):
            if room[arc] - flow[arc] > _LITTLE:
                through = price[tail[arc]] + cost[arc]
                if through < price[head[arc]] - step:
                    price[head[arc]] = through
                    came_by[head[arc]] = arc
                    changed = True
            if flow[arc] > _LITTLE:
                through = price[head[arc]] - cost[arc]
                if through < price[tail[arc]] - step:
                    price[tail[arc]] = through
                    came_by[tail[arc]] = arc
                    changed = True
        if not changed:
            break


@compiled
def _push(  # noqa: PLR0917 - compiled code takes plain arrays
    left: float,
    came_by: IntArray,
    tail: IntArray,
    head: IntArray,
    room: FloatArray,
    flow: FloatArray,
) -> float:
    """Sends as much as fits along the way that was found; returns how much.

    It is nothing if rounding has bent the way into a circle.
    """
    origin, destination = len(came_by) - 2, len(came_by) - 1
    fits = left
    node = destination
    for _ in range(len(came_by)):
        if node == origin:
            break
        arc = came_by[node]
        forward = head[arc] == node
        fits = min(fits, room[arc] - flow[arc] if forward else flow[arc])
        node = tail[arc] if forward else head[arc]
    if node != origin:
        return 0.0
    node = destination
    while node != origin:
        arc = came_by[node]
        forward = head[arc] == node
        flow[arc] += fits if forward else -fits
        node = tail[arc] if forward else head[arc]
    return fits


@compiled
def _make_feasible(
    price: FloatArray, tail: IntArray, head: IntArray, cost: FloatArray, room: FloatArray
) -> None:
    """Lowers prices so that no arc without a limit pays: only then is the cut true for every y."""
    origin, destination = len(price) - 2, len(price) - 1
    for arc in range(len(tail)):
        if room[arc] == np.inf and tail[arc] == origin:
            price[head[arc]] = min(price[head[arc]], cost[arc])
    for arc in range(len(tail)):
        if room[arc] == np.inf and head[arc] == destination:
            price[destination] = min(price[destination], price[tail[arc]] + cost[arc])
    # Nobody pays more for a hub than for the destination itself; this keeps what was just made true
    # and spares arcs that nobody takes a worth.
    for node in range(len(price)):
        price[node] = min(price[node], price[destination])
