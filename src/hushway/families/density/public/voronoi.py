"""Voronoi cells: to every site the ground that is nearer to it than to any other site."""

from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import Voronoi

from hushway.arrays import FloatArray

# Guards so far away that no ground is nearer to a guard than to a site: a cell between them ends
# well outside the ground, and no cell is infinite.
_GUARDS = 8 * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
_DIMENSIONS = 2


def voronoi_cells(points: FloatArray, ground: FloatArray) -> NDArray[Any]:
    """Returns the cell of every point, in the order of the points.

    Cells reach beyond the ground on all sides; whoever intersects them with areas clips them.
    Qhull cuts them: the diagram of GEOS goes wrong for points on a circle.

    Args:
        points: Distinct positions (x, y) in metres, one row each.
        ground: What the cells must cover at least: (west, south, east, north) in metres.
    """
    corners = np.concatenate([points, ground.reshape(_DIMENSIONS, _DIMENSIONS)])
    low, high = corners.min(axis=0), corners.max(axis=0)
    # Measured from the middle: far from 0 coordinates have fewer digits to spare.
    middle = (low + high) / 2
    # A metre is for a ground of no extent.
    diagonal = float(np.hypot(*(high - low))) + 1.0
    diagram = Voronoi(np.concatenate([points - middle, _GUARDS * diagonal]))
    regions = [diagram.regions[region] for region in diagram.point_region[: len(points)]]
    corner = np.concatenate([np.asarray(region) for region in regions])
    ring = np.repeat(np.arange(len(regions)), [len(region) for region in regions])
    rings = shapely.linearrings(diagram.vertices[corner] + middle, indices=ring)
    return np.asarray(shapely.polygons(rings))
