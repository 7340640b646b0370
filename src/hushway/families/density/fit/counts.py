"""Each count of a noisy series, weighed against what the rest of the series lead one to expect.

A cleaned series is an expectation: a true count lies around it by chance, and by what cleaning
could not know. How far, is learnt from the noisy series themselves: each noisy count is held
against what would have been expected without it, and the known variance of the noise is taken out.
Then the noisy count and the expectation are weighed by what each is off by. With little noise the
noisy count is believed, with much of it the expectation. Sees noisy numbers only.
"""

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.density.fit.rhythms import Cleaned

# A count that is expected from itself alone has no other expectation.
_LARGEST_LEVERAGE = 0.999
# Before anything is learnt: factors of what cleaning says it is off by and of squared counts, and
# how sure these are.
_USUAL = np.array([1.0, 0.0, 0.0])
_SURE = np.array([0.5, 0.1, 0.03])
_ROUNDS = 3
# No cell and no bin is taken to be off by more than this times the usual square.
_FURTHEST = 20.0


def weighed(series: FloatArray, variance: float, cleaned: Cleaned) -> Cleaned:
    """Returns series in which noisy counts and what was expected of them are weighed.

    Args:
        series: The noisy series, one row a cell.
        variance: Variance of the noise in every entry.
        cleaned: What was expected of them, and how much of each its own noisy count made.
    """
    leverage = np.clip(cleaned.leverage, 0.0, _LARGEST_LEVERAGE)
    apart = (series - cleaned.values) / (1 - leverage)
    without = series - apart
    level = np.maximum(cleaned.values, 0.0)
    # What a count is off from its expectation by: what cleaning left, and the chance in a count.
    known = cleaned.variance / (1 - leverage) + level
    features = np.stack([known, level**1.5, level**2], axis=-1).reshape(-1, 3)
    factors = _learnt(features, (apart**2 - variance).ravel(), variance)
    off = np.maximum((features @ factors).reshape(series.shape), 1e-12)
    trust = off / (off + variance)
    # Some cells and some bins are further off than others. As far as that can be told from noise
    # it is in their error; it is no reason to believe their noise.
    beyond = apart**2 - variance
    further = _further(off, beyond, variance, axis=1) * _further(off, beyond, variance, axis=0)
    left = (1 - trust) ** 2 * off * further + trust**2 * variance
    return Cleaned(values=without + trust * apart, variance=left, leverage=trust)


def _further(off: FloatArray, beyond: FloatArray, variance: float, axis: int) -> FloatArray:
    """Returns by what factor rows or columns are further off than others; none is below 1."""
    weight = off / (2 * (variance + off) ** 2)
    sure = 1 / _SURE[0] ** 2
    found = (weight * beyond).sum(axis=axis, keepdims=True) + sure
    usual = (weight * off).sum(axis=axis, keepdims=True) + sure
    return np.asarray(np.clip(found / usual, 1.0, _FURTHEST))


def _learnt(features: FloatArray, squares: FloatArray, variance: float) -> FloatArray:
    """Returns the factors of features that squares have beyond the noise; none is negative."""
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
