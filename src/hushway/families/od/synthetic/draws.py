"""Whole tables that look like days, drawn from a release that learnt its counts.

A best guess is smoother than any day: it spreads over many cells what a day has in a few. A draw
gives every cell a whole count from a law with the cell's own estimate and error:

1. Periods, origins, destinations and pairs of places draw random effects that move their cells.
2. Every listed cell draws a count around what it then expects.
3. Trips of cells that are not listed are put on such cells.
4. What published totals are off by then is scaled to the error of each, and counts are moved there
   (`published_totals`).

So sums over any cells vary from draw to draw about as much as they may be wrong.

Privacy:
    Drawn from published numbers alone, as often as one likes: post-processing, which is free.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.od.files.adds_up import PublishedSums
from hushway.families.od.fit.random_effects import RandomEffects
from hushway.families.od.fit.table import KNOWN, Estimates
from hushway.families.od.public.cells import ODCells
from hushway.families.od.synthetic.published_totals import Movable, Total, move_to_totals

# What rounding a number up or down at random adds to its variance, on average.
_ROUNDING: Final = 1 / 6
_NOTHING: Final = 1e-12
# Effects move no estimate by more than this, as a variance in parts of its square.
_MOST_MOVED: Final = 9.0
# So many cells are proposed for every trip of cells that are not listed.
_PROPOSED: Final = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnTable:
    """A drawn table: cells with trips, ascending, and the trips of each."""

    cells: IntArray
    counts: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Learnt:
    """What a release that learnt says about its counts and their errors.

    Attributes:
        universe: The public cells.
        estimates: What is expected of cells.
        effects: What the errors of a place's cells have in common.
        sums: The published totals, with their errors.
    """

    universe: ODCells
    estimates: Estimates
    effects: RandomEffects
    sums: Sequence[PublishedSums]

    @cached_property
    def telling(self) -> Sequence[Total]:
        """The published totals, and how much they vary."""
        return [_total(self, one) for one in self.sums]


def draw_table(learnt: Learnt, *, seed: int) -> DrawnTable:
    """Draws a whole table."""
    rng = np.random.Generator(np.random.PCG64(seed))
    listed = _listed(rng, learnt)
    others, trips = np.unique(_unlisted(rng, learnt), return_counts=True)
    cells = np.concatenate([listed.cells, others])
    order = np.argsort(cells)
    moved = move_to_totals(
        Movable(
            cells=cells[order],
            counts=np.concatenate([listed.counts, trips])[order],
            variances=np.concatenate([listed.variances, trips])[order],
            ratios=np.concatenate([listed.ratios, np.ones(len(trips))])[order],
        ),
        learnt.telling,
    )
    counts = _rounded(rng, moved)
    kept = counts > 0
    return DrawnTable(cells=cells[order][kept], counts=counts[kept])


def _total(learnt: Learnt, sums: PublishedSums) -> Total:
    """Returns a published total, and by how much its sums should vary less than drawn cells do.

    Sums that are not twice their error vary by no more: of these an error says how large they may
    be, not that they are as often.
    """
    errors = np.asarray(sums.errors)
    cells, own = learnt.estimates.cells, learnt.estimates.standard_errors**2
    element = sums.feature.of(cells)
    varies = learnt.effects.variances(learnt.universe, cells, own, element, sums.feature.size)
    ratios = errors / np.sqrt(np.maximum(varies, _NOTHING))
    sure = sums.counts >= KNOWN * errors
    return Total(sums=sums, ratios=np.where(sure, ratios, np.minimum(ratios, 1.0)))


def _listed(rng: np.random.Generator, learnt: Learnt) -> Movable:
    """Draws the counts of the cells that have estimates."""
    variances = learnt.estimates.standard_errors**2
    means = learnt.estimates.means * _factors(rng, learnt)
    return Movable(
        cells=learnt.estimates.cells,
        # Most of what effects do is undone by sums that are known, so cells keep all of their own.
        counts=_draw_counts(rng, means, variances),
        variances=variances,
        ratios=variances / np.maximum(means, _NOTHING),
    )


def _factors(rng: np.random.Generator, learnt: Learnt) -> FloatArray:
    """Draws what random effects multiply each estimate by: lognormal, with a mean of 1."""
    estimates, own = learnt.estimates, learnt.estimates.standard_errors**2
    common, drawn = np.full(len(own), _NOTHING), np.zeros(len(own))
    for group, each in learnt.effects.of_groups(learnt.universe, estimates.cells, own):
        common += each[group]
        drawn += (np.sqrt(each) * rng.standard_normal(len(each)))[group]
    moved = common * (own / np.maximum(estimates.means, _NOTHING)) ** 2
    logs = np.log1p(np.minimum(moved, _MOST_MOVED))
    return np.asarray(np.exp(np.sqrt(logs / common) * drawn - logs / 2))


def _draw_counts(rng: np.random.Generator, means: FloatArray, variances: FloatArray) -> IntArray:
    """Draws whole counts with given means and, as nearly as whole counts can, variances."""
    counts = np.zeros(len(means), dtype=np.int64)
    # A count that is not 0 is 1 and a Poisson number more; how many follows from both moments.
    ratio = variances / np.maximum(means, _NOTHING) + means - 1
    size = (ratio + np.sqrt(ratio**2 + 4)) / 2
    clumped = size > np.maximum(means, 1.0)
    full = rng.random(len(means)) * size < means
    more = clumped & full
    counts[more] = 1 + rng.poisson(size[more] - 1)
    counts[~clumped] = _draw_near(rng, means[~clumped], variances[~clumped])
    return counts


def _draw_near(rng: np.random.Generator, means: FloatArray, variances: FloatArray) -> FloatArray:
    """Draws whole counts that are rarely 0: one of the three nearest numbers, or a normal law."""
    nearest = np.rint(means)
    beside = means - nearest
    moves = np.maximum(variances + beside**2, np.abs(beside))
    chance = rng.random(len(means))
    three = nearest - (chance < (moves - beside) / 2) + (chance > 1 - (moves + beside) / 2)
    normal = means + np.sqrt(np.maximum(variances - _ROUNDING, 0.0)) * rng.standard_normal(
        len(means)
    )
    wide = np.floor(normal + rng.random(len(means)))
    return np.maximum(np.where(moves < 1, three, wide), 0.0)


def _unlisted(rng: np.random.Generator, learnt: Learnt) -> IntArray:
    """Draws trips in cells without estimates; returns their cells.

    There are as many as sums have left. Cells are proposed, and chosen by what the finest
    published total has left there.
    """
    estimates, finest = learnt.estimates, max(learnt.sums, key=lambda sums: sums.feature.size)
    listed = np.bincount(
        finest.feature.of(estimates.cells), weights=estimates.means, minlength=len(finest.counts)
    )
    left = finest.counts - listed
    trips = rng.poisson(max(float(left.sum()), 0.0))
    if not trips or not estimates.means.any():
        return estimates.cells[:0]
    proposed = _proposed(rng, learnt, _PROPOSED * trips)
    element = finest.feature.of(proposed)
    chance = np.maximum(left, 0.0)[element] / np.bincount(element, minlength=len(left))[element]
    if not chance.any():
        return proposed[:0]
    chosen: IntArray = rng.choice(proposed, trips, p=chance / chance.sum())
    return chosen


def _proposed(rng: np.random.Generator, learnt: Learnt, count: int) -> IntArray:
    """Draws cells without estimates, by the roots of the trips of their period and places.

    Roots, since most trips of busy places are in cells that are listed; and noise hides which
    places have more of the others, so that places weigh by chance too. Half of the cells are of
    pairs that have estimates in other periods.
    """
    universe, estimates = learnt.universe, learnt.estimates
    period, origin, destination = (
        _chosen(rng, np.bincount(part, weights=estimates.means).astype(np.float64), count)
        for part in universe.decode(estimates.cells)
    )
    known = rng.choice(estimates.cells, count // 2)
    _, origin[: count // 2], destination[: count // 2] = universe.decode(known)
    cells: IntArray = universe.encode(period, origin, destination)
    exists: BoolArray = (origin != destination) | universe.include_intrazonal
    return cells[exists & ~np.isin(cells, estimates.cells)]


def _chosen(rng: np.random.Generator, trips: FloatArray, count: int) -> IntArray:
    weights = np.sqrt(trips) * rng.exponential(size=len(trips))
    chosen: IntArray = rng.choice(len(trips), count, p=weights / weights.sum())
    return chosen


def _rounded(rng: np.random.Generator, counts: FloatArray) -> IntArray:
    """Rounds up or down at random, so that every stretch of cells keeps its sum within 1."""
    steps = np.floor(np.cumsum(counts) + rng.random())
    return np.diff(steps, prepend=0.0).astype(np.int64)
