"""What was measured for a density, told apart by what was asked."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PrivacyError
from hushway.families.density.public.visits import (
    ClusterSeries,
    ClusterTotals,
    SiteHistogram,
    VisitTotal,
)
from hushway.privacy.cuts import CutQuery
from hushway.privacy.measured import Measured, MeasuredSparse


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
