"""The links of a matched path, and the seconds at which each is entered and left."""

from typing import NamedTuple

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.matching.candidates import Trellis
from hushway.families.links.matching.dijkstra import Aim, Balls, LinkGraph, Search, ball_around
from hushway.families.links.matching.viterbi import ALONG, TURN
from hushway.numerics.compiled import Rows, compiled_for_threads

# A link of which less than this many metres were travelled was touched, not used.
_TOUCHED = 1.0


class Path(NamedTuple):
    """The links of one stretch; they grow by `with_room`.

    Attributes:
        link: Rows of links in order: the link, and the seconds at which it is entered and left.
        step: The links of the latest transition, backwards.
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
    trellis: Trellis, layer: int, roads: tuple[LinkGraph, Search, Balls], step: IntArray
) -> int:
    """Writes the links of a transition backwards, without the first; returns how many."""
    graph, search, _ = roads
    target = trellis.candidate[trellis.layer[layer].chosen]
    if target.kind == ALONG:
        return 0
    if target.kind == TURN:
        step[0] = target.link
        return 1
    source = trellis.candidate[target.back]
    search.clock[1] += 1
    search.link[target.link].mark = search.clock[1]
    rest = graph.link[source.link].length - source.offset
    aim = Aim(graph.link[target.link].from_x, graph.link[target.link].from_y, 0.0)
    ball = ball_around(roads, source.link, trellis.layer[layer].bound - rest, 1, aim)
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
    trellis: Trellis,
    first: int,
    roads: tuple[LinkGraph, Search, Balls],
    seconds: FloatArray,
    path: Path,
) -> tuple[Path, int, float]:
    """Follows a stretch from its first layer; returns the path, its size and its last offset."""
    begin = trellis.candidate[trellis.layer[first].chosen]
    offset = begin.offset
    since = seconds[trellis.layer[first].position]
    path.link[0].link = begin.link
    path.link[0].entered = since
    size = 1
    trellis.layer[first].where = 0
    layer = trellis.layer[first].next
    while layer >= 0:
        target = trellis.candidate[trellis.layer[layer].chosen]
        until = seconds[trellis.layer[layer].position]
        count = links_onward(trellis, layer, roads, path.step)
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
        trellis.layer[layer].where = size - 1
        layer = trellis.layer[layer].next
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
    """Appends the links of a transition, entered as if the speed were constant."""
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
        offsets: How far along its first link it begins, and along its last link it ends.
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
