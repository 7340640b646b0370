"""Series denoised by what they have in common, and counts shrunk towards them."""

from dataclasses import dataclass

import numpy as np
import pytest

from hushway.arrays import FloatArray
from hushway.families.density.fit.clusters import evident_error
from hushway.families.density.fit.places import above_zero, expected_sizes
from hushway.families.density.fit.shrinking import shrink_counts
from hushway.families.density.fit.wiener import (
    Cleaned,
    learn_series_model,
    smoothed,
    wiener_filter,
)


@dataclass(frozen=True)
class Planted:
    """Series with a shape of the day and two patterns in doses of their own, and their noise."""

    shape: FloatArray
    ways: FloatArray
    truth: FloatArray
    noisy: FloatArray
    totals: FloatArray
    variance: float

    def cleaned(self) -> Cleaned:
        rhythms = learn_series_model(self.noisy, self.totals, self.variance, 24)
        expected = wiener_filter(self.noisy, self.totals, self.variance, rhythms)
        return shrink_counts(self.noisy, self.variance, expected, np.ones(len(self.noisy)))


def planted(
    cells: int = 60, *, bins: int = 96, noise: float = 400.0, dose: float = 0.2, seed: int = 1
) -> Planted:
    random = np.random.default_rng(seed)
    time = np.arange(bins)
    shape = 1.2 + np.sin(2 * np.pi * time / 24)
    shape /= shape.sum()
    ways = np.stack([np.cos(2 * np.pi * time / 24), np.sin(4 * np.pi * time / 24)]) * shape
    totals = 1000 * bins * random.lognormal(0, 0.7, cells)
    truth = totals[:, None] * (shape + dose * random.normal(size=(cells, 2)) @ ways)
    noisy = truth + random.normal(0, noise, truth.shape)
    return Planted(shape, ways, truth, noisy, totals, noise**2)


def squared(found: FloatArray, truth: FloatArray) -> float:
    return float(((found - truth) ** 2).mean())


def test_the_shape_of_the_city_is_found() -> None:
    city = planted()
    found = learn_series_model(city.noisy, city.totals, city.variance)
    assert found.shape.sum() == pytest.approx(1, abs=0.02)
    alone = squared(city.noisy / city.totals[:, None], city.shape)
    assert squared(found.shape, city.shape) < 0.02 * alone


def test_planted_patterns_are_found_among_the_strongest_ways() -> None:
    city = planted(cells=200, noise=100.0)
    found = learn_series_model(city.noisy, city.totals, city.variance)
    assert found.patterns >= 2
    strongest = found.ways[:, np.argsort(-found.strengths)[:2]]
    for way in city.ways:
        assert np.linalg.norm(strongest.T @ way) > 0.95 * np.linalg.norm(way)


def test_without_patterns_the_noise_is_not_taken_for_one() -> None:
    city = planted(cells=200, noise=400.0, dose=0.0)
    assert learn_series_model(city.noisy, city.totals, city.variance).patterns <= 2


@pytest.mark.parametrize("cells", [1, 2, 5, 60, 200])
@pytest.mark.parametrize("noise", [50.0, 400.0, 2000.0])
def test_cleaned_series_are_nearer_to_the_truth(cells: int, noise: float) -> None:
    city = planted(cells, noise=noise)
    assert squared(city.cleaned().values, city.truth) < city.variance
    if cells >= 60 and noise >= 400:
        assert squared(city.cleaned().values, city.truth) < 0.15 * city.variance


@pytest.mark.parametrize("cells", [1, 2, 5, 60, 200])
@pytest.mark.parametrize("noise", [50.0, 400.0, 2000.0])
def test_the_variance_that_is_left_is_about_right(cells: int, noise: float) -> None:
    # Medians over several cities: of two cells of which one is tiny, nothing can be told.
    ratios, held = [], []
    for seed in range(4):
        city = planted(cells, noise=noise, seed=seed)
        found = city.cleaned()
        off = (found.values - city.truth) ** 2 / found.variance
        ratios.append(off.mean())
        held.append((off < 1.96**2).mean())
    assert 0.25 < np.median(ratios) < 3.5
    # Two series do not tell how far their mean is from either.
    assert (0.65 if cells == 2 else 0.8) < np.median(held) < 0.99


@pytest.mark.parametrize("seed", range(6))
def test_a_large_cell_is_not_spoilt_by_the_noise_of_small_ones(seed: int) -> None:
    city = planted(5, noise=50.0, seed=seed)
    largest = city.totals.argmax()
    found = city.cleaned().values[largest]
    assert squared(found, city.truth[largest]) < 1.5 * city.variance


