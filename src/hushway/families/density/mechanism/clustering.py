"""Clusters of cells that are large enough to stand the noise, from noisy totals."""

from collections.abc import Sequence

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.mechanism.answers import noisy
from hushway.families.density.mechanism.clusters import merge_small
from hushway.families.density.mechanism.totals import histogram_totals
from hushway.families.density.public.cover import Cover
from hushway.families.density.public.visits import ClusterTotals, SiteHistogram
from hushway.privacy.measured import Measured


def clusters_of(measured: Sequence[Measured], cover: Cover, smallest: float) -> IntArray:
    """Returns the cluster of each cell: none has a noisy total below `smallest`, if possible.

    Privacy:
        Sees noisy totals and the public ground.

    Args:
        measured: Totals of cells; or a histogram of sites and the number of visits in all.
        cover: The cells.
        smallest: Smallest total of a cluster, in visits of the series.
    """
    totals = _totals(measured, cover)
    return merge_small(totals, cover.centres, cover.sizes, smallest)


def _totals(measured: Sequence[Measured], cover: Cover) -> FloatArray:
    found = {type(one.query.cells): noisy(one) for one in measured}
    totals = found[ClusterTotals].values
    if SiteHistogram not in found:
        return totals
    values, _ = histogram_totals(found[SiteHistogram], cover, max(float(totals[0]), 1.0))
    return np.maximum(values, 0.0)
