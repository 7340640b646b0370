"""The most likely path through the candidates of a trip: Viterbi's algorithm on an HMM.

Costs are negative logarithms of probabilities: emissions are Gaussian in the distance of a position
from its link, transitions exponential in the difference between route and straight line (Newson and
Krumm 2009). Where there is no path through all layers, there are several stretches.
"""

from typing import Any, Final

import numpy as np

from hushway.families.links.matching.candidates import Trellis
from hushway.families.links.matching.dijkstra import Aim, Balls, LinkGraph, Search, ball_around
from hushway.families.links.matching.traces import HMMParameters
from hushway.numerics.compiled import Rows, compiled_for_threads

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
    trellis: Trellis,
    layers: tuple[int, int],
    roads: tuple[LinkGraph, Search, Balls],
    hmm: HMMParameters,
) -> bool:
    """Relaxes all transitions from one layer to another; says whether there are any.

    Long routes are searched only if there are no short ones.
    """
    before, after = trellis.layer[layers[0]], trellis.layer[layers[1]]
    straight = np.hypot(after.x - before.x, after.y - before.y)
    if straight > hmm.longest_step:
        return False
    most = max(hmm.most_detour * straight, straight + hmm.slack)
    if before.forced or after.forced:
        # A forced end says nothing about detours: it is connected if it can be.
        most = max(most, hmm.longest_step)
    bound = min(straight + _FIRST_SLACK, most)
    while True:
        after.bound = bound
        if _step(trellis.candidate, (before, after), straight, roads, hmm):
            return True
        if bound >= most:
            return False
        bound = min(2.0 * bound, most)


@compiled_for_threads
def leap(
    trellis: Trellis,
    layers: tuple[int, int],
    roads: tuple[LinkGraph, Search, Balls],
    hmm: HMMParameters,
) -> bool:
    """Does as `advance`, over positions that are left out: only if the route is almost straight."""
    before, after = trellis.layer[layers[0]], trellis.layer[layers[1]]
    if before.forced or after.forced:
        return advance(trellis, layers, roads, hmm)
    straight = np.hypot(after.x - before.x, after.y - before.y)
    if straight > hmm.longest_step:
        return False
    after.bound = straight + _EASY_SLACK
    return _step(trellis.candidate, (before, after), straight, roads, hmm)


@compiled_for_threads
def _step(
    candidates: Rows,
    layers: tuple[Any, Any],
    straight: float,
    roads: tuple[LinkGraph, Search, Balls],
    hmm: HMMParameters,
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
            _stay_on_street(candidates, i, straight, roads, hmm)
            _go_onward(candidates, i, (straight, after.bound), roads, (after, hmm.beta, aim))
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
    hmm: HMMParameters,
) -> None:
    graph, search, _ = roads
    stamp = search.clock[1]
    link, offset = candidates[i].link, candidates[i].offset
    if search.link[link].mark == stamp:
        j = search.link[link].wanted
        ahead = candidates[j].offset - offset
        if ahead >= 0.0:
            _relax(candidates, i, j, abs(ahead - straight) / hmm.beta, ALONG)
        elif -ahead <= _BACKWARDS * hmm.sigma:
            # Not a movement but an error of the positions, and an unlikely one.
            _relax(candidates, i, j, (straight - ahead) / hmm.beta, ALONG)
    other = graph.link[link].opposite
    if other >= 0 and search.link[other].mark == stamp:
        j = search.link[other].wanted
        share = 1.0 - candidates[j].offset / graph.link[other].length
        route = abs(graph.link[link].length * share - offset) + hmm.turn
        _relax(candidates, i, j, abs(route - straight) / hmm.beta, TURN)


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
            _relax(candidates, i, j, abs(route - straight) / beta, ONWARD)
        missing -= 1
        if missing == 0:
            break


@compiled_for_threads
def _relax(candidates: Rows, i: int, j: int, cost: float, kind: int) -> None:
    """Takes a transition if it is the cheapest so far; of equal ones the first stays."""
    total = candidates[i].total + cost + candidates[j].emission
    if total < candidates[j].total:
        candidates[j].total = total
        candidates[j].back = i
        candidates[j].kind = kind


FIRST = -1
LEFT_OUT = -2


@compiled_for_threads
def forward_pass(
    trellis: Trellis, layers: int, roads: tuple[LinkGraph, Search, Balls], hmm: HMMParameters
) -> None:
    """Runs the forward pass over all layers, in as few stretches as possible.

    Where there is no transition from one layer to the next, a few layers on either side are left
    out if there is an almost straight one over them: they are outliers.
    """
    before, layer = -1, 0
    while layer < layers:
        last, reached = -1, layer
        if before >= 0:
            last, reached = _transition(trellis, (before, layer, layers), roads, hmm)
        if last < 0:
            trellis.layer[reached].previous = FIRST
            for j in range(trellis.layer[reached].first, trellis.layer[reached].last):
                trellis.candidate[j].total = trellis.candidate[j].emission
                trellis.candidate[j].back = -1
        else:
            for skipped in range(last + 1, reached):
                trellis.layer[skipped].previous = LEFT_OUT
            trellis.layer[reached].previous = last
        before, layer = reached, reached + 1


@compiled_for_threads
def _transition(
    trellis: Trellis,
    places: tuple[int, int, int],
    roads: tuple[LinkGraph, Search, Balls],
    hmm: HMMParameters,
) -> tuple[int, int]:
    """Returns the layers that a transition connects, as near as possible; -1 and the next if none.

    Either may be the outlier: the layer that is not reached, or the last that was.
    """
    before, layer, layers = places
    if advance(trellis, (before, layer), roads, hmm):
        return before, layer
    for skipped in range(1, hmm.skipped + 1):
        last = before
        for after in range(layer + skipped, layer - 1, -1):
            # Layers that were left out before count too.
            near = after < layers and after - last <= hmm.skipped + 1
            if near and leap(trellis, (last, after), roads, hmm):
                return last, after
            last = trellis.layer[last].previous
            if last < 0:
                break
    return -1, layer


@compiled_for_threads
def backtrack(trellis: Trellis, layers: int) -> None:
    """Chooses a candidate of each layer: the cheapest at the end of a stretch, then backwards."""
    for layer in range(layers):
        trellis.layer[layer].next = -1
    for layer in range(layers - 1, -1, -1):
        here = trellis.layer[layer]
        if here.previous == LEFT_OUT:
            continue
        if here.next < 0:
            here.chosen = here.first
            for j in range(here.first + 1, here.last):
                if trellis.candidate[j].total < trellis.candidate[here.chosen].total:
                    here.chosen = j
        if here.previous >= 0:
            trellis.layer[here.previous].next = layer
            trellis.layer[here.previous].chosen = trellis.candidate[here.chosen].back