def test_tiny_cells_do_not_spoil_what_is_learnt() -> None:
    city = planted()
    random = np.random.default_rng(9)
    tiny = random.normal(0, city.variance**0.5, (40, city.noisy.shape[1]))
    # As the fit gives them: no total is below its own noise.
    least = np.full(40, np.sqrt(city.noisy.shape[1] * city.variance))
    series, totals = np.vstack([city.noisy, tiny]), np.concatenate([city.totals, least])
    found = learn_series_model(series, totals, city.variance)
    alone = learn_series_model(city.noisy, city.totals, city.variance)
    assert squared(found.shape, city.shape) < 2 * squared(alone.shape, city.shape)
    cleaned = wiener_filter(series, totals, city.variance, found).values[:60]
    assert squared(cleaned, city.truth) < 1.3 * squared(city.cleaned().values, city.truth)


def test_a_tiny_cell_is_given_the_shape_of_the_city() -> None:
    city = planted()
    totals = city.totals.copy()
    totals[0] = np.sqrt(city.noisy.shape[1] * city.variance)
    noisy = city.noisy.copy()
    noisy[0] = np.random.default_rng(3).normal(0, city.variance**0.5, noisy.shape[1])
    rhythms = learn_series_model(noisy, totals, city.variance)
    found = wiener_filter(noisy, totals, city.variance, rhythms).values[0]
    assert np.abs(found - totals[0] * rhythms.shape).max() < 0.5 * city.variance**0.5


def test_constant_series_stay_constant() -> None:
    random = np.random.default_rng(4)
    truth = np.outer([500.0, 2000.0, 9000.0], np.ones(48))
    noisy = truth + random.normal(0, 20, truth.shape)
    totals = truth.sum(axis=1)
    found = wiener_filter(noisy, totals, 400.0, learn_series_model(noisy, totals, 400.0))
    assert squared(found.values, truth) < 400
    assert np.abs(found.values / truth - 1).max() < 0.15


def test_without_noise_to_speak_of_series_come_back_as_they_are() -> None:
    city = planted(noise=1.0, dose=0.5)
    assert np.abs(city.cleaned().values - city.noisy).max() < 10


@pytest.mark.parametrize("bins", [1, 2, 3])
@pytest.mark.parametrize("cells", [1, 4])
def test_few_bins_and_few_cells_are_no_trouble(bins: int, cells: int) -> None:
    random = np.random.default_rng(5)
    truth = random.gamma(2.0, 100.0, (cells, bins))
    noisy = truth + random.normal(0, 5, truth.shape)
    totals = np.maximum(noisy.sum(axis=1), 5.0)
    found = wiener_filter(noisy, totals, 25.0, learn_series_model(noisy, totals, 25.0))
    assert np.isfinite(found.values).all()
    assert (found.variance >= 0).all()


@pytest.mark.parametrize("level", [0.0, -3.0, 3.0])
def test_series_of_nothing_but_noise_are_no_trouble(level: float) -> None:
    noisy = np.full((6, 24), level)
    for variance in (1e-8, 1.0, 1e6):
        totals = np.full(6, np.sqrt(24 * variance))
        rhythms = learn_series_model(noisy, totals, variance)
        found = wiener_filter(noisy, totals, variance, rhythms)
        assert np.isfinite(found.values).all()
        assert np.isfinite(found.variance).all()
        assert (rhythms.shape > 0).all()


HOURS = np.arange(168)


WEEK = 100 * (1.2 + np.sin(2 * np.pi * HOURS / 24)) * np.where(HOURS < 120, 1.0, 0.6)


@pytest.mark.parametrize("noise", [1.0, 30.0, 300.0])
def test_a_smoothed_curve_is_nearer_to_the_truth_and_keeps_its_sum(noise: float) -> None:
    ratios = []
    for seed in range(5):
        noisy = WEEK + np.random.default_rng(seed).normal(0, noise, len(WEEK))
        found = smoothed(noisy, noise**2, 24)
        assert found.values.sum() == pytest.approx(noisy.sum())
        assert found.variance <= noise**2
        ratios.append(((found.values - WEEK) ** 2).mean() / noise**2)
    assert np.mean(ratios) < (1.01 if noise < 10 else 0.3)


