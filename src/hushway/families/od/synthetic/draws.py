"""Whole tables that look like days, drawn from a release that learnt its counts.

A best guess is smoother than any day: it spreads over many cells what a day has in a few. A draw
gives every cell a whole count from a law with the cell's own estimate and error, and the trips of
every period are those of the release, as exactly as these are known.

Privacy:
    Drawn from published numbers alone, as often as one likes: post-processing, which is free.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.table import Estimates
from hushway.families.od.public.cells import ODCells

# What rounding a number up or down at random adds to its variance, on average.
_ROUNDING: Final = 1 / 6


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnTable:
    """A drawn table: cells with trips, ascending, and the trips of each."""

    cells: IntArray
    counts: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class PeriodSums:
    """The published trips of every period, and the standard error of each."""

    counts: IntArray
    errors: FloatArray


def draw_table(
    universe: ODCells, estimates: Estimates, sums: PeriodSums, *, seed: int
) -> DrawnTable:
    """Draws a whole table."""
    rng = np.random.Generator(np.random.PCG64(seed))
    period = estimates.cells // universe.pairs
    listed = np.bincount(period, weights=estimates.means, minlength=len(sums.counts))
    # The cells that are not listed expect next to nothing each, but something together.
    scale = sums.counts / np.maximum(listed, 1e-12)
    counts = _draw_counts(rng, estimates.means * scale[period], estimates.standard_errors**2)
    wanted = np.rint(sums.counts + sums.errors * rng.standard_normal(len(sums.counts)))
    ends = np.searchsorted(period, np.arange(len(sums.counts) + 1))
    for number, total in enumerate(np.maximum(wanted, 0).astype(np.int64)):
        part = slice(ends[number], ends[number + 1])
        counts[part] = _adjusted(rng, counts[part], int(total))
    kept = counts > 0
    return DrawnTable(cells=estimates.cells[kept], counts=counts[kept])


def _draw_counts(rng: np.random.Generator, means: FloatArray, variances: FloatArray) -> IntArray:
    """Draws whole counts with given means and, as nearly as whole counts can, variances."""
    counts = np.zeros(len(means), dtype=np.int64)
    # A count that is not 0 is 1 and a Poisson number more; how many follows from both moments.
    ratio = variances / np.maximum(means, 1e-12) + means - 1
    size = (ratio + np.sqrt(ratio**2 + 4)) / 2
    clumped = size > np.maximum(means, 1.0)
    full = rng.random(len(means)) * size < means
    more = clumped & full
    counts[more] = 1 + rng.poisson(size[more] - 1)
    mean, variance = means[~clumped], variances[~clumped]
    near = mean + np.sqrt(np.maximum(variance - _ROUNDING, 0.0)) * rng.standard_normal(len(mean))
    counts[~clumped] = np.floor(np.maximum(near, 0.0) + rng.random(len(mean))).astype(np.int64)
    return counts


def _adjusted(rng: np.random.Generator, counts: IntArray, total: int) -> IntArray:
    """Takes trips away at random, or adds some where trips are, until the total is right."""
    drawn = int(counts.sum())
    if drawn > total:
        return rng.multivariate_hypergeometric(counts, total, method="marginals")
    if 0 < drawn < total:
        return counts + rng.multinomial(total - drawn, counts / drawn)
    return counts
