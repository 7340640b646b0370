"""How many visits each cell of the cover has over the whole window, from all that was measured.

Two noisy sources tell the same thing: the sum of a series, and people shared among sites by all of
their visits. The first weighs people by their visits, as the release does, but its noise adds up
over all bins; the second is sharper and knows people by their circles only. How far the two
differ beyond their noise is estimated, and the second is trusted less by that much.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PrivacyError
from hushway.families.density.fit.activity import PeopleByClass
from hushway.families.density.fit.places import Expected, Places, above_zero, expected_sizes
from hushway.families.density.public.cover import Cover
from hushway.families.density.public.visits import (
    PERSON_PARTS,
    ActivityHistogram,
    ClusterSeries,
    ClusterTotals,
    LeftOutVisits,
    SiteHistogram,
    VisitTotal,
)
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.query import CutQuery


@dataclass(frozen=True, kw_only=True, eq=False)
class Noisy:
    """Noisy numbers, in visits or people, and the variance of the noise in each."""

    values: FloatArray
    variance: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """All that a density is fitted from.

    Attributes:
        cells: The clusters and bins of the series.
        parts: The series as it was measured, in whole parts of a visit.
        series: Noisy visits by (cluster, bin).
        circles: Noisy number of people by (circle, site), if measured.
        activity: Noisy number of people by class of activity, if measured.
        total: Noisy number of all visits, if measured.
        left_out: Noisy visits that the series leaves out, by period of the day, if measured.
        totals: Noisy visits by cell of the cover over the window, if measured.
        cuts: How many cosines of each cluster's series to keep, if chosen.
    """

    cells: ClusterSeries
    parts: IntArray
    series: Noisy
    circles: Noisy | None
    activity: PeopleByClass | None
    total: Noisy | None
    left_out: Noisy | None
    totals: Noisy | None
    cuts: IntArray | None

    @property
    def histogram(self) -> Noisy | None:
        """Noisy number of people by site, if measured."""
        circles = self.circles
        if circles is None:
            return None
        return Noisy(
            values=circles.values.sum(axis=0), variance=circles.variance * len(circles.values)
        )


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
    histogram, activity, total, left, totals, cuts = (
        found.get(kind)
        for kind in (
            SiteHistogram,
            ActivityHistogram,
            VisitTotal,
            LeftOutVisits,
            ClusterTotals,
            CutQuery,
        )
    )
    return Answers(
        cells=cells,
        parts=series.values.reshape(shape),
        series=Noisy(values=flat.values.reshape(shape), variance=flat.variance),
        circles=None if histogram is None else by_circle(histogram),
        activity=None if activity is None else by_class(activity),
        total=None if total is None else noisy(total),
        left_out=None if left is None else noisy(left),
        # With a histogram the totals are one number for the whole city, which clusters needed.
        totals=None if totals is None or histogram is not None else noisy(totals),
        cuts=None if cuts is None else cuts.values,
    )


def by_circle(measured: Measured) -> Noisy:
    """Returns a measured histogram by (circle, site)."""
    flat, cells = noisy(measured), measured.query.cells
    circles = cells.circles if isinstance(cells, SiteHistogram) else 1
    return Noisy(values=flat.values.reshape(circles, -1), variance=flat.variance)


def by_class(measured: Measured) -> PeopleByClass:
    """Returns measured people by class of activity."""
    found = noisy(measured)
    return PeopleByClass(found.values, found.variance, measured.event.loss.measure)


def noisy(measured: Measured) -> Noisy:
    """Returns a measurement in visits, or in people."""
    cells = measured.query.cells
    parts = 1
    if isinstance(cells, ClusterSeries | ClusterTotals):
        parts = cells.quanta
    elif isinstance(cells, SiteHistogram):
        parts = PERSON_PARTS
    values = measured.values.astype(np.float64) / parts
    return Noisy(values=values, variance=float(measured.variance / parts**2))


# People of a cluster may have more visits than others by about this much, squared.
_BUSIER = 0.04
# No cell is lowered to less than this part of itself because its cluster holds less.
_LEAST = 0.01
# Fine enough that no share of a site matters that is lost to rounding.
_PARTS = 1 << 16


@dataclass(frozen=True, kw_only=True, eq=False)
class Totals:
    """Visits over the window, as the series counts them.

    Attributes:
        cells: Visits of each cell of the cover; above 0 unless nothing was measured apart.
        clusters: Visits of each cluster, the sum over its cells.
        variance: What the square of each cell's error is expected to be.
        mismatch: How far the two sources differ beyond their noise, as a share of a total.
        scale: All visits of each cell as a multiple of those that the series counts, as far as
            cells differ in that: to be brought to the number of all visits.
        scale_variance: Variance of each multiple, relative to its square.
    """

    cells: FloatArray
    clusters: FloatArray
    variance: FloatArray
    mismatch: float
    scale: FloatArray
    scale_variance: FloatArray


def fitted_totals(
    answers: Answers, cover: Cover, places: Places | None, straight: float = 1.0
) -> Totals:
    """Combines the sum of each cluster's series with what tells its cells apart.

    Args:
        places: What people by site tell, if measured.
        straight: Share of the series' visits that were drawn as evenly as all visits are: by so
            much the series is believed where it differs from places.
    """
    cluster, series = answers.cells.cluster, answers.series
    sums = series.values.sum(axis=1)
    noise = series.values.shape[1] * series.variance
    apart = _apart(answers, cover, places, max(float(sums.sum()), 1.0))
    if apart is None:
        # Clusters are made from one of the other sources, so without any, every cell is its own.
        alone = expected_sizes(sums, np.full(len(sums), noise))
        # What was measured of all together is not moved by what is expected of each.
        alone = Expected(alone.values * max(sums.sum() / alone.values.sum(), 0.0), alone.variance)
        ones = np.ones(len(cluster))
        return Totals(
            cells=alone.values[cluster],
            clusters=alone.values,
            variance=alone.variance[cluster],
            mismatch=0.0,
            scale=ones,
            scale_variance=0 * ones,
        )
    other, spread = _summed(cluster, apart.counted), _summed(cluster, apart.variance)
    beyond = ((other - sums) ** 2 - spread - noise).sum()
    mismatch = max(float(beyond) / max(float((other**2).sum()), 1.0), 0.0)
    own = mismatch * other**2
    weight = (spread + straight * own) / (spread + own + noise)
    left = spread + straight**2 * own - weight * (spread + straight * own)
    # Whether the series or the places are right where they differ is not known for sure.
    left += straight * (1 - straight) * own
    best = above_zero(other + weight * (sums - other), left)
    cells, variance = cells_within(apart, cluster, best, mismatch)
    return Totals(
        cells=cells,
        clusters=best.values,
        variance=variance,
        mismatch=math.sqrt(mismatch),
        scale=apart.scale,
        scale_variance=apart.scale_variance,
    )


def cells_within(
    apart: Places, cluster: IntArray, best: Expected, mismatch: float
) -> tuple[FloatArray, FloatArray]:
    """Returns cells that sum to the best totals of their clusters, and their variances.

    What a cluster has more or less than its cells lead one to expect goes to them as far as each is
    in doubt: by its own noise; by people of the cluster having more visits than others, which moves
    all of its cells alike; and by places that noise hides being larger there than elsewhere, which
    says nothing about those that stand out. `mismatch` is how far clusters differ from their cells,
    as a squared share.
    """
    values, unseen = apart.counted, apart.counted * apart.hidden
    alike = min(mismatch, _BUSIER) * values * _summed(cluster, values)[cluster]
    larger = mismatch * unseen * _summed(cluster, unseen)[cluster]
    doubt = apart.variance + alike + larger
    share = doubt / np.maximum(_summed(cluster, doubt), 1e-300)[cluster]
    gap = best.values - _summed(cluster, values)
    cells = np.maximum(values + share * gap[cluster], _LEAST * values)
    cells *= (best.values / _summed(cluster, cells))[cluster]
    loose = np.maximum(apart.variance + mismatch * values**2 - share * doubt, 0.0)
    return cells, loose + share**2 * best.variance[cluster]


def _apart(answers: Answers, cover: Cover, places: Places | None, visits: float) -> Places | None:
    if places is not None:
        return cells_of_places(places, cover, visits)
    totals = answers.totals
    if totals is None:
        return None
    known = expected_sizes(totals.values, np.full(len(cover), totals.variance))
    ones = np.ones(len(cover))
    return Places(
        counted=known.values,
        variance=known.variance,
        scale=ones,
        scale_variance=0 * ones,
        hidden=np.clip(1 - known.variance / totals.variance, 0.0, 1.0),
    )


def cells_of_places(places: Places, cover: Cover, visits: float) -> Places:
    """Shares what is known about sites among cells, scaled to the visits of the series.

    The number of people, which is not public, has no say: only how they are spread has.
    """
    cell, site, parts = cover.quantised(_PARTS)
    share = parts / _PARTS
    scale = visits / float(places.counted.sum())
    held = share * places.counted[site]
    values = _summed(cell, held)
    multiples = _summed(cell, held * places.scale[site]) / values
    doubt = _summed(cell, (held * places.scale[site]) ** 2 * places.scale_variance[site])
    return Places(
        counted=values * scale,
        variance=_summed(cell, share**2 * places.variance[site]) * scale**2,
        scale=multiples,
        scale_variance=doubt / (values * multiples) ** 2,
        hidden=_summed(cell, held * places.hidden[site]) / values,
    )


def _summed(group: IntArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.bincount(group, weights=values), dtype=np.float64)
