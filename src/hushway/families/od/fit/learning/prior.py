"""Prior means of all cells, from noisy sums: products of margins, with a factor for distance.

Each family of sums is first denoised by itself, so that the noise of small ones is not taken for
trips. Then cells are fitted to all of them by iterative proportional fitting (IPF, raking). Last,
pairs of places at about the same distance share a factor, as in a gravity model; the noisy cells
between them measure it.

Privacy:
    Everything here is computed from noisy sums, noisy cells and public places: post-processing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.families.od.fit.learning.empirical_bayes import Posterior, empirical_bayes
from hushway.families.od.fit.partitions import Partition, fit_to_sums
from hushway.privacy.noise.inversion import NoiseLaw

_SWEEPS: Final = 8
_SWEEPS_AFTER: Final = 4
_ROUNDS_OF_DISTANCE: Final = 2
# This share of the trips follows only sums that are this many deviations of their noise, each.
_COARSE, _FAR = 0.05, 3.0
# A factor of a distance never leaves less than this.
_LEAST_FACTOR: Final = 0.05


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisySums:
    """Noisy counts of the elements of a partition, and the law of their noise."""

    partition: Partition
    values: IntArray
    law: NoiseLaw

    @property
    def by_period(self) -> IntArray:
        """The noisy counts, one class of periods a row."""
        return self.values.reshape(self.partition.periods, self.partition.classes)


def prior_mean(
    sums: Sequence[NoisySums], cells: IntArray, law: NoiseLaw, distance_class: Int32Array
) -> FloatArray:
    """Returns the prior mean of every cell.

    Args:
        sums: The noisy sums; there must be at least one family of them.
        cells: The noisy cells, one period a row.
        distance_class: Which pairs of places are at about the same distance.
    """
    seen = cells.sum(axis=1).astype(np.float64), cells.shape[1] * float(law.variance)
    totals = period_totals(sums, len(cells), seen)
    told = [each for each in sums if each.partition.classes > 1]
    targets = [(each.partition, denoised_sums(each, totals)) for each in told]
    expected = _even(cells, totals)
    fit_to_sums(expected, targets, _SWEEPS)
    # Products of noisy sums may expect nothing where there is something: part of the trips is
    # expected to follow only those sums that are far from their noise.
    sure = [target for each, target in zip(told, targets, strict=True) if _is_sure(each, totals)]
    if len(sure) == len(targets):
        coarse = expected.copy()
    else:
        coarse = _even(cells, totals)
        fit_to_sums(coarse, sure, _SWEEPS)
    _favour_distances(expected, targets, cells, law, distance_class)
    expected *= 1 - _COARSE
    expected += _COARSE * coarse
    return expected


def _even(cells: IntArray, totals: FloatArray) -> FloatArray:
    """Returns a table that spreads each period's total evenly over its pairs."""
    return np.repeat((totals / cells.shape[1])[:, None], cells.shape[1], axis=1)


def _is_sure(sums: NoisySums, totals: FloatArray) -> bool:
    return float(totals.sum()) / sums.partition.size > _FAR * math.sqrt(sums.law.variance)


def _favour_distances(
    expected: FloatArray,
    targets: Sequence[tuple[Partition, FloatArray]],
    cells: IntArray,
    law: NoiseLaw,
    distance_class: Int32Array,
) -> None:
    """Gives pairs at about the same distance a common factor, measured by the cells; in place."""
    near = Partition(
        period_class=np.zeros(len(cells), dtype=np.int32),
        pair_class=distance_class,
        periods=1,
        classes=int(distance_class.max(initial=0)) + 1,
    )
    measured = near.sums(cells.astype(np.float64))
    each = np.bincount(distance_class, minlength=near.classes).astype(np.float64)
    noise = float(law.variance) * len(cells) * each
    for _ in range(_ROUNDS_OF_DISTANCE):
        near.multiply(expected, _factors(near.sums(expected), measured, noise))
        fit_to_sums(expected, targets, _SWEEPS_AFTER)


def period_totals(
    sums: Sequence[NoisySums], periods: int, *more: tuple[FloatArray, float]
) -> FloatArray:
    """Returns the trips of each period: the inverse-variance mean of all noisy answers about it.

    Args:
        more: Other noisy trips by period, and the variance of their noise.
    """
    # Where no sums tell all periods apart, those that tell most of them do.
    finest = max(each.partition.periods for each in sums)
    told = [
        (_each_period(each), each.partition.classes * float(each.law.variance))
        for each in sums
        if each.partition.periods == (periods if more else finest)
    ]
    told += more
    weights = np.array([1 / max(variance, 1e-12) for _, variance in told])
    totals = weights @ np.array([values for values, _ in told]) / weights.sum()
    # A period that seems to be empty may not be.
    return np.asarray(np.maximum(totals, 0.5 / np.sqrt(weights.sum())))


def _each_period(sums: NoisySums) -> FloatArray:
    """Returns the trips of each period, the same for all periods of a class."""
    period_class = sums.partition.period_class
    each = sums.by_period.sum(axis=1) / np.bincount(period_class)
    return np.asarray(each[period_class])


def denoised_sums(sums: NoisySums, totals: FloatArray) -> FloatArray:
    """Returns posterior means of sums, scaled to the totals of the periods."""
    period_class, periods = sums.partition.period_class, sums.partition.periods
    each: FloatArray = np.bincount(period_class, weights=totals, minlength=periods).astype(float)
    learnt = _learnt_sums(sums, each).mean
    scale = each / np.maximum(learnt.sum(axis=1), 1e-300)
    return np.asarray(learnt * scale[:, None]).ravel()


def sum_variances(sums: NoisySums) -> FloatArray:
    """Returns the posterior variance of every sum, given all noisy sums and nothing else.

    Each is expected to be the mean of its period's, which is as noisy as that.
    """
    each, noise = np.maximum(sums.by_period.sum(axis=1), 1.0), float(sums.law.variance)
    variance = _learnt_sums(sums, each).variance.ravel() + noise / sums.partition.classes
    return np.minimum(variance, noise)


def _learnt_sums(sums: NoisySums, each: FloatArray) -> Posterior:
    """Returns the posterior of sums, given the trips of each class of periods."""
    classes = sums.partition.classes
    even = np.repeat(each[:, None] / classes, classes, axis=1)
    return empirical_bayes(sums.by_period, even, sums.law)


def _factors(expected: FloatArray, measured: FloatArray, noise: FloatArray) -> FloatArray:
    """Returns measured over expected, shrunk towards 1 where noise may explain the difference."""
    trust = expected**2 / np.maximum(expected**2 + noise, 1e-300)
    factors = 1 + trust * (measured / np.maximum(expected, 1e-300) - 1)
    return np.maximum(np.where(expected > 0, factors, 1.0), _LEAST_FACTOR)
