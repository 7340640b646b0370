"""The links of a way and the seconds at which they are entered and left."""

from typing import Any, Final, NamedTuple

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.matching.balls import Aim, Balls, LinkGraph, Search, ball_around
from hushway.families.links.matching.chain import Chain
from hushway.families.links.matching.traces import Beliefs
from hushway.numerics.compiled import Rows, compiled_for_threads

# A link of which less than this many metres were travelled was touched, not used.
_TOUCHED = 1.0


class Path(NamedTuple):
    """The links of one stretch; they grow by `with_room`.

    Attributes:
        link: Rows of links in order: the link, and the seconds at which it is entered and left.
        step: The links of the latest step, backwards.
    """

    link: Rows
    step: IntArray


PATH_ROW = np.dtype([("link", np.int64), ("entered", np.float64), ("left", np.float64)])


def empty_path(links: int) -> Path:
    """Returns memory for stretches in a network of so many links."""
    return Path(link=np.zeros(1024, dtype=PATH_ROW), step=np.zeros(links + 1, dtype=np.int64))


@compiled_for_threads
def with_room(path: Path, size: int) -> Path:
    """Returns a path with the same links and room for `size` of them."""
    if size <= len(path.link):
        return path
    link = np.zeros(2 * size, dtype=PATH_ROW)
    for i in range(len(path.link)):
        link[i] = path.link[i]
    return Path(link, path.step)


@compiled_for_threads
def links_onward(
    chain: Chain, layer: int, roads: tuple[LinkGraph, Search, Balls], step: IntArray
) -> int:
    """Finds the links that a step takes to a layer, without the one it begins on.

    They are written backwards; returns how many.
    """
    graph, search, _ = roads
    target = chain.candidate[chain.layer[layer].chosen]
    if target.kind == ALONG:
        return 0
    if target.kind == TURN:
        step[0] = target.link
        return 1
    source = chain.candidate[target.back]
    search.clock[1] += 1
    search.link[target.link].mark = search.clock[1]
    rest = graph.link[source.link].length - source.offset
    aim = Aim(graph.link[target.link].from_x, graph.link[target.link].from_y, 0.0)
    ball = ball_around(roads, source.link, chain.layer[layer].bound - rest, 1, aim)
    at = ball.first
    while ball.reached[at].link != target.link:
        at += 1
    count = 0
    while True:
        step[count] = ball.reached[at].link
        count += 1
        if ball.reached[at].before < 0:
            return count
        at = ball.first + ball.reached[at].before


@compiled_for_threads
def follow(
    chain: Chain,
    first: int,
    roads: tuple[LinkGraph, Search, Balls],
    seconds: FloatArray,
    path: Path,
) -> tuple[Path, int, float]:
    """Follows a stretch from its first layer; returns the path, its size and its last offset."""
    begin = chain.candidate[chain.layer[first].chosen]
    offset = begin.offset
    since = seconds[chain.layer[first].position]
    path.link[0].link = begin.link
    path.link[0].entered = since
    size = 1
    chain.layer[first].where = 0
    layer = chain.layer[first].next
    while layer >= 0:
        target = chain.candidate[chain.layer[layer].chosen]
        until = seconds[chain.layer[layer].position]
        count = links_onward(chain, layer, roads, path.step)
        path = with_room(path, size + count)
        if target.kind == ALONG:
            offset = max(offset, target.offset)
        else:
            if target.kind == TURN:
                _take(path.link, size, target.link, (since + until) / 2)
            else:
                _take_all(
                    path, (size, count), roads[0].link, (offset, target.offset), (since, until)
                )
            offset = target.offset
        size += count
        since = until
        chain.layer[layer].where = size - 1
        layer = chain.layer[layer].next
    path.link[size - 1].left = since
    return path, size, offset


@compiled_for_threads
def _take_all(
    path: Path,
    places: tuple[int, int],
    links: Rows,
    offsets: tuple[float, float],
    seconds: tuple[float, float],
) -> None:
    """Takes the links of a step, as if the speed were the same all along."""
    size, count = places
    gone = max(links[path.link[size - 1].link].length - offsets[0], 0.0)
    whole = gone + offsets[1]
    for i in range(1, count):
        whole += links[path.step[i]].length
    for i in range(count):
        share = min(gone / whole, 1.0) if whole > 0.0 else 0.0
        link = path.step[count - 1 - i]
        _take(path.link, size + i, link, seconds[0] + share * (seconds[1] - seconds[0]))
        gone += links[link].length


@compiled_for_threads
def _take(path: Rows, size: int, link: int, second: float) -> None:
    path[size - 1].left = second
    path[size].link = link
    path[size].entered = second


@compiled_for_threads
def trimmed(
    path: Rows, size: int, offsets: tuple[float, float], length: float, may: tuple[bool, bool]
) -> tuple[int, int]:
    """Returns the range of links that were used and not only touched at the ends.

    Args:
        path: The links of the stretch.
        size: How many there are.
        offsets: How far along its first link it begins, and along its last link it ends.
        length: Length of its first link.
        may: Whether the first link may be dropped, and the last.
    """
    first, last = 0, size
    if may[1] and size > 1 and offsets[1] <= _TOUCHED:
        last -= 1
        path[last - 1].left = path[last].left
    if may[0] and last > 1 and length - offsets[0] <= _TOUCHED:
        first += 1
        path[first].entered = path[0].entered
    return first, last


# Kinds of steps: along the same link, turning round in the middle of a street, or over its end.
ALONG: Final = 0
TURN: Final = 1
ONWARD: Final = 2

