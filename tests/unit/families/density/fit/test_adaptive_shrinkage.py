"""What noisy counts of places are worth, seen together."""

import numpy as np
import pytest
from numpy.typing import NDArray

from hushway.families.density.fit.places import above_zero, expected_sizes

FloatArray = NDArray[np.float64]


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
