"""Map matching of trip after trip, from positions to links: what one thread does."""

from typing import NamedTuple

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.links.matching.candidates import Trellis, add_forced_layer, add_layer, thin
from hushway.families.links.matching.dijkstra import Balls, LinkGraph, Search
from hushway.families.links.matching.grid_index import Grid, LinkSegments, Nearby, project_onto_link
from hushway.families.links.matching.paths import PATH_ROW, Path, follow, trimmed
from hushway.families.links.matching.traces import HMMParameters, Reason
from hushway.families.links.matching.viterbi import FIRST, backtrack, forward_pass
from hushway.numerics.compiled import Rows, compiled_for_threads

_MATCHED = int(Reason.MATCHED)
_TOO_SHORT = int(Reason.TOO_SHORT)
_OFF_ROAD = int(Reason.OFF_ROAD)
_NO_ROUTE = int(Reason.NO_ROUTE)
_BROKEN = int(Reason.BROKEN)
# A lone position is no movement.
_FEWEST = 2


class RoadIndex(NamedTuple):
    """The network as matching reads it: segments, first of each link, grid and graph."""

    courses: LinkSegments
    first: IntArray
    grid: Grid
    graph: LinkGraph


class Memory(NamedTuple):
    """What one thread writes to."""

    found: Nearby
    search: Search
    balls: Balls
    trellis: Trellis
    path: Path


class Positions(NamedTuple):
    """The positions of some trips, and the links that they must begin and end on, or -1."""

    start: IntArray
    x: FloatArray
    y: FloatArray
    seconds: FloatArray
    first_link: IntArray
    last_link: IntArray


class Matched(NamedTuple):
    """The matched paths of some trips.

    Attributes:
        trip: Rows of trips: the number of its links (size), and the reason.
        link: Rows of links of all trips, as in a path.
        point_link: The link of each position, or -1.
    """

    trip: Rows
    link: Rows
    fresh: BoolArray
    point_link: IntArray


TRIP_ROW = np.dtype([("size", np.int64), ("reason", np.int64)])


@compiled_for_threads
def match_trips(ground: RoadIndex, memory: Memory, trips: Positions, hmm: HMMParameters) -> Matched:
    """Matches trips one after the other."""
    count, positions = len(trips.start) - 1, len(trips.x)
    trellis, path = memory.trellis, memory.path
    roads = (ground.graph, memory.search, memory.balls)
    out = _nothing(count, positions)
    filled = 0
    for trip in range(count):
        begin, end = trips.start[trip], trips.start[trip + 1]
        if end - begin < _FEWEST:
            out.trip[trip].reason = _TOO_SHORT
            continue
        forced = (trips.first_link[trip], trips.last_link[trip])
        xy = (trips.x[begin:end], trips.y[begin:end])
        layers = _layers(ground, memory, xy, forced, hmm)
        forward_pass(trellis, layers, roads, hmm)
        backtrack(trellis, layers)
        before, stretches, lone, row = filled, 0, 0, 0
        for layer in range(layers):
            if trellis.layer[layer].previous != FIRST:
                continue
            if trellis.layer[layer].next < 0:
                # A few at an end of a trip are outliers, unless a trip must begin or end there.
                row += 1
                if row > hmm.skipped or trellis.layer[layer].forced:
                    lone += 1
                continue
            stretches += 1
            row = 0
            path, size, ends = follow(trellis, layer, roads, trips.seconds[begin:end], path)
            begin_on = trellis.candidate[trellis.layer[layer].chosen]
            length = ground.graph.link[begin_on.link].length
            # The link that a trip must begin or end on stays, however little of it is used.
            may = (
                layer > 0 or forced[0] < 0,
                forced[1] < 0 or _last_position(trellis, layer) < end - begin - 1,
            )
            used = trimmed(path.link, size, (begin_on.offset, ends), length, may)
            out, filled = _written(out, filled, path, used)
            _assign_positions(
                ground, trellis, xy, (layer, used), (path, out.point_link[begin:end], hmm)
            )
        out.trip[trip].size = filled - before
        out.trip[trip].reason = _reason(layers, stretches, lone)
    return Matched(out.trip, out.link[:filled].copy(), out.fresh[:filled].copy(), out.point_link)


