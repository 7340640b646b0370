"""What other steps of a series say about the visits of one step: all post-processing.

1. Pool: noisy series of other steps are laid over the hours of a week, shared among cells of the
   cover and added up, each weighted by how much it tells; so are their fitted totals of cells.
2. Expect: what was pooled is cleaned like any noisy series, with its smaller noise.
3. Update: totals of cells, then counts, are shrunk towards what other steps expect, as far as this
   step's own noisy answers follow it. Cells and hours that contradict it let go of the past.

Privacy:
    Everything here is computed from noisy values and public places: no row, no budget.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.density.fit.scaling import Levels
from hushway.families.density.fit.totals import Answers, Totals
from hushway.families.density.fit.wiener import (
    Expected,
    learn_series_model,
    shrink_counts,
    wiener_filter,
)
from hushway.families.density.public.visits import DensityUniverse

# A step counts so much less for each step that it is further away.
FADES: Final = 0.9
# Two numbers of a cell that are more deviations apart than this are not of the same size.
_SURPRISE: Final = 2.5
# Steps on both sides of a change that is so many deviations large tell nothing of each other.
_BREAK: Final = 3.0
# When change is estimated, no cell counts for more than this many times its noise.
_OUTLIER: Final = 8.0
_NOTHING: Final = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyStep:
    """What another step measured, for the cells of the cover and the hours of one that learns.

    Attributes:
        series: Its noisy visits by (its cluster, hour of the week).
        variance: Variance of the noise in each.
        cluster: The cluster of it that holds each cell.
        share: The part of that cluster that is the cell.
        totals: Visits of each cell over the window; 0 where it had no such cell.
        doubt: What the square of the error of each total is expected to be.
        known: Which cells it had.
    """

    series: FloatArray
    variance: float
    cluster: IntArray
    share: FloatArray
    totals: FloatArray
    doubt: FloatArray
    known: BoolArray

    def told(self, cells: BoolArray) -> float:
        """Returns how much it tells of some cells: their visits over the noise, squared."""
        return float(self.totals[cells].sum()) ** 2 / self.variance

    def among(self, cluster: IntArray, cells: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Returns its series as parts of all visits of some cells, and the noise of each row."""
        parts = np.zeros((int(cluster.max()) + 1, len(self.series)))
        np.add.at(parts, (cluster[cells], self.cluster[cells]), self.share[cells])
        level = max(float((parts @ self.series).sum()), 1.0)
        return parts @ self.series / level, (parts**2).sum(axis=1) * self.variance / level**2


def noisy_step(
    answers: Answers, levels: Levels, own: DensityUniverse, universe: DensityUniverse
) -> NoisyStep:
    """Returns what a step measured, for the cells and hours of another universe."""
    totals, cluster, series = levels.totals, answers.cells.cluster, answers.series
    hour, wanted = hours_of_week(own), np.unique(hours_of_week(universe))
    laid = (hour[:, None] == wanted) / np.maximum((hour[:, None] == wanted).sum(axis=0), 1)
    index = {key: place for place, key in enumerate(cell_names(own))}
    at = np.array([index.get(key, -1) for key in cell_names(universe)])
    known = at >= 0
    share = totals.cells / np.maximum(totals.clusters[cluster], _NOTHING)
    return NoisyStep(
        series=series.values @ laid,
        variance=series.variance * float((laid**2).sum(axis=0).mean()),
        cluster=cluster[at],
        share=np.where(known, share[at], 0.0),
        totals=np.where(known, totals.cells[at], 0.0),
        doubt=np.where(known, totals.variance[at], 0.0),
        known=known,
    )


def tells_of(own: DensityUniverse, universe: DensityUniverse) -> bool:
    """Whether a step measured cells of a universe, in all of its parts of the day and weekdays."""

    def day(one: DensityUniverse) -> tuple[Hashable, ...]:
        return one.periods.opens, one.periods.closes, one.periods.minutes, one.periods.named

    hours = np.isin(hours_of_week(universe), hours_of_week(own))
    return bool(
        day(own) == day(universe)
        and hours.all()
        and not set(cell_names(own)).isdisjoint(cell_names(universe))
    )


def hours_of_week(universe: DensityUniverse) -> IntArray:
    """Returns which part of which weekday each bin is, Mondays first."""
    periods = universe.periods
    first = periods.first_day.weekday() if periods.cycle == "window" else 0
    bins = first * periods.parts + np.arange(universe.bins)
    return np.asarray(bins % (7 * periods.parts), dtype=np.int64)


def cell_names(universe: DensityUniverse) -> list[Hashable]:
    """Returns what each cell of the cover is called: an area, or the places of a site."""
    cover, sites = universe.cover, universe.sites
    names: list[set[str]] = [set() for _ in range(universe.site_count)]
    for place, site in zip(sites.locations.ids, sites.site, strict=True) if sites else ():
        if site >= 0:
            names[site].add(place)
    areas = universe.areas.areas
    return [
        frozenset(names[member]) if is_site else areas[member].id
        for member, is_site in zip(cover.member, cover.is_site, strict=True)
    ]


