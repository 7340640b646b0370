"""Where links have their middle. Both directions of a street share it."""

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.public.courses import segment_lengths
from hushway.families.links.public.roads import RoadNetwork

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
