"""Noisy counts, shrunk towards what is expected of them: by their filter, and by other steps.

How far true counts lie from what is expected is learnt from the noisy ones. Sees noisy numbers
only.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import BoolArray, FloatArray
from hushway.families.density.fit.wiener import Cleaned


@dataclass(frozen=True, kw_only=True, eq=False)
class Expected:
    """What is expected of counts by answers whose noise is not in them.

    Attributes:
        rows: Of which series it is known.
        values: The expected counts of these.
        variance: The expected square of what each is off by.
    """

    rows: BoolArray
    values: FloatArray
    variance: FloatArray


# A count that is expected from itself alone has no other expectation.
_LARGEST_LEVERAGE = 0.999
# Before anything is learnt: factors of what cleaning says it is off by and of squared counts, and
# how sure these are.
_USUAL = np.array([1.0, 0.0, 0.0])
_SURE = np.array([0.5, 0.1, 0.03])
_ROUNDS = 3
_NOTHING = 1e-12
# An expectation is off by at least this part of what counts are off from it.
_LEAST_OFF = 0.01
# No cell and no bin is taken to be off by more than this times the usual square.
_FURTHEST = 20.0


def shrink_counts(
    series: FloatArray,
    variance: FloatArray | float,
    cleaned: Cleaned,
    drawn: FloatArray,
    expected: Expected | None = None,
) -> Cleaned:
    """Returns each noisy count shrunk towards its Wiener estimate, and what else is expected of it.

    A true count lies around the estimate by chance, and by what the filter could not know. How far,
    is estimated from the noisy series: each noisy count is compared with its leave-one-out
    expectation, and what is known to be noise is taken out. Then the noisy count and the
    expectation are weighed by their variances. Limits draw a part of all visits, by a chance that
    says nothing about the others: it is noise too.

    Args:
        variance: Variance of the noise that was added to every entry, or to those of each row.
        drawn: The share of all visits that the series counts, by row.
    """
    leverage = np.clip(cleaned.leverage, 0.0, _LARGEST_LEVERAGE)
    without = series - (series - cleaned.values) / (1 - leverage)
    level, share = np.maximum(cleaned.values, 0.0), drawn[:, None]
    noise = np.reshape(variance, (-1, 1)) + level * (1 - share)
    # What a count is off from its expectation by: what cleaning left, and the chance in a count.
    chance = level * share
    off = _off(series - without, noise, cleaned.variance / (1 - leverage) + chance, level)
    if expected is not None:
        rows = expected.rows
        one = without[rows], off[rows]
        known = off.copy()
        without[rows], known[rows] = _weighed(
            one, expected, series[rows], noise[rows], chance[rows]
        )
        off = _off(series - without, noise, known, level)
    apart = series - without
    trust = off / (off + noise)
    # Some cells and some bins are further off than others. As far as that can be told from noise
    # it is in their error; it is no reason to believe their noise.
    further = _further(off, apart**2 - noise, noise)
    # Whatever is learnt, a count varies by chance.
    left = (1 - trust) ** 2 * np.maximum(off * further, chance) + trust**2 * noise
    return Cleaned(values=without + trust * apart, variance=left, leverage=trust)


def _off(apart: FloatArray, noise: FloatArray, known: FloatArray, level: FloatArray) -> FloatArray:
    """Returns the expected squares of what counts are off from what was expected of them.

    Args:
        apart: What noisy counts are off from it.
        known: What is known of these squares.
    """
    features = np.stack([known, level**1.5, level**2], axis=-1).reshape(-1, 3)
    factors = _learnt(features, (apart**2 - noise).ravel(), noise.ravel())
    return np.maximum((features @ factors).reshape(apart.shape), _NOTHING)


def _weighed(
    one: tuple[FloatArray, FloatArray],
    other: Expected,
    series: FloatArray,
    noise: FloatArray,
    chance: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Returns two expectations of counts weighed, and squares of what counts are off from that.

    Rows and columns that noisy counts contradict let go of the other one.
    """
    values, off = one
    apart = series - other.values
    far = _off(apart, noise, other.variance + chance, np.maximum(other.values, 0.0))
    far *= _further(far, apart**2 - noise, noise)
    # The chance in a count is missed by both.
    near, far = (np.maximum(each - chance, _LEAST_OFF * each) for each in (off, far))
    trust = near / (near + far)
    return values + trust * (other.values - values), trust * far + chance


def _further(off: FloatArray, beyond: FloatArray, noise: FloatArray) -> FloatArray:
    """Returns by what factor rows, and columns, are further off than others; none is below 1."""
    weight = off / (2 * (noise + off) ** 2)
    sure = 1 / _SURE[0] ** 2
    factor = np.ones((1, 1))
    for axis in (1, 0):
        found = (weight * beyond).sum(axis=axis, keepdims=True) + sure
        usual = (weight * off).sum(axis=axis, keepdims=True) + sure
        factor = factor * np.clip(found / usual, 1.0, _FURTHEST)
    return factor


def _learnt(features: FloatArray, squares: FloatArray, variance: FloatArray) -> FloatArray:
    """Returns non-negative factors of features by weighted least squares on squared residuals."""
    factors = _USUAL
    for _ in range(_ROUNDS):
        # A square of a normal number has twice the square of its variance for a variance.
        weight = 1 / (2 * (variance + features @ factors) ** 2)
        weighted = features * weight[:, None]
        inverse = 1 / _SURE**2
        normal = features.T @ weighted + np.diag(inverse)
        right = weighted.T @ squares + inverse * _USUAL
        factors = np.maximum(np.linalg.solve(normal, right), [0.1, 0.0, 0.0])
    return factors
