"""The ground and the public map of the synthetic Paris: an oval, its areas and its towers.

Positions are metres east and north of the middle. All of it is invented and the same for every
seed.
"""

from collections import Counter
from typing import Final

import numpy as np
import shapely

from hushway.arrays import FloatArray, IntArray
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations
from hushway.numerics.chance import generator, race

LON, LAT = 2.345, 48.858
_DEGREE_LAT_M = 111_200.0
_DEGREE_LON_M = 73_260.0

HALF_WIDTH_M, HALF_HEIGHT_M = 7_200.0, 4_660.0
_OUTLINE_CORNERS = 240
_BEND_M = 18.0
_MOVES = 2

# Bumps: metres east and north, width in metres, weight.
_HOMES: Final = (
    (3_300, 2_200, 1_500, 1.6),
    (1_200, 3_100, 1_200, 1.3),
    (-700, -2_900, 1_700, 1.3),
    (2_400, -2_300, 1_300, 1.1),
    (-3_200, -1_200, 1_500, 1.0),
    (-2_300, 2_600, 1_200, 1.1),
    (3_900, 0, 1_300, 1.2),
)
_OFFICES: Final = (
    (-1_400, 1_500, 900, 4.0),
    (-3_000, 1_300, 900, 2.2),
    (200, 900, 700, 1.7),
    (-1_500, -1_700, 600, 1.3),
    (3_300, -1_800, 700, 1.4),
    (2_600, 3_000, 800, 0.8),
    (-4_700, -2_000, 600, 0.8),
)
_SCHOOLS: Final = ((300, -900, 600, 3.0), (1_900, -3_100, 500, 1.2), (-5_000, 600, 500, 0.6))
_NIGHTLIFE: Final = (
    (1_500, 200, 500, 2.5),
    (-300, 2_700, 400, 2.0),
    (100, -500, 500, 2.0),
    (-2_900, 1_600, 500, 1.6),
    (2_700, 1_500, 500, 1.4),
    (2_200, -300, 350, 1.5),
)
_SHOPS: Final = (
    (-700, 1_600, 350, 2.5),
    (700, 500, 400, 2.2),
    (-2_300, -600, 400, 0.8),
    (3_700, -800, 400, 0.8),
    (-1_700, -2_400, 350, 0.8),
)
_STATIONS: Final = (
    (900, 2_500, 200, 3.0),
    (1_200, 2_200, 180, 1.8),
    (-1_300, 2_000, 200, 2.6),
    (2_300, -1_500, 220, 2.4),
    (-1_800, -1_900, 200, 1.8),
    (1_500, -1_700, 180, 1.1),
)
_PARKS: Final = (
    (-6_300, 300, 900, 2.0),
    (6_300, -900, 850, 2.0),
    (-300, -1_300, 260, 1.3),
    (3_200, 2_700, 300, 1.0),
    (-500, 500, 260, 1.4),
    (-100, -4_000, 250, 0.8),
)


def outline_m() -> FloatArray:
    """Returns the corners of the oval, about 105 square kilometres."""
    angle = np.arange(_OUTLINE_CORNERS) * (2 * np.pi / _OUTLINE_CORNERS)
    return np.column_stack([HALF_WIDTH_M * np.cos(angle), HALF_HEIGHT_M * np.sin(angle)])


def degrees(position_m: FloatArray) -> FloatArray:
    """Returns longitudes and latitudes of positions, to seven digits: about a centimetre.

    The ground is bent a little on the way, so that borders are no straight lines. What lies inside
    a border before lies inside it after, because the bends are too gentle to fold the ground.
    """
    east, north = position_m.T
    bent_east = east + _BEND_M * np.sin(north / 61 + 2 * np.sin(east / 803))
    bent_north = north + _BEND_M * np.sin(east / 67 + 2 * np.cos(north / 709))
    lon, lat = LON + bent_east / _DEGREE_LON_M, LAT + bent_north / _DEGREE_LAT_M
    return np.round(np.column_stack([lon, lat]), 7)


def homes(at: FloatArray) -> FloatArray:
    """Returns how densely people live at positions."""
    return (0.35 + _bumps(at, _HOMES)) * (1 - 0.25 * _middle(at, 1_300)) * _built(at)


def parishes(at: FloatArray) -> FloatArray:
    """Returns how finely the city was divided long ago: by homes, and most in the old middle."""
    return np.asarray(np.sqrt(homes(at) + 2.5 * _middle(at, 1_900) * _built(at)))


def offices(at: FloatArray) -> FloatArray:
    """Returns how densely people work at positions."""
    return (0.10 + 0.2 * _middle(at, 3_000) + _bumps(at, _OFFICES)) * _built(at)


def schools(at: FloatArray) -> FloatArray:
    """Returns how densely people study at positions."""
    return (0.05 + _bumps(at, _SCHOOLS)) * _built(at)


def outings(at: FloatArray) -> FloatArray:
    """Returns how many people go out at positions: night life, and fewer shops."""
    return (0.08 + _bumps(at, _NIGHTLIFE) + 0.5 * _bumps(at, _SHOPS)) * _built(at)


def errands(at: FloatArray) -> FloatArray:
    """Returns how many people are about in their spare time by day: shops, parks, streets."""
    return 0.25 * _built(at) + _bumps(at, _SHOPS) + 0.5 * _bumps(at, _PARKS)


