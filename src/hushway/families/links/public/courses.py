"""Courses of links: rows of points, one course after the other."""

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray, WordArray
from hushway.families.links.public.roads import RoadNetwork

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
