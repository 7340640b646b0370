"""Public zones of links: squares of a public size, or the public areas around their midpoints."""

import math

import numpy as np
import shapely

from hushway.arrays import IntArray
from hushway.errors import GeographyError
from hushway.families.links.public.courses import midpoints_in_degrees, midpoints_in_metres
from hushway.families.links.public.roads import RoadNetwork
from hushway.geography.areas import Areas

OUTSIDE = "outside"


def grid_zones(roads: RoadNetwork, metres: float) -> tuple[IntArray, tuple[str, ...]]:
    """Returns the zone of each link, and the zones' names.

    Zones are the squares around the middle of the network that hold the midpoint of a link. Both
    directions of a street lie in one zone. A name counts squares to the east and to the north.

    Args:
        roads: A road network.
        metres: The side of a square.

    Raises:
        GeographyError: The side is not above 0.
    """
    if not (math.isfinite(metres) and metres > 0):
        raise GeographyError(
            "The side of the squares for zones must be above 0 metres.",
            advice="Choose a public size, for example 2000 metres.",
        )
    squares = np.floor(midpoints_in_metres(roads) / metres).astype(np.int64)
    found, zone = np.unique(squares, axis=0, return_inverse=True)
    return zone.astype(np.int64).ravel(), tuple(f"{east},{north}" for east, north in found.tolist())


def zones_of_areas(roads: RoadNetwork, areas: Areas) -> tuple[IntArray, tuple[str, ...]]:
    """Returns the zone of each link, and the zones' names: areas that hold a link's midpoint.

    A midpoint on a border belongs to the area that comes first. Links outside all areas share a
    last zone called "outside"; areas without links have no zone.

    Raises:
        GeographyError: An area is itself called "outside".
    """
    if OUTSIDE in areas.index:
        raise GeographyError(
            f"An area is called {OUTSIDE!r}, the name of the zone of all other links.",
            advice="Give the area another id.",
        )
    points = shapely.points(*midpoints_in_degrees(roads))
    link, area = shapely.STRtree(areas.shapes).query(points, predicate="intersects")
    nearest = np.full(roads.links, len(areas), dtype=np.int64)
    np.minimum.at(nearest, link, area)
    found, zone = np.unique(nearest, return_inverse=True)
    names = (*areas.ids, OUTSIDE)
    return zone.astype(np.int64).ravel(), tuple(names[number] for number in found.tolist())