def stations(at: FloatArray) -> FloatArray:
    """Returns how many people come and go by train at positions."""
    return 0.002 + _bumps(at, _STATIONS)


def busy(at: FloatArray) -> FloatArray:
    """Returns how much of everything is at positions, which an operator builds towers for."""
    parts = (
        (homes(at), 0.42),
        (offices(at), 0.55),
        (schools(at), 0.15),
        (outings(at), 0.30),
        (errands(at), 0.15),
        (stations(at), 0.35),
    )
    return np.asarray(np.sum([share * part for part, share in parts], axis=0))


def scattered(density: FloatArray, at: FloatArray, count: int, *, stream: int) -> FloatArray:
    """Returns public points that are denser where `density` of the positions `at` is higher.

    A random choice of positions is moved twice to the middle of what is nearest to each, so that
    the points keep some distance without forming a lattice.
    """
    from scipy.spatial import cKDTree

    rng = generator(2014, stream)
    points = at[np.argsort(-race(rng, density), kind="stable")[:count]]
    for _ in range(_MOVES):
        nearest = cKDTree(points).query(at)[1]
        mass = np.bincount(nearest, weights=density, minlength=count)
        middle = [np.bincount(nearest, density * at[:, k], count) / mass for k in (0, 1)]
        points = np.column_stack(middle)
    return points


def spots(count: int) -> FloatArray:
    """Returns about `count` positions, evenly but not regularly spread over the oval."""
    # Fractions of multiples of these two numbers fill the plane evenly (Roberts' sequence).
    number: IntArray = np.arange(int(count * 4 / np.pi), dtype=np.int64)
    at = np.column_stack([(0.7548776662 * number) % 1, (0.5698402910 * number) % 1]) * 2 - 1
    at *= (HALF_WIDTH_M, HALF_HEIGHT_M)
    return np.asarray(at[_outwards(at) < 0.995])


def _outwards(at: FloatArray) -> FloatArray:
    """Returns how far out positions are: below 1 within the oval."""
    return np.asarray(np.hypot(at[:, 0] / HALF_WIDTH_M, at[:, 1] / HALF_HEIGHT_M))


def _built(at: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(0.03, 1 - np.minimum(1.0, _bumps(at, _PARKS))))


def _middle(at: FloatArray, width_m: float) -> FloatArray:
    return np.asarray(np.exp(-0.5 * np.sum(at**2, axis=1) / width_m**2))


def _bumps(at: FloatArray, bumps: tuple[tuple[float, float, float, float], ...]) -> FloatArray:
    total = np.zeros(len(at))
    for east, north, width, weight in bumps:
        off = np.hypot(at[:, 0] - east, at[:, 1] - north) / width
        total += weight * np.exp(-0.5 * off**2)
    return total


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
    at = spots(_SPOTS_EACH * count)
    seeds = scattered(parishes(at), at, count, stream=_AREAS)
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
    at = spots(_SPOTS_EACH * count)
    position = scattered(busy(at) ** _CROWDING, at, count, stream=_TOWERS)
    district = _districts(position)
    position = position[np.lexsort((position[:, 0], -position[:, 1], district))]
    zone = [f"District {number + 1}" for number in np.sort(district).tolist()]
    places = tuple(
        Location(id=f"T{number + 1:04d}", name=f"Tower {number + 1}", lon=lon, lat=lat, zone=zone)
        for number, ((lon, lat), zone) in enumerate(
            zip(degrees(position).tolist(), zone, strict=True)
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
    outline = shapely.LinearRing(outline_m())
    lines = shapely.linestrings(diagram.vertices[ridges])
    # Joining all lines at once makes every crossing a corner of both sides; further corners let the
    # borders bend.
    noded = shapely.segmentize(shapely.union_all(np.append(lines, outline)), _CORNERS_M)
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(noded)))
    middle = shapely.get_coordinates(shapely.point_on_surface(faces))
    kept = shapely.contains_xy(shapely.Polygon(outline), middle)
    nearest = cKDTree(seeds).query(middle[kept])[1]
    shapes = np.empty(len(seeds), dtype=object)
    shapes[nearest] = shapely.transform(faces[kept], degrees)
    return list(shapes)


def _centres() -> FloatArray:
    """Returns the middles of the districts, numbered along a spiral from the middle outwards."""
    number = np.arange(_DISTRICTS)
    angle = 2.4 * number + 0.6
    out = np.sqrt((number + 0.5) / _DISTRICTS) * 0.93
    return np.column_stack(
        [HALF_WIDTH_M * out * np.cos(angle), HALF_HEIGHT_M * out * np.sin(angle)]
    )


def _districts(at: FloatArray) -> IntArray:
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(_centres()).query(at)[1], dtype=np.int64)


def _quarters(at: FloatArray, district: IntArray) -> IntArray:
    """Returns the quarter of a district that positions lie in, around from the west by south."""
    east, north = (at - _centres()[district]).T
    turn = (np.arctan2(north, east) + np.pi) / (2 * np.pi) * _QUARTERS
    return np.asarray(np.minimum(turn.astype(np.int64), _QUARTERS - 1))
