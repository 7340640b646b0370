"""Counts learnt where only the largest of very many noisy values were looked at.

Most cells of a huge table are hidden: all that is known of them is that their noisy values are
below a threshold, and how much is expected of them. That is enough to learn how far counts stray
from what is expected, together with the values that are shown.

Privacy:
    Everything here is computed from noisy values and expectations: post-processing.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.learning.factored import Factored, SomeCells
from hushway.families.od.fit.learning.learn import ROUNDS, CellLaws, HiddenCells, LineLaws, Lines
from hushway.families.od.fit.learning.likelihood import (
    LEAST,
    Likelihood,
    likelihood_of,
    value_classes,
    with_hidden,
)
from hushway.families.od.fit.learning.spread import STEP, spread_laws
from hushway.privacy.noise.inversion import NoiseLaw

# Counts of a huge table stray further: a factor goes this many steps up, to 36,000.
_REACH: Final = 30


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """Cells that are looked at one by one, those of a pair of places next to each other.

    Attributes:
        cells: The cells.
        values: The noisy value of each; anything below the threshold stands for a hidden one.
        threshold: From which value on cells are shown.
    """

    cells: SomeCells
    values: IntArray
    threshold: int


@dataclass(frozen=True, kw_only=True, eq=False)
class HiddenPosterior:
    """What is known of candidates, and of all cells that are none.

    Attributes:
        mean: The posterior mean of each candidate.
        variance: Its posterior variance.
        others: The variance of a cell that is no candidate over its mean, on average.
    """

    mean: FloatArray
    variance: FloatArray
    others: float


def learn_hidden(
    candidates: Candidates, expected: Factored, missing: SomeCells, law: NoiseLaw
) -> HiddenPosterior:
    """Returns what shown and hidden values say about the counts behind them.

    Args:
        candidates: The cells that are looked at one by one.
        expected: What is expected of every cell.
        missing: Pairs that have no cell.
        law: The noise of every value.
    """
    values, cells = candidates.values, candidates.cells
    own = expected.at(cells)
    classes = value_classes(values, math.sqrt(law.variance))
    tables = likelihood_of(law, classes, float(own.max(initial=1.0)))
    tables = with_hidden(tables, law, candidates.threshold)
    last = len(classes.centres)
    shown = values >= candidates.threshold
    place = tables.nearest(own)
    start = _starts(cells)
    every = _over_all_periods(cells, start[:-1], expected)
    lines = Lines(
        value=np.where(shown, classes.of(values), last).astype(np.int32),
        expectation=place.astype(np.int32),
        start=start,
        classes=last + 1,
        grid=tables.size,
        hidden=_other_periods(own, start, every, len(expected.origins), tables),
    )
    # Expectations were counted in classes, so a class may seem to have lost more than it had.
    others = expected.histogram(STEP, LEAST, tables.size)
    others -= np.bincount(place, minlength=tables.size)
    others -= np.bincount(tables.nearest(expected.at(missing)), minlength=tables.size)
    others = np.maximum(others, 0.0)

    def seen(weights: FloatArray | None = None) -> FloatArray:
        found = lines.histogram(weights)
        found[:, -1] += others
        return found

    cell_laws = CellLaws.start(tables, spread_laws(_REACH))
    cell_laws.improve(seen())
    line_laws = LineLaws.start(every, spread_laws())
    for _ in range(ROUNDS):
        weights = line_laws.improve(lines.likelihood(cell_laws.logarithms()))
        cell_laws.improve(seen(weights))
    weights = line_laws.weights(lines.likelihood(cell_laws.logarithms()))
    mean, variance = lines.posterior(weights, cell_laws)
    moved = mean.copy()
    classes.follow(moved, values)
    hidden_mean, hidden_variance = cell_laws.hidden()
    return HiddenPosterior(
        mean=np.where(shown, moved, mean),
        variance=variance,
        others=float(others @ hidden_variance) / max(float(others @ hidden_mean), 1e-12),
    )


def _starts(cells: SomeCells) -> IntArray:
    """Returns where the cells of each pair begin, and where the last ones end."""
    new = np.flatnonzero((np.diff(cells.origin) != 0) | (np.diff(cells.destination) != 0))
    return np.concatenate([[0], new + 1, [len(cells)]]) if len(cells) else np.zeros(1, np.int64)


def _over_all_periods(cells: SomeCells, first: IntArray, expected: Factored) -> FloatArray:
    """Returns what is expected of each pair in all periods together."""
    origin, destination = cells.origin[first], cells.destination[first]
    return np.asarray(
        sum(
            expected.at(
                SomeCells(
                    period=np.full(len(first), period), origin=origin, destination=destination
                )
            )
            for period in range(len(expected.origins))
        )
    )


def _other_periods(
    own: FloatArray, start: IntArray, every: FloatArray, periods: int, tables: Likelihood
) -> HiddenCells:
    """Returns the periods of each pair that are no candidates, each as if it expected as much."""
    count = periods - np.diff(start)
    left = np.maximum(every - np.add.reduceat(own, start[:-1]), 0.0)
    place = tables.nearest(left / np.maximum(count, 1))
    return HiddenCells(count=count.astype(np.float64), expectation=place.astype(np.int32))