@dataclass(frozen=True, kw_only=True, eq=False)
class Past:
    """What other steps say together, as parts of all visits of the cells that all of them had.

    Attributes:
        cells: Which cells these are.
        rows: Which clusters have no other cells.
        series: Noisy visits by (cluster, hour of the week).
        variance: Variance of the noise in each row.
        size: Visits of each cell.
        totals: The same by (step, cell).
        doubts: What the square of each error is expected to be.
        weight: How much each step counts.
        away: How many steps it is away.
        steps: About how many steps of equal weight they are.
    """

    cells: BoolArray
    rows: BoolArray
    series: FloatArray
    variance: FloatArray
    size: FloatArray
    totals: FloatArray
    doubts: FloatArray
    weight: FloatArray
    away: IntArray
    steps: float


def pooled(steps: Sequence[tuple[int, NoisyStep]], cluster: IntArray) -> Past | None:
    """Adds up other steps, so many away, each by its weight; None if no cluster is known."""
    cells = np.all(
        [np.ones(len(cluster), dtype=np.bool_), *(one.known for _, one in steps)], axis=0
    )
    rows = np.bincount(cluster, ~cells) == 0
    if not steps or not rows.any():
        return None
    cells = rows[cluster]
    weight = np.array([FADES ** abs(away) * one.told(cells) for away, one in steps])
    weight /= weight.sum()
    laid = [one.among(cluster, cells) for _, one in steps]
    levels = np.array([max(float(one.totals[cells].sum()), _NOTHING) for _, one in steps])
    totals = np.array([one.totals for _, one in steps]) / levels[:, None]
    return Past(
        cells=cells,
        rows=rows,
        series=np.tensordot(weight, [series for series, _ in laid], 1),
        variance=weight**2 @ np.array([noise for _, noise in laid]),
        size=weight @ totals,
        totals=totals,
        doubts=np.array([one.doubt for _, one in steps]) / levels[:, None] ** 2,
        weight=weight,
        away=np.array([away for away, _ in steps]),
        steps=1 / float((weight**2).sum()),
    )


def with_totals(totals: Totals, cluster: IntArray, past: Past) -> Totals:
    """Returns totals shrunk towards those of other steps; their sum stays.

    How far totals stray from those of other steps, relative to their size, is learnt from all
    cells. Of each cell only the steps count between which and this one it has not changed for sure.
    """
    some = past.cells
    own, level = totals.variance[some], float(totals.cells[some].sum())
    steps, doubts = past.totals[:, some] * level, past.doubts[:, some] * level**2
    usual = past.weight @ steps
    stray = _strays(totals.cells[some] - usual, own + past.weight**2 @ doubts, usual)
    # Counts stray by chance, too.
    doubts = doubts + stray * usual**2 + usual
    sides = [past.away > 0, past.away < 0]
    weight = past.weight[:, None] * np.ones_like(steps)
    for side in sides:
        order = np.flatnonzero(side)[np.argsort(abs(past.away[side]))]
        line = np.vstack([totals.cells[some], steps[order]])
        weight[order] *= _unbroken(line, np.vstack([own, doubts[order]]))
    whole = weight.sum(axis=0)
    weight /= np.maximum(whole, _NOTHING)
    before = (weight * steps).sum(axis=0)
    apart = totals.cells[some] - before
    prior = (weight**2 * doubts).sum(axis=0) + stray * before**2 + before
    prior *= np.maximum(apart**2 / (own + prior) / _SURPRISE**2, 1.0) ** 2
    trust = np.where(whole > 0, prior / (prior + own), 1.0)
    cells, variance = totals.cells.copy(), totals.variance.copy()
    shrunk = np.maximum(before + trust * apart, 0.0)
    cells[some] = shrunk * (level / max(float(shrunk.sum()), _NOTHING))
    variance[some] = trust * own
    clusters = np.bincount(cluster, cells).astype(np.float64)
    return replace(totals, cells=cells, variance=variance, clusters=clusters)


def _unbroken(line: FloatArray, variance: FloatArray) -> FloatArray:
    """Returns whether each step but the first of a line counts: 1 before its surest break, else 0.

    A line goes from a step to those ever further away, one row each. A column has a break where
    the mean of what is nearer and the mean of what is further differ most, beyond their noise.
    """
    sure = 1 / np.maximum(variance, _NOTHING)
    near, nearer = np.cumsum(sure, axis=0)[:-1], np.cumsum(sure * line, axis=0)[:-1]
    far, further = sure.sum(axis=0) - near, (sure * line).sum(axis=0) - nearer
    surprise = (nearer / near - further / far) ** 2 / (1 / near + 1 / far)
    last = np.where(
        surprise.max(axis=0, initial=0) > _BREAK**2,
        surprise.argmax(axis=0) if len(surprise) else 0,
        len(surprise),
    )
    return (np.arange(len(surprise))[:, None] < last).astype(np.float64)


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
