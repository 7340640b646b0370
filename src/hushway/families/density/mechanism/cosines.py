"""Series as sums of cosines, and how many of them are worth keeping."""

import numpy as np
from scipy.fft import dct, idct

from hushway.arrays import FloatArray, IntArray


def best_cuts(series: FloatArray, variance: float) -> IntArray:
    """Returns how many first coefficients of each noisy series to keep, at least one.

    To keep a coefficient costs the variance of its noise; to drop it costs its true square, which
    the noisy square minus the variance estimates without bias (Stein's unbiased risk estimate). The
    cut with the least estimated cost is taken. It sees the noisy series only.

    Args:
        series: Noisy series, one row each.
        variance: Variance of the noise in every entry.
    """
    gains = 2 * variance - dct(series, norm="ortho", axis=1) ** 2
    return np.asarray(np.cumsum(gains, axis=1).argmin(axis=1) + 1, dtype=np.int64)


def cut(series: FloatArray, cuts: IntArray) -> FloatArray:
    """Returns series made of their first coefficients alone."""
    coefficients = dct(series, norm="ortho", axis=1)
    kept = np.arange(series.shape[1]) < cuts[:, None]
    return np.asarray(idct(np.where(kept, coefficients, 0.0), norm="ortho", axis=1))


def cut_variance(bins: int, cuts: IntArray, variance: float) -> FloatArray:
    """Returns the variance of the noise that is left in every entry of cut series."""
    squares = idct(np.eye(bins), norm="ortho", axis=1) ** 2
    # Row i holds the i-th cosine, so the sum over the first k rows is what k coefficients carry.
    return np.asarray(variance * np.cumsum(squares, axis=0)[cuts - 1])
