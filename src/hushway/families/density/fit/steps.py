"""What other steps of a series measured, on the cells and hours of one step, and added up.

Noisy series of other steps are laid over the hours of a week, shared among cells of the cover and
added up, each weighted by how much it tells; so are their fitted totals of cells.

Privacy:
    Everything here is computed from noisy values and public places: no row, no budget.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.density.fit.scaling import Levels
from hushway.families.density.fit.totals import Answers
from hushway.families.density.public.visits import DensityUniverse

# A step counts so much less for each step that it is further away.
FADES: Final = 0.9
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