# Routes are first looked for up to this much more than the straight line.
_FIRST_SLACK = 100.0
# A step that leaves out a position may be this much longer than the straight line. More would
# bridge roads that are missing on the map, by detours that nobody drove.
_EASY_SLACK = 50.0
# Positions may seem to go back on a link by this many standard deviations.
_BACKWARDS = 4.0


@compiled_for_threads
def advance(
    chain: Chain,
    layers: tuple[int, int],
    roads: tuple[LinkGraph, Search, Balls],
    beliefs: Beliefs,
) -> bool:
    """Finds the cheapest ways from one layer to another; says whether there are any.

    Long routes are looked for only if there are no short ones.
    """
    before, after = chain.layer[layers[0]], chain.layer[layers[1]]
    straight = np.hypot(after.x - before.x, after.y - before.y)
    if straight > beliefs.longest_step:
        return False
    most = max(beliefs.most_detour * straight, straight + beliefs.slack)
    if before.forced or after.forced:
        # A forced end says nothing about detours: it is connected if it can be.
        most = max(most, beliefs.longest_step)
    bound = min(straight + _FIRST_SLACK, most)
    while True:
        after.bound = bound
        if _step(chain.candidate, (before, after), straight, roads, beliefs):
            return True
        if bound >= most:
            return False
        bound = min(2.0 * bound, most)


@compiled_for_threads
def leap(
    chain: Chain,
    layers: tuple[int, int],
    roads: tuple[LinkGraph, Search, Balls],
    beliefs: Beliefs,
) -> bool:
    """Does as `advance`, over positions that are left out: only if the route is almost straight."""
    before, after = chain.layer[layers[0]], chain.layer[layers[1]]
    if before.forced or after.forced:
        return advance(chain, layers, roads, beliefs)
    straight = np.hypot(after.x - before.x, after.y - before.y)
    if straight > beliefs.longest_step:
        return False
    after.bound = straight + _EASY_SLACK
    return _step(chain.candidate, (before, after), straight, roads, beliefs)


@compiled_for_threads
def _step(
    candidates: Rows,
    layers: tuple[Any, Any],
    straight: float,
    roads: tuple[LinkGraph, Search, Balls],
    beliefs: Beliefs,
) -> bool:
    before, after = layers
    search = roads[1]
    search.clock[1] += 1
    for j in range(after.first, after.last):
        search.link[candidates[j].link].mark = search.clock[1]
        search.link[candidates[j].link].wanted = j
        candidates[j].total = np.inf
    aim = _aim(candidates, after, roads[0].link)
    for i in range(before.first, before.last):
        if candidates[i].total < np.inf:
            _stay_on_street(candidates, i, straight, roads, beliefs)
            _go_onward(candidates, i, (straight, after.bound), roads, (after, beliefs.beta, aim))
    reached = False
    for j in range(after.first, after.last):
        reached |= candidates[j].total < np.inf
    return reached


@compiled_for_threads
def _aim(candidates: Rows, layer: Any, links: Rows) -> Aim:
    """Returns where the candidates of a position begin."""
    furthest = 0.0
    for j in range(layer.first, layer.last):
        link = links[candidates[j].link]
        furthest = max(furthest, np.hypot(link.from_x - layer.x, link.from_y - layer.y))
    return Aim(layer.x, layer.y, furthest)


@compiled_for_threads
def _stay_on_street(
    candidates: Rows,
    i: int,
    straight: float,
    roads: tuple[LinkGraph, Search, Balls],
    beliefs: Beliefs,
) -> None:
    graph, search, _ = roads
    stamp = search.clock[1]
    link, offset = candidates[i].link, candidates[i].offset
    if search.link[link].mark == stamp:
        j = search.link[link].wanted
        ahead = candidates[j].offset - offset
        if ahead >= 0.0:
            _offer(candidates, i, j, abs(ahead - straight) / beliefs.beta, ALONG)
        elif -ahead <= _BACKWARDS * beliefs.sigma:
            # Not a movement but an error of the positions, and an unlikely one.
            _offer(candidates, i, j, (straight - ahead) / beliefs.beta, ALONG)
    other = graph.link[link].opposite
    if other >= 0 and search.link[other].mark == stamp:
        j = search.link[other].wanted
        share = 1.0 - candidates[j].offset / graph.link[other].length
        route = abs(graph.link[link].length * share - offset) + beliefs.turn
        _offer(candidates, i, j, abs(route - straight) / beliefs.beta, TURN)


@compiled_for_threads
def _go_onward(
    candidates: Rows,
    i: int,
    metres: tuple[float, float],
    roads: tuple[LinkGraph, Search, Balls],
    to: tuple[Any, float, Aim],
) -> None:
    graph, search, _ = roads
    straight, bound = metres
    layer, beta, aim = to
    rest = graph.link[candidates[i].link].length - candidates[i].offset
    if rest > bound:
        return
    missing = layer.last - layer.first
    ball = ball_around(roads, candidates[i].link, bound - rest, missing, aim)
    for at in range(ball.first, ball.last):
        begins = ball.reached[at].metres
        if begins - graph.dearest_turn > bound - rest:
            break
        link = ball.reached[at].link
        if search.link[link].mark != search.clock[1]:
            continue
        j = search.link[link].wanted
        route = rest + begins + candidates[j].offset
        if route <= bound:
            _offer(candidates, i, j, abs(route - straight) / beta, ONWARD)
        missing -= 1
        if missing == 0:
            break


@compiled_for_threads
def _offer(candidates: Rows, i: int, j: int, cost: float, kind: int) -> None:
    """Takes a step if it is the cheapest so far; of equal ones the first stays."""
    total = candidates[i].total + cost + candidates[j].misfit
    if total < candidates[j].total:
        candidates[j].total = total
        candidates[j].back = i
        candidates[j].kind = kind
