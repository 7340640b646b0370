import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.fft import dct

from hushway.families.density.fit.rhythms import best_cuts, cut, cut_variance

FloatArray = NDArray[np.float64]


def as_printed(row: FloatArray, variance: float) -> int:
    """The smallest k that minimises the estimated error of keeping the first k coefficients."""
    squares = dct(row, norm="ortho") ** 2
    risks = [(squares[k:] - variance).sum() + k * variance for k in range(1, len(row) + 1)]
    return int(np.argmin(risks)) + 1


@settings(derandomize=True, deadline=None)
@given(seed=st.integers(0, 10**6), bins=st.integers(1, 40), noise=st.floats(0.01, 100))
def test_the_cut_is_the_best_of_the_printed_formula(seed: int, bins: int, noise: float) -> None:
    random = np.random.default_rng(seed)
    rows = np.cumsum(random.normal(0, 3, (5, bins)), axis=1)
    found = best_cuts(rows, noise)
    assert found.tolist() == [as_printed(row, noise) for row in rows]
    assert found.dtype == np.int64


def test_at_least_one_coefficient_is_kept_and_at_most_all() -> None:
    random = np.random.default_rng(1)
    series = random.normal(0, 1, (6, 24))
    assert best_cuts(series, 1e9).tolist() == [1] * 6
    assert best_cuts(series, 0.0).tolist() == [24] * 6


def test_all_coefficients_give_the_series_back_and_one_gives_its_mean() -> None:
    series = np.random.default_rng(2).normal(5, 2, (3, 17))
    assert cut(series, np.full(3, 17)) == pytest.approx(series)
    means = np.repeat(series.mean(axis=1), 17).reshape(3, 17)
    assert cut(series, np.ones(3, dtype=np.int64)) == pytest.approx(means)


def test_every_series_is_cut_at_its_own_place() -> None:
    series = np.random.default_rng(3).normal(5, 2, (2, 12))
    both = cut(series, np.array([3, 12]))
    assert both[1] == pytest.approx(series[1])
    assert dct(both[0], norm="ortho")[3:] == pytest.approx(np.zeros(9), abs=1e-12)


def test_a_smooth_series_loses_most_of_its_noise() -> None:
    random = np.random.default_rng(4)
    truth = 100 + 40 * np.cos(np.pi * (np.arange(168) + 0.5) * 2 / 168)
    noisy = truth + random.normal(0, 10, (50, 168))
    cleaned = cut(noisy, best_cuts(noisy, 100.0))
    assert ((cleaned - truth) ** 2).mean() < 0.1 * ((noisy - truth) ** 2).mean()


def test_the_variance_that_is_left_is_that_of_noise_cut_at_the_same_place() -> None:
    random = np.random.default_rng(5)
    runs, cuts = 20_000, np.array([1, 4, 24])
    said = cut_variance(24, cuts, 9.0)
    for row, kept in zip(said, cuts, strict=True):
        noise = cut(random.normal(0, 3, (runs, 24)), np.full(runs, kept))
        # Eight standard deviations of an estimated variance: below 1e-13 for all bins together.
        assert noise.var(axis=0) == pytest.approx(row, rel=8 * np.sqrt(2 / runs))
    assert said.sum(axis=1) == pytest.approx(9.0 * cuts)
