"""Empirical Bayes where only the largest of very many noisy values are known: censored data.

Of most cells of a huge table all that is known is that their noisy values are below a threshold,
and their prior means. Together with the values that are shown that is enough to learn how far
counts stray from the prior.

Privacy:
    Everything here is computed from noisy values and prior means: post-processing.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.learning.empirical_bayes import (
    ROUNDS,
    CellMixture,
    CensoredCells,
    LineMixture,
    Lines,
)
from hushway.families.od.fit.learning.factor_model import CellList, FactorModel
from hushway.families.od.fit.learning.likelihood import (
    LEAST,
    STEP,
    Likelihood,
    likelihood_of,
    mixture_components,
    value_classes,
    with_censored,
)
from hushway.privacy.noise.inversion import NoiseLaw

# Counts of a huge table stray further: a factor goes this many steps up, to 36,000.
_REACH: Final = 30


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """Cells with estimates of their own, those of a pair of places next to each other.

    Attributes:
        values: The noisy value of each; anything below the threshold stands for a censored one.
        threshold: From which value on cells are shown.
    """

    cells: CellList
    values: IntArray
    threshold: int


@dataclass(frozen=True, kw_only=True, eq=False)
class CensoredPosterior:
    """Posterior mean and variance of each candidate, and what is known of all other cells.

    Attributes:
        pair: By how much sums over the candidates of a pair vary more than each, on average.
        others: The variance of a cell that is no candidate over its mean, on average.
    """

    mean: FloatArray
    variance: FloatArray
    pair: float
    others: float


def learn_censored(
    candidates: Candidates, expected: FactorModel, missing: CellList, law: NoiseLaw
) -> CensoredPosterior:
    """Returns the posterior of all candidates; `missing` are pairs that have no cell."""
    values, cells = candidates.values, candidates.cells
    own = expected.at(cells)
    classes = value_classes(values, math.sqrt(law.variance))
    tables = likelihood_of(law, classes, float(own.max(initial=1.0)))
    tables = with_censored(tables, law, candidates.threshold)
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
        censored=_other_periods(own, start, every, len(expected.origins), tables),
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

    cell_laws = CellMixture.start(tables, mixture_components(_REACH))
    cell_laws.run_em(seen())
    line_laws = LineMixture.start(every, mixture_components())
    for _ in range(ROUNDS):
        weights = line_laws.run_em(lines.likelihood(cell_laws.logarithms()))
        cell_laws.run_em(seen(weights))
    weights = line_laws.weights(lines.likelihood(cell_laws.logarithms()))
    mean, variance, of_pairs = lines.posterior(weights, cell_laws)
    moved = mean.copy()
    classes.follow(moved, values)
    hidden_mean, hidden_variance = cell_laws.censored()
    return CensoredPosterior(
        mean=np.where(shown, moved, mean),
        variance=variance,
        pair=max(float(of_pairs.sum()) / max(float(variance.sum()), 1e-12) - 1, 0.0),
        others=float(others @ hidden_variance) / max(float(others @ hidden_mean), 1e-12),
    )


def _starts(cells: CellList) -> IntArray:
    """Returns where the cells of each pair begin, and where the last ones end."""
    new = np.flatnonzero((np.diff(cells.origin) != 0) | (np.diff(cells.destination) != 0))
    return np.concatenate([[0], new + 1, [len(cells)]]) if len(cells) else np.zeros(1, np.int64)


def _over_all_periods(cells: CellList, first: IntArray, expected: FactorModel) -> FloatArray:
    """Returns the prior mean of each pair in all periods together."""
    origin, destination = cells.origin[first], cells.destination[first]
    return np.asarray(
        sum(
            expected.at(
                CellList(period=np.full(len(first), period), origin=origin, destination=destination)
            )
            for period in range(len(expected.origins))
        )
    )


def _other_periods(
    own: FloatArray, start: IntArray, every: FloatArray, periods: int, tables: Likelihood
) -> CensoredCells:
    """Returns the periods of each pair that are no candidates, with one mean prior for all."""
    count = periods - np.diff(start)
    left = np.maximum(every - np.add.reduceat(own, start[:-1]), 0.0)
    place = tables.nearest(left / np.maximum(count, 1))
    return CensoredCells(count=count.astype(np.float64), expectation=place.astype(np.int32))
