"""What was found around the ends of links, kept for the next trip that comes along."""

from typing import NamedTuple

import numpy as np

from hushway.arrays import IntArray
from hushway.families.links.matching.search import LinkGraph, Search, reach, reached_rows
from hushway.families.links.public.roads import RoadNetwork
from hushway.numerics.compiled import compiled_for_threads
from hushway.numerics.records import Rows, rows

# Balls come in few sizes, so that the next step of a trip finds the one it needs.
_SMALLEST = 150.0
_LARGEST = 1200.0
# Sixteen bytes each: 48 MB for each thread.
_ROWS = 3_000_000


class Balls(NamedTuple):
    """Links around the ends of links.

    Attributes:
        of_link: Rows of links: how far the ball of each goes, -1 if it has none (bound); where it
            begins (first) and ends (last).
        reached: What searches reached, all balls in a row. The slots of the links before are
            counted within their ball.
        filled: How many rows are taken.
    """

    of_link: Rows
    reached: Rows
    filled: IntArray


class Ball(NamedTuple):
    """One ball: some rows of what searches reached."""

    first: int
    last: int
    reached: Rows


def no_balls(roads: RoadNetwork) -> Balls:
    """Returns memory for balls."""
    of_link = rows(roads.links, bound=np.float64, first=np.int64, last=np.int64)
    of_link["bound"] = -1.0
    return Balls(
        of_link=of_link,
        reached=reached_rows(max(_ROWS, roads.links)),
        filled=np.zeros(1, dtype=np.int64),
    )


@compiled_for_threads
def ball_around(
    roads: tuple[LinkGraph, Search, Balls], source: int, bound: float, targets: int
) -> Ball:
    """Returns the links within a bound of a link's end, and perhaps more.

    A ball that is too large to keep holds only what leads to the marked links.
    """
    graph, search, balls = roads
    if bound > _LARGEST:
        return Ball(0, reach(graph, search, source, bound, targets), search.reached)
    if balls.of_link[source].bound < bound:
        size = _SMALLEST
        while size < bound:
            size *= 2.0
        _keep(balls, source, size, search.reached[: reach(graph, search, source, size, 0)])
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
