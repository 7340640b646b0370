"""Trip after trip from positions to links: what one thread does."""

from typing import NamedTuple

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.links.matching.balls import Balls, LinkGraph, Search
from hushway.families.links.matching.chain import Chain, add_forced_layer, add_layer, thin
from hushway.families.links.matching.following import PATH_ROW, Path, advance, follow, leap, trimmed
from hushway.families.links.matching.near import Courses, Found, Grid, place_on_link
from hushway.families.links.matching.traces import Beliefs, Reason
from hushway.numerics.compiled import Rows, compiled_for_threads

_MATCHED = int(Reason.MATCHED)
_TOO_SHORT = int(Reason.TOO_SHORT)
_OFF_ROAD = int(Reason.OFF_ROAD)
_NO_ROUTE = int(Reason.NO_ROUTE)
_BROKEN = int(Reason.BROKEN)
# A lone position is no movement.
_FEWEST = 2


class Ground(NamedTuple):
    """What is read of the roads.

    Attributes:
        courses: Segments of links.
        first: The first segment of each link.
        grid: Where segments are.
        graph: How links follow each other.
    """

    courses: Courses
    first: IntArray
    grid: Grid
    graph: LinkGraph


class Memory(NamedTuple):
    """What one thread writes to."""

    found: Found
    search: Search
    balls: Balls
    chain: Chain
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
    """The ways of some trips.

    Attributes:
        trip: Rows of trips: the number of its links (size), and the reason.
        link: Rows of links of all trips, as in a path.
        fresh: Whether a stretch begins with the link.
        point_link: The link of each position, or -1.
    """

    trip: Rows
    link: Rows
    fresh: BoolArray
    point_link: IntArray


TRIP_ROW = np.dtype([("size", np.int64), ("reason", np.int64)])


@compiled_for_threads
def match_trips(ground: Ground, memory: Memory, trips: Positions, beliefs: Beliefs) -> Matched:
    """Matches trips one after the other."""
    count, positions = len(trips.start) - 1, len(trips.x)
    chain, path = memory.chain, memory.path
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
        layers = _layers(ground, memory, xy, forced, beliefs)
        connect(chain, layers, roads, beliefs)
        choose(chain, layers)
        before, stretches, lone, row = filled, 0, 0, 0
        for layer in range(layers):
            if chain.layer[layer].previous != FIRST:
                continue
            if chain.layer[layer].next < 0:
                # A few at an end of a trip are outliers, unless a trip must begin or end there.
                row += 1
                if row > beliefs.skipped or chain.layer[layer].forced:
                    lone += 1
                continue
            stretches += 1
            row = 0
            path, size, ends = follow(chain, layer, roads, trips.seconds[begin:end], path)
            begin_on = chain.candidate[chain.layer[layer].chosen]
            length = ground.graph.link[begin_on.link].length
            # The link that a trip must begin or end on stays, however little of it is used.
            may = (
                layer > 0 or forced[0] < 0,
                forced[1] < 0 or _last_position(chain, layer) < end - begin - 1,
            )
            used = trimmed(path.link, size, (begin_on.offset, ends), length, may)
            out, filled = _written(out, filled, path, used)
            _say_links(ground, chain, xy, (layer, used), (path, out.point_link[begin:end], beliefs))
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
    ground: Ground,
    memory: Memory,
    xy: tuple[FloatArray, FloatArray],
    forced: tuple[int, int],
    beliefs: Beliefs,
) -> int:
    """Makes the layers of a trip, and returns how many there are."""
    chain = memory.chain
    x, y = xy
    thin(chain, x, y, beliefs.spacing)
    layers, last = 0, len(x) - 1
    for i in range(last + 1):
        must = -1
        if i == 0:
            must = forced[0]
        elif i == last:
            must = forced[1]
        if must >= 0:
            add_forced_layer(chain, layers, (i, x[i], y[i]), (ground.courses, ground.first, must))
            layers += 1
        elif chain.thinned[i] == 0:
            where = (ground.courses, ground.grid, memory.found)
            if add_layer(chain, layers, (i, x[i], y[i]), where, beliefs):
                layers += 1
    return layers


@compiled_for_threads
def _last_position(chain: Chain, layer: int) -> int:
    while chain.layer[layer].next >= 0:
        layer = chain.layer[layer].next
    return int(chain.layer[layer].position)


@compiled_for_threads
def _say_links(
    ground: Ground,
    chain: Chain,
    xy: tuple[FloatArray, FloatArray],
    stretch: tuple[int, tuple[int, int]],
    to: tuple[Path, IntArray, Beliefs],
) -> None:
    """Says for each position of a stretch which link of the way it is on.

    Positions that were thinned out are on the nearest link between their neighbours.
    """
    layer, (first, last) = stretch
    path, point_link, beliefs = to
    here = chain.layer[layer]
    at = min(max(here.where, first), last - 1)
    point_link[here.position] = path.link[at].link
    while here.next >= 0:
        after = chain.layer[here.next]
        until = min(max(after.where, first), last - 1)
        for i in range(here.position + 1, after.position):
            if chain.thinned[i] == 0:
                continue
            nearest = beliefs.radius
            for place in range(at, until + 1):
                link = path.link[place].link
                _, x, y = place_on_link(ground.courses, ground.first, link, (xy[0][i], xy[1][i]))
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
