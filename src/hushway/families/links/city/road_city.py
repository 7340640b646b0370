"""A synthetic city of roads: a street grid with avenues, rings, radials, a river and dead ends.

It lies in the open Atlantic, so that nobody mistakes it for a real place. See
docs/researchers/cities.md.
"""

import math
from dataclasses import replace
from typing import Final

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import PlanError
from hushway.families.links.city.grid import BLOCK_X_M, BLOCK_Y_M, Streets, street_grid
from hushway.families.links.public.roads import RoadNetwork
from hushway.geography.areas import Plane
from hushway.numerics.chance import generator

FEWEST_LINKS: Final = 1_000
MOST_LINKS: Final = 300_000

_MIDDLE = (-30.0, 45.0)
_STREAM = 100

# Links that come of one corner of the grid, and of one line across it, where rings and radials are:
# measured on networks of all sizes.
_LINKS_OF_CORNER, _LINKS_OF_LINE = 3.77, 7.1

# By class, from 1 on.
_SPEED_KMH = np.array([np.nan, 100.0, 60.0, 50.0, 40.0, 30.0])
_LANES = np.array([np.nan, 3.0, 2.0, 2.0, 1.0, 1.0])

_METRES_OF_LAT = 111_195.0
_DECIMALS = 7


def road_city(
    seed: int, *, links: int = 50_000, middle: tuple[float, float] = _MIDDLE
) -> RoadNetwork:
    """Returns a strongly connected road network of about so many links.

    Args:
        links: About how many directed links, from 1,000 to 300,000.
        middle: Longitude and latitude of its middle.

    Raises:
        PlanError: The seed or the number of links is out of range.
    """
    if seed < 0:
        raise PlanError("A seed cannot be negative.", advice="Give 0 or any larger whole number.")
    if not FEWEST_LINKS <= links <= MOST_LINKS:
        raise PlanError(
            f"The city cannot have {links} links.",
            advice=f"Give a number from {FEWEST_LINKS:,} to {MOST_LINKS:,}.",
        )
    rng = generator(seed, _STREAM)
    corners = _corners(links)
    columns = round(math.sqrt(corners * BLOCK_Y_M / BLOCK_X_M))
    streets = with_rings(street_grid(columns, round(corners / columns), rng))
    return _network(_connected(with_nodes_between(streets, rng)), middle)


def _corners(links: int) -> float:
    """Returns how many corners of the grid give about so many links."""
    root = math.sqrt(_LINKS_OF_LINE**2 + 4 * _LINKS_OF_CORNER * links)
    return ((root - _LINKS_OF_LINE) / (2 * _LINKS_OF_CORNER)) ** 2


def _connected(streets: Streets) -> Streets:
    """Returns the largest part in which every node can be reached from every other."""
    both = ~streets.one_way
    tail = np.concatenate([streets.tail, streets.head[both]])
    head = np.concatenate([streets.head, streets.tail[both]])
    nodes = len(streets.x)
    graph = coo_array((np.ones(len(tail), dtype=np.int8), (tail, head)), shape=(nodes, nodes))
    _, part = connected_components(graph.tocsr(), directed=True, connection="strong")
    kept = part == np.bincount(part).argmax()
    inside = streets.only(kept[streets.tail] & kept[streets.head])
    number = np.cumsum(kept) - 1
    return replace(
        inside,
        x=inside.x[kept],
        y=inside.y[kept],
        tail=number[inside.tail].astype(np.int64),
        head=number[inside.head].astype(np.int64),
    )


def _network(streets: Streets, middle: tuple[float, float]) -> RoadNetwork:
    """Returns the streets as links: one for each direction in which they may be driven."""
    count = len(streets)
    street = np.concatenate([np.arange(count), np.flatnonzero(~streets.one_way)]).astype(np.int64)
    back = np.arange(len(street)) >= count
    # The two directions of a street stand next to each other.
    order = np.lexsort((back, street))
    street, back = street[order], back[order]
    course, x, y = courses(streets)
    start, lon, lat = _driven(street, back, course, *_on_earth(x, y, middle))
    node_lon, node_lat = _on_earth(streets.x, streets.y, middle)
    number = np.arange(len(node_lon)).astype(str)
    road_class = streets.road_class[street]
    ends = streets.tail[street], streets.head[street]
    return RoadNetwork(
        node_id=np.char.add("n", number),
        node_lon=node_lon,
        node_lat=node_lat,
        link_id=np.char.add(street.astype(str), np.where(back, ":b", ":f")),
        tail=np.where(back, ends[1], ends[0]),
        head=np.where(back, ends[0], ends[1]),
        length=_lengths(start, lon, lat, middle),
        speed=_SPEED_KMH[road_class],
        lanes=_LANES[road_class],
        road_class=road_class,
        street=street,
        name=streets.name[street],
        start=start,
        lon=lon,
        lat=lat,
    )


