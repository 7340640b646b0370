"""Nested groups of places by their public zones and positions: what a map shows from afar."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from hushway.arrays import FloatArray, IntArray
from hushway.geography.locations import Locations

# Fewer places are told apart at once.
_FEWEST: Final = 40
_FEWEST_GROUPS: Final = 6
# A step has so many times as many groups as the next one.
_STEP: Final = 4
# Distances of all pairs of so many points are held in memory.
_MOST_POINTS: Final = 2_000
# Degrees: further apart than any two places.
_FAR: Final = 1e6
_CLOSE: Final = 1e-5


def nested_clusters(places: Locations) -> tuple[IntArray, ...]:
    """Returns the group of each place, in steps from many groups to few; no step for few places.

    Steps with more groups than there are zones divide zones, and others join whole ones. Groups of
    positions are those of Ward (1963): each step joins what moves least from its middle.

    Privacy:
        Made of the public list alone.
    """
    if len(places) < _FEWEST:
        return ()
    points, zone = _plane(places), zones_of(places)
    if zone is None:
        return _cut(points, _sizes(len(places)))
    zones = int(zone.max()) + 1
    # Zones are so far apart that none is joined with another before it is whole.
    apart = np.column_stack([points, _FAR * zone])
    finer = _cut(apart, [size for size in _sizes(len(places)) if size >= 2 * zones])
    coarser = _cut(_middles(points, zone), _sizes(zones))
    return (*finer, zone, *(step[zone] for step in coarser))


def zones_of(places: Locations) -> IntArray | None:
    """Returns the zone of each place, counted in the order of names; None if zones group nothing.

    That is so if there is one only, if a place has none, or if most have one of their own.
    """
    names, zone = np.unique([place.zone for place in places.places], return_inverse=True)
    if "" in names or not 1 < len(names) <= len(places) / 2:
        return None
    return zone.astype(np.int64)


def _plane(places: Locations) -> FloatArray:
    lon, lat = np.array([(place.lon, place.lat) for place in places.places]).T
    return np.column_stack([lon * math.cos(math.radians(float(lat.mean()))), lat])


def _sizes(size: int) -> list[int]:
    found = []
    while (size := size // _STEP) >= _FEWEST_GROUPS:
        found.append(size)
    return found


def _cut(points: FloatArray, sizes: Sequence[int]) -> tuple[IntArray, ...]:
    """Returns the cluster of each point, for each number of clusters."""
    square = _squares(points)
    # Points that are all alike have no clusters.
    if not sizes or not square.any():
        return ()
    tree = linkage(_middles(points, square), "ward")
    return tuple(fcluster(tree, size, "maxclust")[square].astype(np.int64) - 1 for size in sizes)


def _squares(points: FloatArray) -> IntArray:
    """Returns the square of a grid that each point is in: of the finest with few enough."""
    side = _CLOSE
    while True:
        found, square = np.unique(np.floor(points / side), axis=0, return_inverse=True)
        if len(found) <= _MOST_POINTS:
            return np.asarray(square.ravel(), dtype=np.int64)
        side *= 2


def _middles(points: FloatArray, group: IntArray) -> FloatArray:
    sizes = np.bincount(group)
    return np.column_stack([np.bincount(group, column) / sizes for column in points.T])
