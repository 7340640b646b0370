"""A synthetic city of roads: a street grid with avenues, rings, radials, a river and dead ends.

It lies in the open Atlantic, so that nobody mistakes it for a real place. See docs/cities.md.
"""

import math
from typing import Final

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import PlanError
from hushway.families.links.city.courses import courses, with_nodes_between
from hushway.families.links.city.grid import street_grid
from hushway.families.links.city.rings import with_rings
from hushway.families.links.city.streets import BLOCK_X_M, BLOCK_Y_M, Streets
from hushway.families.links.public.roads import RoadNetwork
from hushway.geography.plane import Plane
from hushway.study.chance import generator

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
        seed: Chooses the network. The same seed gives the same network.
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
    return Streets(
        x=inside.x[kept],
        y=inside.y[kept],
        tail=number[inside.tail].astype(np.int64),
        head=number[inside.head].astype(np.int64),
        road_class=inside.road_class,
        one_way=inside.one_way,
        bend=inside.bend,
        name=inside.name,
    )


def _network(streets: Streets, middle: tuple[float, float]) -> RoadNetwork:
    """Returns the streets as links: one for each direction in which they may be driven."""
    count = len(streets)
    street = np.concatenate([np.arange(count), np.flatnonzero(~streets.one_way)]).astype(np.int64)
    back = np.arange(len(street)) >= count
    # The two directions of a street stand next to each other.
    order = np.lexsort((back, street))
    street, back = street[order], back[order]
    start, lon, lat = _driven(street, back, *_degrees(courses(streets), middle))
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


def _degrees(
    course: tuple[IntArray, FloatArray, FloatArray], middle: tuple[float, float]
) -> tuple[IntArray, FloatArray, FloatArray]:
    start, x, y = course
    return (start, *_on_earth(x, y, middle))


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