def _on_earth(
    x: FloatArray, y: FloatArray, middle: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    # Rounded, so that a file with seven decimals holds the very same network.
    metres_of_lon = _METRES_OF_LAT * math.cos(math.radians(middle[1]))
    return (
        np.round(middle[0] + x / metres_of_lon, _DECIMALS),
        np.round(middle[1] + y / _METRES_OF_LAT, _DECIMALS),
    )


def _driven(
    street: IntArray, back: BoolArray, start: IntArray, lon: FloatArray, lat: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Returns the courses of links, backwards where they are driven so."""
    size = np.diff(start)[street]
    begin = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    step = np.arange(begin[-1]) - np.repeat(begin[:-1], size)
    forth = np.repeat(start[:-1][street], size) + step
    reverse = np.repeat(start[1:][street] - 1, size) - step
    point = np.where(np.repeat(back, size), reverse, forth)
    return begin, lon[point], lat[point]


def _lengths(
    start: IntArray, lon: FloatArray, lat: FloatArray, middle: tuple[float, float]
) -> FloatArray:
    point = Plane(lon=middle[0], lat=middle[1]).to_metres(lon, lat)
    step = np.hypot(*np.diff(point, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(step)])
    # In whole centimetres, for files; the cumulated sum is exact to far less than that.
    return np.asarray(np.round(along[start[1:] - 1] - along[start[:-1]], 2), dtype=np.float64)


_SPLIT = 0.08
_SPLIT_LONG = 0.5
_LONG_M = 250.0

# A straight piece has no point between its ends; the more it bends, the more it has.
_MOST_BETWEEN = 3
_STRAIGHT = 0.03


def with_nodes_between(streets: Streets, rng: np.random.Generator) -> Streets:
    """Returns the streets with a node of no crossing in the middle of some, mostly long ones."""
    share = np.where(streets.reach > _LONG_M, _SPLIT_LONG, _SPLIT)
    split = rng.random(len(streets)) < share
    x, y = points_along(streets.only(split), np.array([0.5]))
    node = len(streets.x) + np.arange(int(split.sum()), dtype=np.int64)
    first, second = streets.only(split), streets.only(split)
    none = np.empty(0)

    def part(half: Streets, tail: IntArray, head: IntArray, at: tuple[FloatArray, ...]) -> Streets:
        # Half of a parabola bends a quarter as much, relative to its own length half of that.
        return replace(half, x=at[0], y=at[1], tail=tail, head=head, bend=half.bend / 2)

    whole = streets.only(~split)
    halves = part(first, first.tail, node, (x[:, 0], y[:, 0]))
    return whole.and_more(halves).and_more(part(second, node, second.head, (none, none)))


def points_along(streets: Streets, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Returns points of each piece (row) at shares of the way (column): x and y."""
    east = streets.x[streets.head] - streets.x[streets.tail]
    north = streets.y[streets.head] - streets.y[streets.tail]
    off = streets.bend[:, None] * 4 * shares * (1 - shares)
    x = streets.x[streets.tail][:, None] + east[:, None] * shares - north[:, None] * off
    y = streets.y[streets.tail][:, None] + north[:, None] * shares + east[:, None] * off
    return x, y


def courses(streets: Streets) -> tuple[IntArray, FloatArray, FloatArray]:
    """Returns where the course of each piece begins, and x and y of all points, ends included."""
    between = np.minimum(np.rint(np.abs(streets.bend) / _STRAIGHT).astype(np.int64), _MOST_BETWEEN)
    start = np.concatenate([[0], np.cumsum(between + 2)]).astype(np.int64)
    x, y = np.empty(start[-1]), np.empty(start[-1])
    for count in range(_MOST_BETWEEN + 1):
        chosen = between == count
        shares = np.linspace(0, 1, count + 2)
        place = start[:-1][chosen][:, None] + np.arange(count + 2)
        x[place], y[place] = points_along(streets.only(chosen), shares)
    # Ends exactly where the nodes are, whatever the arithmetic did.
    for point, node in ((start[:-1], streets.tail), (start[1:] - 1, streets.head)):
        x[point], y[point] = streets.x[node], streets.y[node]
    return start, x, y


# Radius as a share of the smaller half of the city, class and name.
_RINGS = ((0.45, 2, "Inner Ring"), (0.82, 1, "Outer Ring"))
_RADIALS = 6
_RADIALS_END = 1.1
_BETWEEN_JUNCTIONS_M = 500.0
_RAMP_CLASS = 3
_FEWEST_JUNCTIONS = 8


def with_rings(streets: Streets) -> Streets:
    """Returns the streets with two ring roads, radial motorways from ring to edge, and ramps."""
    half = min(float(np.abs(streets.x).max()), float(np.abs(streets.y).max()))
    wide = np.unique(np.concatenate([streets.tail, streets.head]))
    laid = streets
    rings: list[IntArray] = []
    for share, road_class, name in _RINGS:
        radius = share * half
        count = max(_FEWEST_JUNCTIONS, round(2 * math.pi * radius / _BETWEEN_JUNCTIONS_M))
        angle = 2 * math.pi * np.arange(count) / count
        node = len(laid.x) + np.arange(count, dtype=np.int64)
        # An arc bulges out by so much of its chord.
        bulge = -math.tan(math.pi / count / 2) / 2
        laid = _laid(
            laid,
            (radius * np.cos(angle), radius * np.sin(angle)),
            (node, np.roll(node, -1)),
            road_class=road_class,
            bend=bulge,
            name=name,
        )
        rings.append(node)
    for number in range(_RADIALS):
        laid = _with_radial(laid, rings, number, half)
    return _with_ramps(laid, wide, len(streets.x))


def _with_radial(laid: Streets, rings: list[IntArray], number: int, half: float) -> Streets:
    """Adds a motorway from the inner ring through the outer one and past the edge."""
    angle = 2 * math.pi * (number + 0.25) / _RADIALS
    ends = [ring[round(angle / 2 / math.pi * len(ring)) % len(ring)] for ring in rings]
    edge = _RADIALS_END * half
    gates = [(laid.x[node], laid.y[node]) for node in ends]
    gates.append((edge * math.cos(angle), edge * math.sin(angle)))
    stops = [*ends, None]
    for leg in range(2):
        (x0, y0), (x1, y1) = gates[leg], gates[leg + 1]
        pieces = max(1, round(math.hypot(x1 - x0, y1 - y0) / _BETWEEN_JUNCTIONS_M))
        last = stops[leg + 1]
        fresh = pieces if last is None else pieces - 1
        way = np.arange(1, fresh + 1) / pieces
        node = len(laid.x) + np.arange(fresh, dtype=np.int64)
        chain = np.concatenate([[ends[leg]], node, [] if last is None else [last]])
        chain = chain.astype(np.int64)
        laid = _laid(
            laid,
            (x0 + way * (x1 - x0), y0 + way * (y1 - y0)),
            (chain[:-1], chain[1:]),
            road_class=1,
            bend=0.02,
            name=f"Radial {number + 1}",
        )
    return laid


def _with_ramps(laid: Streets, grid_nodes: IntArray, first: int) -> Streets:
    """Ties every node of the rings and radials to the nearest corner of the grid."""
    node = np.arange(first, len(laid.x), dtype=np.int64)
    tree = KDTree(np.column_stack([laid.x[grid_nodes], laid.y[grid_nodes]]))
    nearest = grid_nodes[tree.query(np.column_stack([laid.x[node], laid.y[node]]))[1]]
    nothing = np.empty(0)
    return _laid(
        laid,
        (nothing, nothing),
        (node, nearest.astype(np.int64)),
        road_class=_RAMP_CLASS,
        bend=0.15,
        name="",
    )


def _laid(
    laid: Streets,
    position: tuple[FloatArray, FloatArray],
    ends: tuple[IntArray, IntArray],
    *,
    road_class: int,
    bend: float,
    name: str,
) -> Streets:
    count = len(ends[0])
    return laid.and_more(
        Streets(
            x=position[0],
            y=position[1],
            tail=ends[0],
            head=ends[1],
            road_class=np.full(count, road_class, dtype=np.int64),
            one_way=np.zeros(count, dtype=np.bool_),
            bend=np.full(count, bend),
            name=np.full(count, name, dtype=np.str_),
        )
    )