@compiled_for_threads
def _nothing(trips: int, positions: int) -> Matched:
    room = positions + 64
    return Matched(
        np.zeros(trips, dtype=TRIP_ROW),
        np.zeros(room, dtype=PATH_ROW),
        np.zeros(room, dtype=np.bool_),
        np.full(positions, -1, dtype=np.int64),
    )


@compiled_for_threads
def _written(out: Matched, filled: int, path: Path, used: tuple[int, int]) -> tuple[Matched, int]:
    first, last = used
    size = filled + last - first
    if size > len(out.link):
        link = np.zeros(2 * size, dtype=PATH_ROW)
        fresh = np.zeros(2 * size, dtype=np.bool_)
        for i in range(filled):
            link[i], fresh[i] = out.link[i], out.fresh[i]
        out = Matched(out.trip, link, fresh, out.point_link)
    for i in range(first, last):
        out.link[filled + i - first] = path.link[i]
    out.fresh[filled] = True
    return out, size


@compiled_for_threads
def _layers(
    ground: RoadIndex,
    memory: Memory,
    xy: tuple[FloatArray, FloatArray],
    forced: tuple[int, int],
    hmm: HMMParameters,
) -> int:
    """Adds the layers of a trip to the trellis, and returns how many there are."""
    trellis = memory.trellis
    x, y = xy
    thin(trellis, x, y, hmm.spacing)
    layers, last = 0, len(x) - 1
    for i in range(last + 1):
        must = -1
        if i == 0:
            must = forced[0]
        elif i == last:
            must = forced[1]
        if must >= 0:
            add_forced_layer(trellis, layers, (i, x[i], y[i]), (ground.courses, ground.first, must))
            layers += 1
        elif trellis.thinned[i] == 0:
            where = (ground.courses, ground.grid, memory.found)
            if add_layer(trellis, layers, (i, x[i], y[i]), where, hmm):
                layers += 1
    return layers


@compiled_for_threads
def _last_position(trellis: Trellis, layer: int) -> int:
    while trellis.layer[layer].next >= 0:
        layer = trellis.layer[layer].next
    return int(trellis.layer[layer].position)


@compiled_for_threads
def _assign_positions(
    ground: RoadIndex,
    trellis: Trellis,
    xy: tuple[FloatArray, FloatArray],
    stretch: tuple[int, tuple[int, int]],
    to: tuple[Path, IntArray, HMMParameters],
) -> None:
    """Sets the link of each position of a stretch.

    Positions that were thinned out are on the nearest link between their neighbours.
    """
    layer, (first, last) = stretch
    path, point_link, hmm = to
    here = trellis.layer[layer]
    at = min(max(here.where, first), last - 1)
    point_link[here.position] = path.link[at].link
    while here.next >= 0:
        after = trellis.layer[here.next]
        until = min(max(after.where, first), last - 1)
        for i in range(here.position + 1, after.position):
            if trellis.thinned[i] == 0:
                continue
            nearest = hmm.radius
            for place in range(at, until + 1):
                link = path.link[place].link
                _, x, y = project_onto_link(
                    ground.courses, ground.first, link, (xy[0][i], xy[1][i])
                )
                metres = np.hypot(x - xy[0][i], y - xy[1][i])
                if metres < nearest:
                    nearest = metres
                    point_link[i] = link
        point_link[after.position] = path.link[until].link
        here, at = after, until


@compiled_for_threads
def _reason(layers: int, stretches: int, lone: int) -> int:
    if stretches == 0:
        return _OFF_ROAD if layers < _FEWEST else _NO_ROUTE
    return _MATCHED if stretches == 1 and lone == 0 else _BROKEN


# The cheapest way through the candidates of a trip, in stretches where there is none throughout.
#
# Costs are negative logarithms of probabilities, so the cheapest way is the most likely one.
