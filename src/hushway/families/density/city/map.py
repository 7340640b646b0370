"""The public map of the synthetic Paris: areas that share borders, and towers among them."""

from collections import Counter

import numpy as np
import shapely

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.city import ground
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations

_DISTRICTS = 20
_QUARTERS = 4
_SPOTS_EACH = 60
_FAR_M = 60_000.0
_CORNERS_M = 60.0
# How much closer together towers are where more is going on: set so that the smallest cover of the
# whole city has about as many cells as the published one.
_CROWDING = 2.135

# Streams of the one seed of the map.
_AREAS, _TOWERS = 0, 1


def areas_of(count: int) -> Areas:
    """Returns areas that partition the oval: small where many people live."""
    at = ground.spots(_SPOTS_EACH * count)
    seeds = ground.scattered(ground.parishes(at), at, count, stream=_AREAS)
    shapes = _voronoi(seeds)
    district = _districts(seeds)
    quarter = _quarters(seeds, district)
    order = np.lexsort((seeds[:, 0], -seeds[:, 1], quarter, district))
    used: Counter[tuple[int, int]] = Counter()
    areas = []
    for position in order.tolist():
        where = (int(district[position]) + 1, int(quarter[position]) + 1)
        used[where] += 1
        areas.append(
            Area(
                id=f"751{where[0]:02d}{where[1]:02d}{used[where]:02d}",
                name=f"District {where[0]} quarter {where[1]} area {used[where]}",
                shape=shapes[position],
            )
        )
    return Areas(areas=tuple(areas))


def towers_of(count: int) -> tuple[Locations, FloatArray]:
    """Returns towers, closer together where more is going on, and their positions in metres."""
    at = ground.spots(_SPOTS_EACH * count)
    position = ground.scattered(ground.busy(at) ** _CROWDING, at, count, stream=_TOWERS)
    district = _districts(position)
    position = position[np.lexsort((position[:, 0], -position[:, 1], district))]
    zone = [f"District {number + 1}" for number in np.sort(district).tolist()]
    places = tuple(
        Location(id=f"T{number + 1:04d}", name=f"Tower {number + 1}", lon=lon, lat=lat, zone=zone)
        for number, ((lon, lat), zone) in enumerate(
            zip(ground.degrees(position).tolist(), zone, strict=True)
        )
    )
    return Locations(places), position


def _voronoi(seeds: FloatArray) -> list[shapely.Polygon]:
    """Returns the cell of each seed within the oval; neighbours have the same corners."""
    from scipy.spatial import Voronoi, cKDTree

    # Four far points bound all cells that matter.
    far = _FAR_M * np.array([[-1, 0], [1, 0], [0, -1], [0, 1]], dtype=np.float64)
    diagram = Voronoi(np.concatenate([seeds, far]))
    ridges = np.array([pair for pair in diagram.ridge_vertices if min(pair) >= 0])
    outline = shapely.LinearRing(ground.outline_m())
    lines = shapely.linestrings(diagram.vertices[ridges])
    # Joining all lines at once makes every crossing a corner of both sides; further corners let the
    # borders bend.
    noded = shapely.segmentize(shapely.union_all(np.append(lines, outline)), _CORNERS_M)
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(noded)))
    middle = shapely.get_coordinates(shapely.point_on_surface(faces))
    kept = shapely.contains_xy(shapely.Polygon(outline), middle)
    nearest = cKDTree(seeds).query(middle[kept])[1]
    shapes = np.empty(len(seeds), dtype=object)
    shapes[nearest] = shapely.transform(faces[kept], ground.degrees)
    return list(shapes)


def _centres() -> FloatArray:
    """Returns the middles of the districts, numbered along a spiral from the middle outwards."""
    number = np.arange(_DISTRICTS)
    angle = 2.4 * number + 0.6
    out = np.sqrt((number + 0.5) / _DISTRICTS) * 0.93
    return np.column_stack(
        [ground.HALF_WIDTH_M * out * np.cos(angle), ground.HALF_HEIGHT_M * out * np.sin(angle)]
    )


def _districts(at: FloatArray) -> IntArray:
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(_centres()).query(at)[1], dtype=np.int64)


def _quarters(at: FloatArray, district: IntArray) -> IntArray:
    """Returns the quarter of a district that positions lie in, around from the west by south."""
    east, north = (at - _centres()[district]).T
    turn = (np.arctan2(north, east) + np.pi) / (2 * np.pi) * _QUARTERS
    return np.asarray(np.minimum(turn.astype(np.int64), _QUARTERS - 1))