def test_curves_of_one_value_and_of_one_day_are_smoothed_too() -> None:
    assert smoothed(np.array([7.0]), 4.0, 1).values == pytest.approx([7.0])
    assert smoothed(WEEK[:24], 1e-9, 24).values == pytest.approx(WEEK[:24])


def counts(noise: float, misfit: float) -> tuple[Cleaned, np.ndarray, np.ndarray]:
    """Expectations that are wrong by a share, true counts and noisy ones."""
    random = np.random.default_rng(2)
    expected = np.tile(WEEK, (40, 1))
    truth = random.poisson(expected * random.lognormal(0, misfit, expected.shape)).astype(float)
    noisy = truth + random.normal(0, noise, truth.shape)
    still = np.zeros_like(expected)
    return Cleaned(values=expected, variance=still + 1, leverage=still), truth, noisy


@pytest.mark.parametrize("noise", [1.0, 15.0, 300.0])
@pytest.mark.parametrize("misfit", [0.0, 0.2])
def test_what_is_weighed_is_at_least_as_good_as_either_and_knows_its_error(
    noise: float, misfit: float
) -> None:
    expected, truth, noisy = counts(noise, misfit)
    found = shrink_counts(noisy, noise**2, expected, np.ones(len(noisy)))
    ours = ((found.values - truth) ** 2).mean()
    assert ours < 1.05 * min(((expected.values - truth) ** 2).mean(), noise**2)
    held = np.abs(found.values - truth) <= 1.96 * np.sqrt(found.variance)
    assert 0.85 < held.mean() < 0.99


def test_clusters_may_be_noisier_where_few_places_hold_most_visits() -> None:
    equal, uneven = np.full(100, 50.0), 5000 / (1.0 + np.arange(100))
    assert evident_error(equal, 50.0) == pytest.approx(0.03)
    assert evident_error(uneven, 50.0) == pytest.approx(0.2)
    slightly = np.where(np.arange(100) < 50, 80.0, 20.0)
    assert 0.03 < evident_error(slightly, 50.0) < 0.15
    assert evident_error(np.zeros(100), 50.0) == pytest.approx(0.03)
    # The further a mean place stands out from noise, the less is merged.
    assert evident_error(equal, 1.0) == pytest.approx(0.03 * 50 / 12)
    # Noise below 0 is nobody.
    assert evident_error(np.concatenate([equal, np.full(3, -9.0)]), 50.0) < 0.035


def noisy(truth: FloatArray, noise: float, seed: int = 1) -> tuple[FloatArray, FloatArray]:
    random = np.random.default_rng(seed)
    return truth + random.normal(0, noise, len(truth)), np.full(len(truth), noise**2)


def test_of_nothing_but_noise_about_nothing_is_left() -> None:
    values, variance = noisy(np.zeros(400), 50.0)
    found = expected_sizes(values, variance)
    assert found.values.min() > 0
    assert found.values.max() < 30
    # Clipped at 0 they would be off by as much as 35.
    assert float((found.values**2).mean()) < 8**2


def test_what_stands_out_from_noise_stays() -> None:
    truth = np.zeros(300)
    truth[:5] = 2000.0
    found = expected_sizes(*noisy(truth, 50.0))
    assert found.values[:5] == pytest.approx(truth[:5], abs=4 * 50)
    assert found.values[5:].max() < 60


@pytest.mark.parametrize("noise", [3.0, 30.0, 300.0])
def test_sizes_are_nearer_to_the_truth_than_noise_cut_at_zero_and_know_how_near(
    noise: float,
) -> None:
    truth = np.random.default_rng(3).lognormal(3, 1.5, 500)
    values, variance = noisy(truth, noise)
    found = expected_sizes(values, variance)
    ours = ((found.values - truth) ** 2).mean()
    assert ours < ((np.maximum(values, 0) - truth) ** 2).mean()
    assert found.variance.mean() == pytest.approx(ours, rel=0.6)
    held = np.abs(found.values - truth) <= 1.96 * np.sqrt(found.variance)
    assert held.mean() > 0.9


def test_numbers_known_to_be_positive_are_moved_only_where_they_might_not_be() -> None:
    found = above_zero(np.array([-1000.0, -10.0, 0.0, 10.0, 1000.0]), np.full(5, 100.0))
    assert (found.values > 0).all()
    assert found.values[2] == pytest.approx(10 * np.sqrt(2 / np.pi))
    assert found.values[-1] == pytest.approx(1000)
    assert found.variance[-1] == pytest.approx(100)
    assert (np.diff(found.values) > 0).all()
    assert (found.variance > 0).all()
