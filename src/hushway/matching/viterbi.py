"""The cheapest way through the candidates of a trip, in stretches where there is none throughout.

Costs are negative logarithms of probabilities, so the cheapest way is the most likely one.
"""

from hushway.fitting.compiled import compiled_for_threads
from hushway.matching.balls import Balls
from hushway.matching.chain import Chain
from hushway.matching.search import LinkGraph, Search
from hushway.matching.settings import Beliefs
from hushway.matching.steps import advance

FIRST = -1
LEFT_OUT = -2


@compiled_for_threads
def connect(
    chain: Chain, layers: int, roads: tuple[LinkGraph, Search, Balls], beliefs: Beliefs
) -> None:
    """Connects layers to stretches, as few as possible one after the other.

    A layer that cannot be reached is left out if one of the next few can be: it is an outlier.
    """
    before, layer = -1, 0
    while layer < layers:
        reached = -1
        if before >= 0:
            for after in range(layer, min(layer + 1 + beliefs.skipped, layers)):
                if advance(chain, (before, after), roads, beliefs):
                    reached = after
                    break
        if reached < 0:
            chain.layer[layer].previous = FIRST
            for j in range(chain.layer[layer].first, chain.layer[layer].last):
                chain.candidate[j].total = chain.candidate[j].misfit
                chain.candidate[j].back = -1
            before = layer
        else:
            for skipped in range(layer, reached):
                chain.layer[skipped].previous = LEFT_OUT
            chain.layer[reached].previous = before
            before = reached
        layer = before + 1


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
