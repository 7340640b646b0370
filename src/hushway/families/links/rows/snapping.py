"""Points put onto the nearest road."""

import numpy as np
from scipy.spatial import cKDTree

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.rows.matching import RoadMatcher
from hushway.numerics.compiled import compiled_for_threads

# Metres. Most points have a road within the first; the lists of the last are long.
_RADII = (100.0, 300.0, 1000.0)


def nearest_places(
    matcher: RoadMatcher, roads: RoadNetwork, x: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Returns the nearest place on a road of each point; far from all roads, the nearest node.

    The place and not the link alone: a two-way street is two links at one distance, and which of
    them a trip takes is for the matcher to find.
    """
    link = np.full(len(x), -1, dtype=np.int64)
    for radius in _RADII:
        lost = np.flatnonzero(link < 0)
        link[lost] = _nearest(*matcher.nearest_links(x[lost], y[lost], radius))
    place_x, place_y = _places(link, roads.start, roads.points, x, y)
    lost = np.flatnonzero(link < 0)
    if len(lost):
        _, node = cKDTree(roads.node_points).query(np.column_stack([x[lost], y[lost]]))
        place_x[lost], place_y[lost] = roads.node_points[node].T
    return place_x, place_y


@compiled_for_threads
def _nearest(start: IntArray, link: IntArray, distance: FloatArray) -> IntArray:
    """Returns the nearest link of each point, the lowest of those; -1 if there is none."""
    nearest = np.full(len(start) - 1, -1, dtype=np.int64)
    for point in range(len(nearest)):
        best = np.inf
        for i in range(start[point], start[point + 1]):
            if distance[i] < best or (distance[i] == best and link[i] < nearest[point]):
                best, nearest[point] = distance[i], link[i]
    return nearest


@compiled_for_threads
def _places(
    link: IntArray, start: IntArray, course: FloatArray, x: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Returns the place on a link's course that is nearest to each point; the point for link -1."""
    place_x, place_y = x.copy(), y.copy()
    for point in range(len(link)):
        if link[point] < 0:
            continue
        best = np.inf
        for i in range(start[link[point]], start[link[point] + 1] - 1):
            from_x, from_y = course[i, 0], course[i, 1]
            along_x, along_y = course[i + 1, 0] - from_x, course[i + 1, 1] - from_y
            square = along_x * along_x + along_y * along_y
            share = 0.0
            if square > 0:
                share = ((x[point] - from_x) * along_x + (y[point] - from_y) * along_y) / square
            share = min(max(share, 0.0), 1.0)
            at_x, at_y = from_x + share * along_x, from_y + share * along_y
            apart = np.hypot(x[point] - at_x, y[point] - at_y)
            if apart < best:
                best, place_x[point], place_y[point] = apart, at_x, at_y
    return place_x, place_y
