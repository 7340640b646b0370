"""Noisy series smoothed one at a time: truncated cosine series, nights, and simplex projection."""

from typing import Final

import numpy as np
from scipy.fft import dct, idct

from hushway.arrays import FloatArray, IntArray


def best_cuts(series: FloatArray, variance: float) -> IntArray:
    """Returns how many first DCT coefficients of each noisy series to keep, at least one.

    To keep a coefficient costs the variance of its noise; to drop it costs its true square, which
    the noisy square minus the variance estimates without bias (Stein's unbiased risk estimate). The
    cut with the least estimated cost is taken. It sees the noisy series only.
    """
    gains = 2 * variance - dct(series, norm="ortho", axis=1) ** 2
    return np.asarray(np.cumsum(gains, axis=1).argmin(axis=1) + 1, dtype=np.int64)


def cut(series: FloatArray, cuts: IntArray) -> FloatArray:
    """Returns series made of their first DCT coefficients alone."""
    coefficients = dct(series, norm="ortho", axis=1)
    kept = np.arange(series.shape[1]) < cuts[:, None]
    return np.asarray(idct(np.where(kept, coefficients, 0.0), norm="ortho", axis=1))


def cut_variance(bins: int, cuts: IntArray, variance: float) -> FloatArray:
    """Returns the variance of the noise that is left in every entry of cut series."""
    squares = idct(np.eye(bins), norm="ortho", axis=1) ** 2
    # Row i holds the i-th cosine, so the sum over the first k rows is what k coefficients carry.
    return np.asarray(variance * np.cumsum(squares, axis=0)[cuts - 1])


# Clock hours from and to which counts fall, and from and to which they rise.
FALLING: Final = (0.0, 4.0)
RISING: Final = (4.0, 6.0)
# A curve has two parameters: it goes through two counts exactly and smooths nothing.
_FEWEST_COUNTS = 3
# Beyond this exponent a curve is nothing but its first or last count.
_STEEPEST = 24.0
_STEPS = 97
_NARROWINGS = 40
_GOLDEN = (np.sqrt(5.0) - 1) / 2


def smooth_nights(series: FloatArray, *, starts: FloatArray) -> FloatArray:
    """Returns the series with the night of each day replaced by two fitted curves.

    Each curve is the least-squares fit of a * exp(b * x) with a >= 0 to the counts themselves, not
    to their logarithms, over the bins that start between its hours, both ends included. The two are
    fitted apart, as in the paper, so they need not meet: the bin that starts at 04:00 belongs to
    both and gets the mean of the two. Where fewer than three bins start between a curve's hours,
    as when bins are longer than two hours, that curve is left out. Nights without visits, or with
    noise below 0, become 0; all other bins stay as they are.

    Privacy:
        Only for series that already carry their noise: it costs nothing.

    Args:
        series: Noisy counts by (cell, bin), day after day.
        starts: Clock hour at which each part of a day starts; bins are days * parts.
    """
    cells = len(series)
    parts = len(starts)
    days = series.reshape(-1, parts)
    fitted = np.zeros_like(days, dtype=np.float64)
    curves = np.zeros(parts)
    for low, high in (FALLING, RISING):
        inside = np.flatnonzero((starts >= low) & (starts <= high))
        if len(inside) >= _FEWEST_COUNTS:
            fitted[:, inside] += fit_exponentials(days[:, inside], starts[inside])
            curves[inside] += 1
    smooth = np.where(curves > 0, fitted / np.maximum(curves, 1), days)
    return smooth.reshape(cells, -1)


def fit_exponentials(counts: FloatArray, times: FloatArray) -> FloatArray:
    """Returns the values of the best a * exp(b * x), a >= 0, for each row of counts.

    For a given b the best a is a ratio of sums, so only b is searched: on a grid, which finds the
    right valley whatever the noise, then by golden sections around the best point of it.
    """
    x = (times - times[0]) / (times[-1] - times[0])
    grid = np.linspace(-_STEEPEST, _STEEPEST, _STEPS)
    shapes = _shapes(grid, x)
    best = grid[(counts @ shapes.T).argmax(axis=1)]
    step = grid[1] - grid[0]
    slopes = _narrowed(counts, x, best - step, best + step)
    shapes = _shapes(slopes, x)
    return np.asarray(np.maximum(_explained(counts, shapes), 0.0)[:, None] * shapes)


def _shapes(slopes: FloatArray, x: FloatArray) -> FloatArray:
    """Returns exponential curves, one row for each slope, each of length 1."""
    # The exponent is at most 0, so that nothing overflows.
    exponents = slopes[:, None] * x - np.maximum(slopes, 0.0)[:, None]
    curves = np.exp(exponents)
    return np.asarray(curves / np.sqrt((curves**2).sum(axis=1, keepdims=True)))


def _explained(counts: FloatArray, shapes: FloatArray) -> FloatArray:
    """Returns the part of each row along its curve: the larger, the smaller the squared error."""
    return np.asarray(np.einsum("ij,ij->i", counts, shapes))


def _narrowed(counts: FloatArray, x: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Returns the best slope of each row between two slopes."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left = _explained(counts, _shapes(left, x))
    at_right = _explained(counts, _shapes(right, x))
    for _ in range(_NARROWINGS):
        lower = at_left >= at_right
        low, high = np.where(lower, low, left), np.where(lower, right, high)
        fresh = np.where(lower, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        at_fresh = _explained(counts, _shapes(fresh, x))
        left, right = np.where(lower, fresh, right), np.where(lower, left, fresh)
        at_left, at_right = (
            np.where(lower, at_fresh, at_right),
            np.where(lower, at_left, at_fresh),
        )
    return (low + high) / 2


def project_onto_simplex(series: FloatArray, totals: FloatArray) -> FloatArray:
    """Returns, for each row, the nearest row without negative entries and with the given sum.

    The nearest one lowers (or raises) all entries by the same amount and cuts off at 0 (Held, Wolfe
    and Crowder 1974).
    """
    descending = -np.sort(-series, axis=1)
    over = np.cumsum(descending, axis=1) - totals[:, None]
    shift = over / np.arange(1, series.shape[1] + 1)
    # The last position at which an entry stays above 0 after the shift; there is always one.
    last = np.maximum((descending > shift).sum(axis=1), 1) - 1
    lowered = series - shift[np.arange(len(series)), last][:, None]
    return np.asarray(np.maximum(lowered, 0.0), dtype=np.float64)
