"""Truncated cosine series, exponential nights, and the projection onto a simplex."""

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.fft import dct
from scipy.optimize import curve_fit

from hushway.arrays import FloatArray
from hushway.families.density.fit.smoothing import (
    best_cuts,
    cut,
    cut_variance,
    fit_exponentials,
    project_onto_simplex,
    smooth_nights,
)


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


HOURS = np.arange(24.0)


def squared_error(counts: np.ndarray, fitted: np.ndarray) -> np.ndarray:
    return ((counts - fitted) ** 2).sum(axis=1)


def curve(x: np.ndarray, a: float, b: float) -> np.ndarray:
    return a * np.exp(b * x)


def a_week(seed: int, cells: int = 3) -> np.ndarray:
    """Noisy counts with a low at 04:00."""
    rng = np.random.default_rng(seed)
    day = 20 + 80 * np.abs(np.sin(np.pi * (HOURS - 4) / 24))
    return np.tile(day, (cells, 7)) + rng.normal(0, 8, (cells, 168))


@pytest.mark.parametrize("b", [-6.0, -0.7, 0.0, 0.3, 4.0])
def test_an_exponential_curve_is_found_again(b: float) -> None:
    x = np.arange(5.0)
    counts = curve(x, 30.0, b)[None, :]
    assert fit_exponentials(counts, x) == pytest.approx(counts, rel=1e-5, abs=1e-5 * counts.max())


@pytest.mark.parametrize("times", [np.arange(5.0), np.arange(4.0, 7.0), np.arange(0, 4.5, 0.5)])
def test_no_fit_of_a_general_solver_is_better(times: np.ndarray) -> None:
    rng = np.random.default_rng(1)
    b = rng.normal(0, 0.5, 60)
    counts = 50 * np.exp(b[:, None] * (times - times[0])) + rng.normal(0, 10, (60, len(times)))
    ours = squared_error(counts, fit_exponentials(counts, times))
    for row, error in zip(counts, ours, strict=True):
        start = (max(row[0], 1.0), 0.0)
        found, _ = curve_fit(curve, times - times[0], row, p0=start, maxfev=20_000)
        if found[0] >= 0:
            theirs = ((row - curve(times - times[0], *found)) ** 2).sum()
            assert error <= theirs * (1 + 1e-7) + 1e-9


def test_the_search_misses_no_better_slope() -> None:
    rng = np.random.default_rng(2)
    x = np.arange(5.0)
    counts = rng.normal(3, 10, (300, 5))
    ours = squared_error(counts, fit_exponentials(counts, x))
    best = (counts**2).sum(axis=1)
    for b in np.linspace(-6, 6, 4001):
        shape = np.exp(b * x)
        a = np.maximum(counts @ shape / (shape @ shape), 0.0)
        best = np.minimum(best, squared_error(counts, a[:, None] * shape))
    assert (ours <= best * (1 + 1e-6) + 1e-9).all()


def test_only_the_night_is_replaced() -> None:
    noisy = a_week(3)
    smooth = smooth_nights(noisy, starts=HOURS)
    night = np.tile(HOURS <= 6, 7)
    assert np.array_equal(smooth[:, ~night], noisy[:, ~night])
    assert (smooth[:, night] != noisy[:, night]).all()


def test_every_day_is_fitted_by_itself() -> None:
    noisy = a_week(4)
    smooth = smooth_nights(noisy, starts=HOURS)
    third = slice(48, 72)
    assert smooth[1, third] == pytest.approx(smooth_nights(noisy[1:2, third], starts=HOURS)[0])


def test_the_bin_at_four_is_the_mean_of_both_curves() -> None:
    noisy = a_week(5, cells=1)[:, :24]
    falling = fit_exponentials(noisy[:, :5], HOURS[:5])[0]
    rising = fit_exponentials(noisy[:, 4:7], HOURS[4:7])[0]
    smooth = smooth_nights(noisy, starts=HOURS)[0]
    assert smooth[:4] == pytest.approx(falling[:4])
    assert smooth[4] == pytest.approx((falling[4] + rising[0]) / 2)
    assert smooth[5:7] == pytest.approx(rising[1:])
    assert falling[4] != pytest.approx(rising[0])


@pytest.mark.parametrize("level", [0.0, -5.0])
def test_a_night_without_visits_becomes_zero(level: float) -> None:
    smooth = smooth_nights(np.full((2, 48), level), starts=HOURS)
    assert (smooth.reshape(2, 2, 24)[:, :, :7] == 0).all()
    assert (smooth.reshape(2, 2, 24)[:, :, 7:] == level).all()


def test_a_flat_night_stays_flat() -> None:
    flat = np.full((1, 24), 12.5)
    assert smooth_nights(flat, starts=HOURS) == pytest.approx(flat)


def test_noise_around_nothing_is_never_negative() -> None:
    noisy = np.random.default_rng(6).normal(0, 1e6, (200, 168))
    smooth = smooth_nights(noisy, starts=HOURS)
    assert np.isfinite(smooth).all()
    assert (smooth[:, np.tile(HOURS <= 6, 7)] >= 0).all()


