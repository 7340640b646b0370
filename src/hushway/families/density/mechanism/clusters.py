"""Merges small cells with their neighbours until every cluster is large enough to stand noise."""

import numpy as np

from hushway.arrays import FloatArray, IntArray


def merge_small(
    totals: FloatArray, centres: FloatArray, sizes: FloatArray, threshold: float
) -> IntArray:
    """Returns the cluster of each cell: algorithm 3 of the KDD 2014 paper.

    While some cluster is below the threshold, the smallest is merged with the one whose centre is
    nearest. A cluster's total is the sum of its cells' totals, its centre the centroid of its
    cells' ground. It ends when no cluster is below the threshold, or one is left. Among equals the
    cluster with the lowest first cell is taken.

    Privacy:
        Totals must already carry their noise; centres and sizes are public.

    Args:
        totals: Noisy total of each cell; may be negative.
        centres: Centre (x, y) of each cell, in metres.
        sizes: Size of each cell's ground, above 0: what its centre weighs.
        threshold: Smallest total that a cluster may have.

    Returns:
        Clusters, numbered from 0 by their first cell.
    """
    held = totals.astype(np.float64)
    middle = centres.astype(np.float64)
    weight = sizes.astype(np.float64)
    cluster = np.arange(len(held))
    for _ in range(len(held) - 1):
        smallest = int(held.argmin())
        if held[smallest] >= threshold:
            break
        nearest = _nearest(middle, smallest)
        # The lower number stays, so that a cluster is always called after its first cell.
        stays, goes = sorted((smallest, nearest))
        both = weight[stays] + weight[goes]
        middle[stays] += (middle[goes] - middle[stays]) * (weight[goes] / both)
        weight[stays] = both
        held[stays] += held[goes]
        # A cluster that is gone is never the smallest, and near to none.
        held[goes] = np.inf
        middle[goes] = np.inf
        cluster[cluster == goes] = stays
    return np.unique(cluster, return_inverse=True)[1].astype(np.int64)


def _nearest(middle: FloatArray, cluster: int) -> int:
    apart = middle - middle[cluster]
    squares = np.einsum("ij,ij->i", apart, apart)
    squares[cluster] = np.inf
    return int(squares.argmin())
