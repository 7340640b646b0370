"""Curves smoothed by noise, noisy counts weighed against expectations, clusters by need."""

import numpy as np
import pytest

from hushway.families.density.fit.clusters import evident_error
from hushway.families.density.fit.counts import weighed
from hushway.families.density.fit.curves import smoothed
from hushway.families.density.fit.rhythms import Cleaned

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
    found = weighed(noisy, noise**2, expected)
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
