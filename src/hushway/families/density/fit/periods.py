"""How much of each period of the day the series leaves out, from noisy sums of that.

Of busy people the series has a part, and they are busier at some hours than at others.
"""

from typing import Final, NamedTuple

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.density.fit.scaling import Levels, crowding_of
from hushway.families.density.fit.totals import Answers, Noisy
from hushway.families.density.public.visits import VisitLimits

# Differences between periods are believed as far as they exceed noise by so many deviations of
# what noise alone makes of the sum of their squares. Squares of Laplace noise vary by 5 times the
# square of its variance.
_SURE: Final = 2.0
_KURTOSIS: Final = 5.0
# Beside what is believed, shares of periods differ by this much, as a variance in parts of them.
_USUAL_SPREAD: Final = 0.01


class PeriodScale(NamedTuple):
    """All visits of each bin over counted ones, beside the mean of that, and relative variances."""

    value: FloatArray
    variance: FloatArray


def period_scale(
    shapes: FloatArray, answers: Answers, levels: Levels, limits: VisitLimits
) -> PeriodScale:
    """Returns by what factors bins are to be scaled, and how sure that is.

    Args:
        shapes: Series of clusters that sum to 1.
        answers: What was measured.
        levels: Totals of clusters.
        limits: How much of a person counts.
    """
    bins, left = shapes.shape[1], answers.left_out
    crowding = crowding_of(shapes, levels, limits)
    by_chance = PeriodScale(np.ones(bins), (crowding - 1) ** 2)
    if left is None or left.values.sum() <= 0:
        return by_chance
    parts = len(left.values)
    counted = (levels.totals.clusters @ shapes).reshape(-1, parts).sum(axis=0)
    counted = np.maximum(counted, 1e-9)
    found = _left_out(left, counted)
    if found is None:
        return by_chance
    added, unknown = found
    whole = counted + added * (levels.scale.value - 1) * counted.sum() / added.sum()
    value = whole / counted * (counted.sum() / whole.sum())
    variance = (1 - counted / whole) ** 2 * unknown
    return PeriodScale(np.tile(value, bins // parts), np.tile(variance, bins // parts))


def _left_out(left: Noisy, counted: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Returns what is left out of each period, and the variance of each in parts of it.

    A period is expected to have its share of counted visits, and differs from that by as much as
    noise cannot explain (empirical Bayes). None if noise explains all.
    """
    expected = counted * (left.values.sum() / counted.sum())
    noise = left.variance * (len(counted) + _SURE * np.sqrt(_KURTOSIS * len(counted)))
    spread = (float(((left.values - expected) ** 2).sum()) - noise) / float(expected @ expected)
    if spread <= 0:
        return None
    own = spread * expected**2
    trust = own / (own + left.variance)
    added = np.maximum(expected + trust * (left.values - expected), 0.0)
    return added, spread * (1 - trust) + _USUAL_SPREAD
