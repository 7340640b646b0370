"""Parts of a road network."""

import numpy as np
import shapely
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hushway.arrays import BoolArray, IntArray
from hushway.errors import GeographyError
from hushway.families.links.public.courses import starts_of, taken_points
from hushway.families.links.public.midpoints import midpoints_in_degrees
from hushway.families.links.public.roads import RoadNetwork
from hushway.geography.areas import Areas

# West, south, east, north in WGS84 degrees.
Box = tuple[float, float, float, float]


def strongly_connected(
    tail: IntArray, head: IntArray, nodes: int, *, among: BoolArray
) -> BoolArray:
    """Marks the links of the largest part in which every link leads to every other one.

    Args:
        tail: The node that each link leaves.
        head: The node that it leads to.
        nodes: Number of nodes.
        among: Links that may be used; no other one is marked.
    """
    if not among.any():
        return among
    ones = np.ones(int(among.sum()), dtype=np.int8)
    graph = coo_array((ones, (tail[among], head[among])), shape=(nodes, nodes)).tocsr()
    _, part = connected_components(graph, directed=True, connection="strong")
    inside: BoolArray = among & (part[tail] == part[head])
    if not inside.any():
        return inside
    # Parts are compared by links: a part of one node may have none. Of equals, the first node's.
    largest = part[tail[inside]][_first_largest(part[tail[inside]])]
    marked: BoolArray = inside & (part[tail] == largest)
    return marked


def links_kept(roads: RoadNetwork, keep: BoolArray) -> RoadNetwork:
    """Returns a network of some links and the nodes at their ends, in the same order.

    Raises:
        GeographyError: No link is kept.
    """
    rows = np.flatnonzero(keep)
    nodes = np.union1d(roads.tail[rows], roads.head[rows])
    points = taken_points(roads.start, rows, np.zeros(len(rows), dtype=np.bool_))
    return RoadNetwork(
        node_id=roads.node_id[nodes],
        node_lon=roads.node_lon[nodes],
        node_lat=roads.node_lat[nodes],
        link_id=roads.link_id[rows],
        tail=np.searchsorted(nodes, roads.tail[rows]).astype(np.int64),
        head=np.searchsorted(nodes, roads.head[rows]).astype(np.int64),
        length=roads.length[rows],
        speed=roads.speed[rows],
        lanes=roads.lanes[rows],
        road_class=roads.road_class[rows],
        street=numbered_by_appearance(roads.street[rows]),
        name=roads.name[rows],
        start=starts_of(np.diff(roads.start)[rows]),
        lon=roads.lon[points],
        lat=roads.lat[points],
    )


def roads_within(roads: RoadNetwork, where: Areas | Box) -> RoadNetwork:
    """Returns the largest connected part of the links whose midpoints lie inside.

    Args:
        roads: A road network.
        where: Areas, or a box (west, south, east, north) in WGS84 degrees.

    Raises:
        GeographyError: No connected roads lie inside.
    """
    lon, lat = midpoints_in_degrees(roads)
    if isinstance(where, Areas):
        ground = shapely.union_all(where.shapes)
        shapely.prepare(ground)
        inside = np.asarray(shapely.intersects_xy(ground, lon, lat))
    else:
        west, south, east, north = where
        inside = (lon >= west) & (lon <= east) & (lat >= south) & (lat <= north)
    keep = strongly_connected(roads.tail, roads.head, roads.nodes, among=inside)
    if not keep.any():
        raise GeographyError(
            "No roads that lead on and back again lie inside.",
            advice="Give larger areas, or a box as west, south, east, north in degrees.",
        )
    return links_kept(roads, keep)


def _first_largest(part: IntArray) -> int:
    """Returns the first place at which the part with the most links stands."""
    counts = np.bincount(part)
    return int(np.argmax(counts[part]))


def numbered_by_appearance(street: IntArray) -> IntArray:
    """Returns numbers of streets from 0 without gaps, in the order in which streets appear."""
    _, first, number = np.unique(street, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[number.ravel()]
