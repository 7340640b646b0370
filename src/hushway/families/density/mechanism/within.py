"""How far cells differ from the cluster that speaks for them.

One series is measured for all cells of a cluster, so how they differ from each other cannot be
seen. Neighbouring clusters can: shapes of cells within a cluster are taken to differ by as much as
shapes of neighbouring clusters do, which lie further apart, so this errs on the safe side.
"""

import numpy as np
from scipy.spatial import cKDTree

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.public.cover import Cover

_NEIGHBOURS = 4


def relative_spread(
    shapes: FloatArray, totals: FloatArray, cluster: IntArray, cover: Cover
) -> FloatArray:
    """Returns, for each bin, the square by which a cell's share differs from its cluster's.

    Args:
        shapes: Cleaned series that sum to 1, one row a cluster.
        totals: Visits of each cluster: what its shape weighs.
        cluster: The cluster of each cell.
        cover: The cells and their ground.

    Returns:
        A variance relative to the square of the share; 0 with fewer than two clusters.
    """
    bins = shapes.shape[1]
    if len(shapes) < 2:  # noqa: PLR2004  a neighbour needs another cluster
        return np.zeros(bins)
    weight = np.bincount(cluster, cover.sizes)
    middle = np.column_stack(
        [np.bincount(cluster, cover.sizes * axis) / weight for axis in cover.centres.T]
    )
    count = min(_NEIGHBOURS, len(shapes) - 1)
    _, nearest = cKDTree(middle).query(middle, k=count + 1)
    apart = np.zeros(bins)
    for neighbour in nearest[:, 1:].T:
        apart += totals @ (shapes - shapes[neighbour]) ** 2
    level = totals @ shapes**2
    return np.asarray(apart / (2 * count) / np.maximum(level, 1e-300))
