"""The public road network: directed links between nodes, their courses and their zones."""

import math
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Final

import numpy as np
import shapely
from numpy.typing import NDArray

from hushway.arrays import BoolArray, FloatArray, IntArray, TextArray, WordArray
from hushway.errors import GeographyError
from hushway.geography.areas import Areas, Plane
from hushway.privacy.public_facts import digest_of, public_facts

# From motorways (1) to residential streets (5).
CLASSES: Final = (1, 2, 3, 4, 5)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class RoadNetwork:
    """A directed road network. The arrays cannot be written to.

    Attributes:
        node_lon: Longitude of each node, WGS84 degrees.
        link_id: What each link is called: stable ids of the source, with the direction.
        tail: Index of the node that each link leaves.
        head: Index of the node that it leads to.
        length: Length in metres.
        speed: Usual speed in km/h.
        road_class: Functional class, from 1 (motorways) to 5 (residential streets).
        street: The two directions of a street have the same number, from 0 without gaps.
        start: Where the course of each link begins among the points; one entry more than links.
        lon: Longitudes of the points of all courses in a row, ends included.
    """

    node_id: TextArray
    node_lon: FloatArray
    node_lat: FloatArray
    link_id: TextArray
    tail: IntArray
    head: IntArray
    length: FloatArray
    speed: FloatArray
    lanes: FloatArray
    road_class: IntArray
    street: IntArray
    name: TextArray
    start: IntArray
    lon: FloatArray
    lat: FloatArray

    def __post_init__(self) -> None:
        _check(self)
        for column in vars(self).values():
            if isinstance(column, np.ndarray):
                column.flags.writeable = False

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.node_id)

    @property
    def links(self) -> int:
        """Number of links."""
        return len(self.link_id)

    @cached_property
    def plane(self) -> Plane:
        """A map in metres around the middle of the network."""
        return Plane(
            lon=float(self.node_lon.min() + self.node_lon.max()) / 2,
            lat=float(self.node_lat.min() + self.node_lat.max()) / 2,
        )

    @cached_property
    def points(self) -> FloatArray:
        """The points of all courses (x, y) in metres."""
        return self.plane.to_metres(self.lon, self.lat)

    @cached_property
    def node_points(self) -> FloatArray:
        """The nodes (x, y) in metres."""
        return self.plane.to_metres(self.node_lon, self.node_lat)

    @cached_property
    def leaving(self) -> tuple[IntArray, IntArray]:
        """Links by the node that they leave: where each node begins, and the links in order."""
        order = np.argsort(self.tail, kind="stable").astype(np.int64)
        counts = np.bincount(self.tail, minlength=self.nodes)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), order

    @cached_property
    def digest(self) -> str:
        """A digest of every public fact of the network."""
        return digest_of({name: _digest(column) for name, column in self._columns.items()})

    @property
    def _columns(self) -> dict[str, NDArray[np.generic]]:
        # Not vars(self): what was computed and kept along the way stands there too.
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def _digest(column: NDArray[np.generic]) -> str:
    if column.dtype.kind == "U":
        data = "\x1f".join(column.tolist()).encode()
    else:
        data = column.astype("<f8" if column.dtype.kind == "f" else "<i8").tobytes()
    return sha256(data).hexdigest()


def _check(roads: RoadNetwork) -> None:
    if roads.links == 0:
        raise GeographyError(
            "The road network has no links.", advice="Give a file with at least one road."
        )
    of_links = ("tail", "head", "length", "speed", "lanes", "road_class", "street", "name")
    uneven = [column for column in of_links if len(getattr(roads, column)) != roads.links]
    inside = (
        not uneven
        and len(roads.node_lon) == len(roads.node_lat) == roads.nodes
        and len(roads.start) == roads.links + 1
        and roads.start[-1] == len(roads.lon) == len(roads.lat)
        and bool((np.diff(roads.start) >= 2).all())  # noqa: PLR2004  a course has two ends
        and bool(((roads.tail >= 0) & (roads.tail < roads.nodes)).all())
        and bool(((roads.head >= 0) & (roads.head < roads.nodes)).all())
        and bool(np.isin(roads.road_class, CLASSES).all())
        and bool((roads.length > 0).all() and (roads.speed > 0).all())
    )
    if not inside:
        raise GeographyError(
            "The columns of a road network do not fit each other.",
            advice="Every link needs two nodes, a course of at least two points, a length and a "
            "speed above 0, and a class from 1 to 5.",
        )
    for kind, ids in (("node", roads.node_id), ("link", roads.link_id)):
        if len(np.unique(ids)) != len(ids):
            raise GeographyError(
                f"A {kind} id appears more than once in the road network.",
                advice=f"Every {kind} needs an id of its own.",
            )


# Positions are compared by the ten millionth of a degree, a centimetre: what sources write.
DECIMALS = 7

# The ellipsoid of WGS84: half its width in metres, and its squared eccentricity.
_HALF_WIDTH = 6_378_137.0
_ECCENTRICITY = 6.694379990141316e-3


