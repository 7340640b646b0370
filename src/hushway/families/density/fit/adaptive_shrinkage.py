"""Adaptive shrinkage of noisy counts of places (Stephens 2017).

Counts of a city's places are never negative; many are small and a few are large. Their prior is a
mixture of uniform laws that all begin at 0, which can have any shape that falls. Its weights are
estimated by maximum likelihood (EM). Every noisy count is then replaced by its posterior mean:
where nothing stands out from the noise all places get about the same, and what stands out stays.
Sees noisy numbers only.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from hushway.arrays import FloatArray

# The ends of the uniform laws grow by this factor.
_STEP = 1.5
_ROUNDS = 200
# A law ends at least this far, in standard deviations of the noise.
_SHORTEST = 0.1
_REACH = 4.0
# Weights start from and are held to an even spread by as much as so many places.
_EVEN = 1.0
_ROOT_TAU = np.sqrt(2 * np.pi)


class Expected(NamedTuple):
    """Posterior means, above 0, and the expected squares of what they are still off by."""

    values: FloatArray
    variance: FloatArray


def expected_sizes(noisy: FloatArray, variance: FloatArray) -> Expected:
    """Returns posterior means of noisy counts; the variance of the noise must be above 0."""
    deviation = np.sqrt(variance)
    largest = float((noisy + _REACH * deviation).max())
    shortest = _SHORTEST * float(deviation.min())
    steps = max(int(np.ceil(np.log(max(largest, shortest) / shortest) / np.log(_STEP))), 1)
    ends = shortest * _STEP ** np.arange(steps + 1, dtype=np.float64)
    density, means, squares = _under_uniform(noisy[:, None], deviation[:, None], ends)
    weights = _most_likely(density)
    trust = weights * density
    trust /= trust.sum(axis=1, keepdims=True)
    values = (trust * means).sum(axis=1)
    spread = (trust * squares).sum(axis=1) - values**2
    return Expected(values, np.maximum(spread, 0.0))


def above_zero(values: FloatArray, variance: FloatArray) -> Expected:
    """Returns the mean and variance of normal numbers truncated to be positive.

    Far above 0 nothing changes, and far below it a little more than 0 is left, with an error that
    says so.
    """
    deviation = np.sqrt(np.maximum(variance, 1e-300))
    at = values / deviation
    # The hazard of the normal law at -at, without an overflow in either tail.
    hazard = np.sqrt(2 / np.pi) / erfcx(-at / np.sqrt(2))
    means = values + deviation * hazard
    left = variance * np.maximum(1 - hazard * (hazard + at), 0.0)
    return Expected(np.maximum(means, 0.0), left)


def _under_uniform(
    noisy: FloatArray, deviation: FloatArray, ends: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Returns likelihoods under uniform laws from 0, and means and mean squares given each."""
    low, high = -noisy / deviation, (ends - noisy) / deviation
    # Whichever tail is nearer keeps its digits.
    flip = low > 0
    first, last = np.where(flip, -high, low), np.where(flip, -low, high)
    mass = ndtr(last) * -np.expm1(np.minimum(log_ndtr(first) - log_ndtr(last), 0.0))
    mass = np.maximum(mass, 1e-300)
    at_low, at_high = (np.exp(-(x**2) / 2) / _ROOT_TAU for x in (low, high))
    shift = np.clip((at_low - at_high) / mass, low, high)
    bend = (low * at_low - high * at_high) / mass
    means = np.clip(noisy + deviation * shift, 0.0, ends)
    squares = means**2 + deviation**2 * np.clip(1 + bend - shift**2, 0.0, 1.0)
    return mass / ends, means, squares


def _most_likely(density: FloatArray) -> FloatArray:
    """Returns EM weights of the uniform laws, smoothed by an even prior."""
    count = density.shape[1]
    scaled = density / np.maximum(density.max(axis=1, keepdims=True), 1e-300)
    weights = np.full(count, 1 / count)
    for _ in range(_ROUNDS):
        shares = weights * scaled
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        weights = (shares.sum(axis=0) + _EVEN / count) / (len(density) + _EVEN)
    return np.asarray(weights)
