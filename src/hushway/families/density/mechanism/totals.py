"""How many visits each cell of the cover has over the whole window, from all that was measured.

Two noisy sources tell the same thing: the sum of a series, and the share of people whose one drawn
visit was at the cell's sites. The first weighs people by their visits, as the release does, but its
noise adds up over all bins; the second is sharper and weighs all people alike. How far the two
differ beyond their noise is estimated, and the second is trusted less by that much.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PrivacyError
from hushway.families.density.public.cover import Cover
from hushway.families.density.public.visits import (
    ClusterSeries,
    ClusterTotals,
    SiteHistogram,
    VisitTotal,
)
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.query import CutQuery


@dataclass(frozen=True, kw_only=True, eq=False)
class Noisy:
    """Noisy numbers, in visits.

    Attributes:
        values: The numbers.
        variance: Variance of the noise in each.
    """

    values: FloatArray
    variance: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """All that a density is fitted from.

    Attributes:
        cells: The clusters and bins of the series.
        parts: The series as it was measured, in whole parts of a visit.
        series: Noisy visits by (cluster, bin).
        histogram: Noisy number of people by the site of one visit, if measured.
        total: Noisy number of all visits, if measured.
        totals: Noisy visits by cell of the cover over the window, if measured.
        cuts: How many cosines of each cluster's series to keep, if chosen.
    """

    cells: ClusterSeries
    parts: IntArray
    series: Noisy
    histogram: Noisy | None
    total: Noisy | None
    totals: Noisy | None
    cuts: IntArray | None


def answers_of(measured: Sequence[Measured | MeasuredSparse]) -> Answers:
    """Tells measurements apart.

    Raises:
        PrivacyError: There is no series among them.
    """
    found = {
        CutQuery if isinstance(one.query, CutQuery) else type(one.query.cells): one
        for one in measured
        if isinstance(one, Measured)
    }
    series = found.get(ClusterSeries)
    if series is None or not isinstance(series.query.cells, ClusterSeries):
        raise PrivacyError(
            "A density cannot be fitted without a series.",
            advice="Give `fit` what `measure` returned.",
        )
    cells = series.query.cells
    shape = (cells.clusters, cells.universe.bins)
    flat = noisy(series)
    histogram, total, totals, cuts = (
        found.get(kind) for kind in (SiteHistogram, VisitTotal, ClusterTotals, CutQuery)
    )
    return Answers(
        cells=cells,
        parts=series.values.reshape(shape),
        series=Noisy(values=flat.values.reshape(shape), variance=flat.variance),
        histogram=None if histogram is None else noisy(histogram),
        total=None if total is None else noisy(total),
        # With a histogram the totals are one number for the whole city, which clusters needed.
        totals=None if totals is None or histogram is not None else noisy(totals),
        cuts=None if cuts is None else cuts.values,
    )


def noisy(measured: Measured) -> Noisy:
    """Returns a measurement in visits."""
    cells = measured.query.cells
    parts = cells.quanta if isinstance(cells, ClusterSeries | ClusterTotals) else 1
    values = measured.values.astype(np.float64) / parts
    return Noisy(values=values, variance=float(measured.variance / parts**2))


# Fine enough that no share of a site matters that is lost to rounding.
_PARTS = 1 << 16


@dataclass(frozen=True, kw_only=True, eq=False)
class Totals:
    """Visits over the window, as the series counts them.

    Attributes:
        cells: Visits of each cell of the cover; never negative.
        clusters: Visits of each cluster, the sum over its cells.
        variance: What the square of each cell's error is expected to be.
        mismatch: How far the two sources differ beyond their noise, as a share of a total.
    """

    cells: FloatArray
    clusters: FloatArray
    variance: FloatArray
    mismatch: float


def fitted_totals(answers: Answers, cover: Cover) -> Totals:
    """Combines the sum of each cluster's series with what tells its cells apart."""
    cluster, series = answers.cells.cluster, answers.series
    sums = series.values.sum(axis=1)
    noise = series.values.shape[1] * series.variance
    apart = _apart(answers, cover, max(float(sums.sum()), 1.0))
    if apart is None:
        # Clusters are made from one of the other sources, so without any, every cell is its own.
        best = np.maximum(sums, 0.0)
        return Totals(
            cells=best[cluster],
            clusters=best,
            variance=np.full(len(cluster), noise),
            mismatch=0.0,
        )
    values, variance = apart
    other, spread = _summed(cluster, values), _summed(cluster, variance)
    beyond = ((other - sums) ** 2 - spread - noise).sum()
    mismatch = max(float(beyond) / max(float((other**2).sum()), 1.0), 0.0)
    doubt = spread + mismatch * other**2
    best = np.maximum((noise * other + doubt * sums) / (noise + doubt), 0.0)
    share, size = _shares(cluster, values, spread)
    loose = np.maximum(variance * (1 - 2 * share) + share**2 * spread[cluster], 0.0) / size**2
    return Totals(
        cells=share * best[cluster],
        clusters=best,
        variance=best[cluster] ** 2 * loose + share**2 * (noise * doubt / (noise + doubt))[cluster],
        mismatch=math.sqrt(mismatch),
    )


def _shares(
    cluster: IntArray, values: FloatArray, spread: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Returns the share of each cell in its cluster, and the total that its noise is held against.

    Of a cluster whose cells were all measured at or below 0 nothing tells them apart: they get
    equal shares. No total is taken to be smaller than its noise, or errors would be without end.
    """
    positive = np.maximum(values, 0.0)
    whole = _summed(cluster, positive)[cluster]
    alike = 1 / np.bincount(cluster)[cluster]
    share = np.divide(positive, whole, out=alike, where=whole > 0)
    return share, np.maximum(whole, np.sqrt(spread)[cluster])


def histogram_totals(
    histogram: Noisy, cover: Cover, visits: float
) -> tuple[FloatArray, FloatArray]:
    """Returns visits of cells, and their variances, from the share of people at their sites.

    The histogram is normalised by its own noisy sum: the exact number of people is not public.

    Args:
        histogram: People by the site of one visit.
        cover: The cells.
        visits: All visits together.
    """
    cell, site, parts = cover.quantised(_PARTS)
    share = parts / _PARTS
    # One visit of a person is a draw: its variance is the number of people.
    spread = np.maximum(histogram.values, 0.0) + histogram.variance
    scale = visits / max(float(histogram.values.sum()), 1.0)
    values = _summed(cell, share * histogram.values[site])
    variance = _summed(cell, share**2 * spread[site])
    return values * scale, variance * scale**2


def _apart(answers: Answers, cover: Cover, visits: float) -> tuple[FloatArray, FloatArray] | None:
    if answers.histogram is not None:
        return histogram_totals(answers.histogram, cover, visits)
    totals = answers.totals
    if totals is None:
        return None
    return totals.values, np.full(len(cover), totals.variance)


def _summed(group: IntArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.bincount(group, weights=values), dtype=np.float64)
