"""Joins lines whose ends touch."""

from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from hushway.geography.plane import Plane

# Ends that are so near in metres are one node.
TOUCHING = 0.1


def joined_ends(
    courses: NDArray[Any],
) -> tuple[list[str], list[str], dict[str, tuple[float, float]]]:
    """Returns the nodes at both ends of lines, and where the nodes are.

    Ends at most 10 centimetres apart are one node, called by the position of one of them.

    Args:
        courses: Line strings in degrees.
    """
    ends = np.concatenate(
        [
            shapely.get_coordinates(shapely.get_point(courses, 0)),
            shapely.get_coordinates(shapely.get_point(courses, -1)),
        ]
    )
    # By the ten millionth of a degree, so that a name tells positions apart.
    places, number = np.unique(np.round(ends, 7), axis=0, return_inverse=True)
    west, south = places.min(axis=0)
    east, north = places.max(axis=0)
    plane = Plane(lon=float(west + east) / 2, lat=float(south + north) / 2)
    near = KDTree(plane.to_metres(places[:, 0], places[:, 1])).query_pairs(
        TOUCHING, output_type="ndarray"
    )
    graph = coo_array((np.ones(len(near), dtype=np.int8), near.T), shape=(len(places),) * 2)
    _, node = connected_components(graph, directed=False)
    _, first = np.unique(node, return_index=True)
    lon, lat = places[first].T.tolist()
    names = [f"{x:.7f},{y:.7f}" for x, y in zip(lon, lat, strict=True)]
    named = [names[at] for at in node[number.ravel()].tolist()]
    nodes = dict(zip(names, zip(lon, lat, strict=True), strict=True))
    return named[: len(courses)], named[len(courses) :], nodes
