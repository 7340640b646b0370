"""What other steps of a series let one step expect: of totals of cells, and of counts.

1. Totals of cells are shrunk towards those of other steps, as far as these have not changed since.
2. What the noisy series of other steps add up to is cleaned like any noisy series, with its smaller
   noise. Counts are expected from that, too (`hushway.families.density.fit.shrinking`).

Privacy:
    Everything here is computed from noisy values and public places: no row, no budget.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.fit.places import Expected as ExpectedTotals
from hushway.families.density.fit.shrinking import Expected, shrink_counts
from hushway.families.density.fit.steps import Past, hours_of_week
from hushway.families.density.fit.totals import Totals
from hushway.families.density.fit.wiener import learn_series_model, wiener_filter
from hushway.families.density.public.visits import DensityUniverse
from hushway.numerics.breaks import doubted, unchanged

# When change is estimated, no cell counts for more than this many times its noise.
_OUTLIER: Final = 8.0
_NOTHING: Final = 1e-12
# Of cells that have changed since every other step nothing is expected.
_UNKNOWN: Final = 1e300


def with_totals(totals: Totals, cluster: IntArray, past: Past) -> Totals:
    """Returns totals shrunk towards those of other steps; their sum stays."""
    some = past.cells
    own = ExpectedTotals(totals.cells[some], totals.variance[some])
    level = float(own.values.sum())
    before = _expected_totals(own, past, level)
    apart = own.values - before.values
    prior = doubted(apart, own.variance, before.variance)
    trust = prior / (prior + own.variance)
    found = np.maximum(before.values + trust * apart, 0.0)
    cells, variance = totals.cells.copy(), totals.variance.copy()
    cells[some] = found * (level / max(float(found.sum()), _NOTHING))
    variance[some] = trust * own.variance
    clusters = np.bincount(cluster, cells).astype(np.float64)
    return replace(totals, cells=cells, variance=variance, clusters=clusters)


def _expected_totals(own: ExpectedTotals, past: Past, level: float) -> ExpectedTotals:
    """Returns what totals other steps expect, each of those since which it has not changed.

    How far totals stray from those of other steps, relative to their size, is learnt from all
    cells; besides, counts stray by chance.
    """
    totals, doubts = past.totals[:, past.cells] * level, past.doubts[:, past.cells] * level**2
    usual = past.weight @ totals
    stray = _strays(own.values - usual, own.variance + past.weight**2 @ doubts, usual)
    doubts = doubts + stray * usual**2 + usual
    weight = past.weight[:, None] * unchanged(own, (totals, doubts), past.away)
    known = weight.sum(axis=0) > 0
    weight /= np.maximum(weight.sum(axis=0), _NOTHING)
    values = (weight * totals).sum(axis=0)
    variance = (weight**2 * doubts).sum(axis=0) + stray * values**2 + values
    return ExpectedTotals(values, np.where(known, variance, _UNKNOWN))


def _strays(apart: FloatArray, noise: FloatArray, level: FloatArray) -> float:
    """Returns the squared relative change that explains how far numbers are from expected ones."""
    beyond = np.minimum(apart**2 - noise, _OUTLIER * noise)
    weight = (level / np.maximum(noise, _NOTHING)) ** 2
    return max(float(weight @ beyond) / max(float(weight @ level**2), _NOTHING), 0.0)


def expected_counts(
    past: Past, totals: Totals, cluster: IntArray, drawn: FloatArray, universe: DensityUniverse
) -> Expected:
    """Returns what other steps expect of the counts of a step, given its totals.

    Args:
        drawn: The share of all visits that the series counts, by cluster.
    """
    rows, known = past.rows, past.cells
    level = float(totals.clusters[rows].sum())
    series, variance = past.series[rows] * level, past.variance[rows] * level**2
    size = np.bincount(cluster[known], past.size[known], len(rows))[rows] * level
    size = np.maximum(size, np.sqrt(series.shape[1] * variance))
    model = learn_series_model(series, size, variance, universe.periods.parts)
    cleaned = wiener_filter(series, size, variance, model)
    # What chance draws of each step's visits is averaged like the noise.
    mean = shrink_counts(series, variance, cleaned, 1 - (1 - drawn[rows]) / past.steps)
    hour = np.unique(hours_of_week(universe), return_inverse=True)[1]
    factor = (totals.clusters[rows] / size * (series.sum() / series[:, hour].sum()))[:, None]
    return Expected(
        rows=rows,
        values=factor * mean.values[:, hour],
        variance=factor**2 * mean.variance[:, hour],
    )
