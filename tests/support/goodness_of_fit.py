"""Tests of fit. Draws come from fixed seeds, so a passing test passes for ever."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

_FEWEST = 10.0  # expected draws in a bin, below which bins are put together


def chi_square(observed: ArrayLike, probabilities: ArrayLike) -> float:
    """The p-value of observed numbers of draws under exact probabilities that add up to one."""
    seen = np.asarray(observed, dtype=np.float64)
    expected = np.asarray(probabilities, dtype=np.float64) * seen.sum()
    assert abs(expected.sum() - seen.sum()) < 1e-6 * seen.sum(), "not a law"
    order = np.argsort(expected)
    bins = _bins(expected[order])
    parts = np.bincount(bins, weights=expected[order])
    found = np.bincount(bins, weights=seen[order])
    assert len(parts) > 1, "nothing to compare"
    statistic = float(((found - parts) ** 2 / parts).sum())
    return float(stats.chi2.sf(statistic, len(parts) - 1))


def _bins(expected: np.ndarray) -> np.ndarray:
    """Numbers ascending expectations by bin, each bin with enough draws in it."""
    held = np.concatenate([[0.0], np.cumsum(expected)])
    ends = [0]
    while True:
        end = int(np.searchsorted(held, held[ends[-1]] + _FEWEST))
        if end > len(expected) or held[-1] - held[end] < _FEWEST:
            return np.repeat(np.arange(len(ends)), np.diff([*ends, len(expected)]))
        ends.append(end)


def two_sample(ours: ArrayLike, theirs: ArrayLike) -> float:
    """The p-value of two samples of whole numbers having the same law."""
    both = np.concatenate([np.asarray(ours), np.asarray(theirs)])
    edges = np.unique(np.quantile(both, np.linspace(0, 1, 60), method="nearest"))
    table = [np.bincount(np.searchsorted(edges, x), minlength=len(edges)) for x in (ours, theirs)]
    kept = np.array(table)[:, np.sum(table, axis=0) > 0]
    return float(stats.chi2_contingency(kept).pvalue)


def kolmogorov(draws: ArrayLike, cumulative: Callable[[np.ndarray], np.ndarray]) -> float:
    """A p-value, never too small, of draws under P(Z <= k) given as a function."""
    values, counts = np.unique(np.asarray(draws), return_counts=True)
    steps = np.cumsum(counts) / counts.sum()
    before = np.concatenate([[0.0], steps[:-1]])
    above = np.abs(steps - cumulative(values)).max()
    below = np.abs(before - cumulative(values - 1)).max()
    return float(stats.kstwobign.sf(max(above, below) * np.sqrt(counts.sum())))