def taken_points(start: IntArray, rows: IntArray, turned: BoolArray) -> IntArray:
    """Returns the indices of the points of some courses in a row.

    Args:
        start: Where each course begins; one entry more than courses.
        rows: The courses to take, in their new order.
        turned: Whether each of them is taken from its end to its beginning.
    """
    sizes = (start[1:] - start[:-1])[rows]
    begins = np.cumsum(sizes) - sizes
    place = np.arange(sizes.sum(), dtype=np.int64) - np.repeat(begins, sizes)
    last = np.repeat(sizes, sizes) - 1
    place = np.where(np.repeat(turned, sizes), last - place, place)
    points: IntArray = np.repeat(start[:-1][rows], sizes) + place
    return points


def starts_of(sizes: IntArray) -> IntArray:
    """Returns where each course begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def segment_lengths(lon: FloatArray, lat: FloatArray) -> FloatArray:
    """Returns metres on the ellipsoid from each point to the next one, one less than points.

    Each step is measured on the sphere-like patch at its middle: better than a millionth for the
    segments of roads, without a call for each of them.
    """
    middle = np.radians((lat[1:] + lat[:-1]) / 2)
    bend = 1 - _ECCENTRICITY * np.sin(middle) ** 2
    east = np.radians(np.diff(lon)) * np.cos(middle) * _HALF_WIDTH / np.sqrt(bend)
    north = np.radians(np.diff(lat)) * _HALF_WIDTH * (1 - _ECCENTRICITY) / bend**1.5
    return np.hypot(east, north)


def course_lengths(start: IntArray, lon: FloatArray, lat: FloatArray) -> FloatArray:
    """Returns the length of each course in metres on the ellipsoid."""
    steps = np.append(segment_lengths(lon, lat), 0.0)
    # From the end of a course to the beginning of the next one there is no road.
    steps[start[1:] - 1] = 0.0
    return np.add.reduceat(steps, start[:-1])


def without_repeats(start: IntArray, lon: FloatArray, lat: FloatArray) -> BoolArray:
    """Marks points to keep: all but those that stand where the point before them stands."""
    keep = np.ones(len(lon), dtype=np.bool_)
    keep[1:] = (np.diff(lon) != 0) | (np.diff(lat) != 0)
    keep[start[:-1]] = True
    return keep


def course_hashes(start: IntArray, lon: FloatArray, lat: FloatArray) -> tuple[WordArray, WordArray]:
    """Returns two hashes of each course: one of its points in order, one of its points only.

    A course and its reverse agree in the second. Hashes have 64 bits: among a million links a
    chance agreement anywhere has odds of one in thirty million.
    """
    east = np.rint(lon * 10.0**DECIMALS).astype(np.int64).view(np.uint64)
    north = np.rint(lat * 10.0**DECIMALS).astype(np.int64).view(np.uint64)
    points = _mixed(_mixed(east) + north)
    place = np.arange(len(lon)) - np.repeat(start[:-1], np.diff(start))
    ordered = _mixed(points + _mixed(place.astype(np.uint64)))
    begins = start[:-1]
    return np.add.reduceat(ordered, begins), np.add.reduceat(points, begins)


def between(tail: IntArray, head: IntArray, course: WordArray) -> WordArray:
    """Returns a hash of courses together with the nodes that they join."""
    return _mixed(_mixed(course + tail.astype(np.uint64)) + head.astype(np.uint64))


def _mixed(values: WordArray) -> WordArray:
    """Spreads every bit over all bits: the finaliser of SplitMix64."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


# A course that stands still has its middle where it stands.
_SHORTEST = 1e-9


def midpoints_in_degrees(roads: RoadNetwork) -> tuple[FloatArray, FloatArray]:
    """Returns longitude and latitude of the point halfway along each link."""
    before, share = _halfway(roads)
    after = before + 1
    lon = roads.lon[before] + (roads.lon[after] - roads.lon[before]) * share
    lat = roads.lat[before] + (roads.lat[after] - roads.lat[before]) * share
    return lon, lat


def midpoints_in_metres(roads: RoadNetwork) -> FloatArray:
    """Returns the points (x, y) halfway along each link, on the plane of the network."""
    return roads.plane.to_metres(*midpoints_in_degrees(roads))


def _halfway(roads: RoadNetwork) -> tuple[IntArray, FloatArray]:
    """Returns the point before the middle of each link, and the share of the way to the next."""
    steps = segment_lengths(roads.lon, roads.lat)
    # From the end of a course to the beginning of the next one there is no road.
    steps[roads.start[1:-1] - 1] = 0.0
    passed = np.concatenate([[0.0], np.cumsum(steps)])
    # One link speaks for its street: rounding must not part the two directions.
    _, first, street = np.unique(roads.street, return_index=True, return_inverse=True)
    begin, end = roads.start[:-1][first], roads.start[1:][first] - 1
    middle = (passed[begin] + passed[end]) / 2
    before = np.searchsorted(passed, middle, side="right").astype(np.int64) - 1
    before = np.clip(before, begin, end - 1)
    share = np.clip((middle - passed[before]) / np.maximum(steps[before], _SHORTEST), 0.0, 1.0)
    return before[street.ravel()], share[street.ravel()]


OUTSIDE = "outside"


def grid_zones(roads: RoadNetwork, metres: float) -> tuple[IntArray, tuple[str, ...]]:
    """Returns the zone of each link, and the zones' names.

    Zones are the squares around the middle of the network that hold the midpoint of a link. Both
    directions of a street lie in one zone. A name counts squares to the east and to the north.
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