@pytest.mark.parametrize("hours", [3.0, 4.0, 6.0, 24.0])
def test_bins_longer_than_two_hours_are_left_alone(hours: float) -> None:
    starts = np.arange(0, 24, hours)
    noisy = np.random.default_rng(7).normal(0, 5, (4, 2 * len(starts)))
    assert np.array_equal(smooth_nights(noisy, starts=starts), noisy)


def test_bins_of_two_hours_have_one_curve() -> None:
    starts = np.arange(0, 24, 2.0)
    noisy = np.random.default_rng(8).normal(30, 5, (4, len(starts)))
    smooth = smooth_nights(noisy, starts=starts)
    assert smooth[:, :3] == pytest.approx(fit_exponentials(noisy[:, :3], starts[:3]))
    assert np.array_equal(smooth[:, 3:], noisy[:, 3:])


def test_half_hours_are_fitted_where_the_clock_says() -> None:
    starts = np.arange(0, 24, 0.5)
    noisy = np.random.default_rng(9).normal(30, 5, (2, 48))
    smooth = smooth_nights(noisy, starts=starts)
    assert np.array_equal(smooth[:, 13:], noisy[:, 13:])
    assert smooth[:, :8] == pytest.approx(fit_exponentials(noisy[:, :9], starts[:9])[:, :8])


def test_a_day_that_opens_after_the_night_is_left_alone() -> None:
    starts = np.arange(7.0, 20.0)
    noisy = np.random.default_rng(10).normal(30, 5, (2, 13))
    assert np.array_equal(smooth_nights(noisy, starts=starts), noisy)


def test_smoothing_brings_a_noisy_night_nearer_to_the_truth() -> None:
    rng = np.random.default_rng(11)
    low = np.concatenate([curve(np.arange(4.0), 60, -0.5), curve(np.arange(3.0), 8, 0.6)])
    truth = np.tile(np.concatenate([low, np.full(17, 80.0)]), (200, 1))
    noisy = truth + rng.normal(0, 6, truth.shape)
    smooth = smooth_nights(noisy, starts=HOURS)
    before, after = (((x - truth)[:, :7] ** 2).mean() for x in (noisy, smooth))
    assert after < 0.8 * before


numbers = st.floats(-1e6, 1e6, allow_subnormal=False)


rows = arrays(np.float64, st.integers(1, 12), elements=numbers)


def by_quadratic_programme(row: FloatArray, total: float) -> FloatArray:
    bins = len(row)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    constraints = sparse.csc_matrix(np.vstack([np.ones(bins), -np.eye(bins)]))
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(bins)]
    right = np.concatenate([[total], np.zeros(bins)])
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.eye(bins)), -row, constraints, right, cones, settings
    )
    return np.array(solver.solve().x)


@pytest.mark.parametrize("seed", range(10))
def test_it_is_the_solution_of_the_quadratic_programme(seed: int) -> None:
    random = np.random.default_rng(seed)
    series = random.normal(2, 5, (4, 20))
    totals = random.gamma(1.0, 30.0, 4)
    found = project_onto_simplex(series, totals)
    for row, total, ours in zip(series, totals, found, strict=True):
        assert ours == pytest.approx(by_quadratic_programme(row, total), abs=1e-3)


@settings(derandomize=True, deadline=None)
@given(row=rows, total=st.floats(0, 1e6))
def test_nothing_is_negative_and_the_sum_is_right(row: FloatArray, total: float) -> None:
    found = project_onto_simplex(row[None], np.array([total]))[0]
    size = max(np.abs(row).max(), total, 1.0)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total, abs=1e-9 * size * len(row))


@settings(derandomize=True, deadline=None)
@given(row=rows, total=st.floats(1e-3, 1e6))
def test_what_stays_above_nothing_moves_by_the_same_amount_and_the_rest_by_no_more(
    row: FloatArray, total: float
) -> None:
    found = project_onto_simplex(row[None], np.array([total]))[0]
    size = max(np.abs(row).max(), total)
    lowered = row - found
    kept = found > 0
    assert kept.any()
    shift = lowered[kept].mean()
    assert np.abs(lowered[kept] - shift).max() <= 1e-9 * size
    assert (row[~kept] <= shift + 1e-9 * size).all()


def test_a_series_that_fits_already_is_left_alone() -> None:
    series = np.array([[1.0, 0.0, 4.0], [0.5, 0.25, 0.25]])
    assert project_onto_simplex(series, series.sum(axis=1)) == pytest.approx(series)


def test_a_total_of_nothing_leaves_nothing() -> None:
    assert not project_onto_simplex(np.array([[3.0, -1.0, 3.0]]), np.array([0.0])).any()


def test_one_bin_gets_the_total() -> None:
    assert project_onto_simplex(np.array([[-7.0], [9.0]]), np.array([2.0, 3.0])).tolist() == [
        [2.0],
        [3.0],
    ]
