"""From the candidates of one position to those of the next."""

from typing import Any, Final

import numpy as np

from hushway.families.links.matching.balls import Balls, ball_around
from hushway.families.links.matching.chain import Chain
from hushway.families.links.matching.search import LinkGraph, Search
from hushway.families.links.matching.settings import Beliefs
from hushway.numerics.compiled import compiled_for_threads
from hushway.numerics.records import Rows

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
    for i in range(before.first, before.last):
        if candidates[i].total < np.inf:
            _stay_on_street(candidates, i, straight, roads, beliefs)
            _go_onward(candidates, i, (straight, after.bound), roads, (after, beliefs.beta))
    reached = False
    for j in range(after.first, after.last):
        reached |= candidates[j].total < np.inf
    return reached


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
    to: tuple[Any, float],
) -> None:
    graph, search, _ = roads
    straight, bound = metres
    layer, beta = to
    rest = graph.link[candidates[i].link].length - candidates[i].offset
    if rest > bound:
        return
    missing = layer.last - layer.first
    ball = ball_around(roads, candidates[i].link, bound - rest, missing)
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
