"""The cheapest way through the candidates of a trip, in stretches where there is none throughout.

Costs are negative logarithms of probabilities, so the cheapest way is the most likely one.
"""

from hushway.families.links.matching.balls import Balls
from hushway.families.links.matching.chain import Chain
from hushway.families.links.matching.search import LinkGraph, Search
from hushway.families.links.matching.settings import Beliefs
from hushway.families.links.matching.steps import advance, leap
from hushway.numerics.compiled import compiled_for_threads

FIRST = -1
LEFT_OUT = -2


@compiled_for_threads
def connect(
    chain: Chain, layers: int, roads: tuple[LinkGraph, Search, Balls], beliefs: Beliefs
) -> None:
    """Connects layers to stretches, as few as possible one after the other.

    Where there is no step from one layer to the next, a few layers on either side are left out if
    there is an easy step over them: they are outliers.
    """
    before, layer = -1, 0
    while layer < layers:
        last, reached = -1, layer
        if before >= 0:
            last, reached = _joint(chain, (before, layer, layers), roads, beliefs)
        if last < 0:
            chain.layer[reached].previous = FIRST
            for j in range(chain.layer[reached].first, chain.layer[reached].last):
                chain.candidate[j].total = chain.candidate[j].misfit
                chain.candidate[j].back = -1
        else:
            for skipped in range(last + 1, reached):
                chain.layer[skipped].previous = LEFT_OUT
            chain.layer[reached].previous = last
        before, layer = reached, reached + 1


@compiled_for_threads
def _joint(
    chain: Chain,
    places: tuple[int, int, int],
    roads: tuple[LinkGraph, Search, Balls],
    beliefs: Beliefs,
) -> tuple[int, int]:
    """Returns the layers that a step connects, as near as possible; -1 and the next if none.

    Either may be the outlier: the layer that is not reached, or the last that was.
    """
    before, layer, layers = places
    if advance(chain, (before, layer), roads, beliefs):
        return before, layer
    for skipped in range(1, beliefs.skipped + 1):
        last = before
        for after in range(layer + skipped, layer - 1, -1):
            # Layers that were left out before count too.
            near = after < layers and after - last <= beliefs.skipped + 1
            if near and leap(chain, (last, after), roads, beliefs):
                return last, after
            last = chain.layer[last].previous
            if last < 0:
                break
    return -1, layer


@compiled_for_threads
def choose(chain: Chain, layers: int) -> None:
    """Chooses a candidate of each layer: the cheapest at the end of a stretch, then backwards."""
    for layer in range(layers):
        chain.layer[layer].next = -1
    for layer in range(layers - 1, -1, -1):
        here = chain.layer[layer]
        if here.previous == LEFT_OUT:
            continue
        if here.next < 0:
            here.chosen = here.first
            for j in range(here.first + 1, here.last):
                if chain.candidate[j].total < chain.candidate[here.chosen].total:
                    here.chosen = j
        if here.previous >= 0:
            chain.layer[here.previous].next = layer
            chain.layer[here.previous].chosen = chain.candidate[here.chosen].back
