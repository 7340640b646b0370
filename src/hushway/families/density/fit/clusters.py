"""Clusters of cells: small neighbours are merged before their series are measured.

Totals are noisy and the ground is public, so how cells are merged costs nothing.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.fit.activity import VisitsInAll, known_activity
from hushway.families.density.fit.places import known_places
from hushway.families.density.fit.totals import by_circle, by_class, cells_of_places, noisy
from hushway.families.density.public.visits import (
    ActivityHistogram,
    ClusterTotals,
    DensityUniverse,
    SiteHistogram,
    VisitLimits,
    VisitTotal,
)
from hushway.privacy.measured import Measured

# The share of a cluster's total that the noise of its series may be, in a city of equal places and
# at most.
_AMONG_EQUALS: Final = 0.03
_AT_MOST: Final = 0.2
# If a mean cell is this many times its noise, or more, patterns tell cells apart by themselves.
_CLEAR: Final = 12.0


def clusters_of(
    measured: Sequence[Measured],
    universe: DensityUniverse,
    limits: VisitLimits,
    noise: float,
    error: float | None,
) -> IntArray:
    """Returns the cluster of each cell: none is too small for the noise, if possible.

    Privacy:
        Sees noisy totals and the public ground.

    Args:
        measured: Totals of cells; or people by site, and the number of visits in all.
        noise: Noise in the sum of a series, in visits.
        error: The share of a cluster's total that this may be; None to tell it from the totals.
    """
    totals, cover = _totals(measured, universe, limits), universe.cover
    error = evident_error(totals, noise) if error is None else error
    return merge_small(totals, cover.centres, cover.sizes, noise / error)


def evident_error(totals: FloatArray, noise: float) -> float:
    """Returns how noisy a cluster's series may be, as a share of its total, by how totals differ.

    Where a few places hold most visits they are unlike their neighbours, and lose more by being
    merged than noise takes from them. Where all hold the same, neighbours have much in common. And
    the further a mean place stands out from noise, the less there is to gain.
    """
    seen = np.maximum(totals, 0.0)
    whole = float(seen.sum())
    uneven = len(seen) * float((seen**2).sum()) / whole**2 if whole > 0 else 1.0
    clear = whole / len(seen) / noise
    return float(min(_AMONG_EQUALS * uneven**2, _AT_MOST) * max(clear / _CLEAR, 1.0))


def _totals(
    measured: Sequence[Measured], universe: DensityUniverse, limits: VisitLimits
) -> FloatArray:
    found = {type(one.query.cells): one for one in measured}
    totals = noisy(found[ClusterTotals]).values
    if SiteHistogram not in found:
        return totals
    circles, activity = by_circle(found[SiteHistogram]), None
    if ActivityHistogram in found:
        classes, visits = by_class(found[ActivityHistogram]), noisy(found[VisitTotal])
        whole = VisitsInAll(float(visits.values[0]), visits.variance)
        activity = known_activity(classes, limits, universe.bins, whole)
    # Noise alone would make some sites look large enough to be measured alone.
    places = known_places(circles.values, circles.variance, activity)
    return cells_of_places(places, universe.cover, max(float(totals[0]), 1.0)).counted


def merge_small(
    totals: FloatArray, centres: FloatArray, sizes: FloatArray, threshold: float
) -> IntArray:
    """Returns the cluster of each cell by its first cell: algorithm 3 of the KDD 2014 paper.

    While some cluster is below the threshold, the smallest is merged with the one whose centre is
    nearest. A cluster's total is the sum of its cells' totals, its centre the centroid of its
    cells' ground. Among equals the cluster with the lowest first cell is taken. Clusters are
    numbered from 0.

    Privacy:
        Totals must already carry their noise; centres and sizes are public.

    Args:
        totals: Noisy total of each cell; may be negative.
        centres: Centre (x, y) of each cell, in metres.
        sizes: Size of each cell's ground, above 0: what its centre weighs.
        threshold: Smallest total that a cluster may have.
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
