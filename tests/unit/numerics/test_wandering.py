"""What other steps expect of numbers that wander."""

from typing import Any

import numpy as np
import pytest

from hushway.numerics.wandering import UNKNOWN, Numbers, expected_numbers, weighed


def series(steps: int, size: int, drift: float, noise: float) -> tuple[Any, Any]:
    """Returns numbers that wander, and noisy answers of them, by (step, place)."""
    random = np.random.default_rng(3)
    level = random.lognormal(5, 1, size) * np.exp(
        np.cumsum(drift * random.normal(size=(steps, size)), axis=0)
    )
    truth = random.poisson(level).astype(np.float64)
    return truth, truth + noise * random.normal(size=truth.shape)


@pytest.mark.parametrize("drift", [0.0, 0.05, 0.5])
def test_what_is_expected_is_as_sure_as_it_says(drift: float) -> None:
    truth, noisy = series(8, 4_000, drift, 40.0)
    away = np.arange(7, 0, -1)
    steps = Numbers(noisy[:-1], np.full_like(noisy[:-1], 1600.0))
    own = Numbers(noisy[-1], np.full(4_000, 1600.0))
    found, _ = weighed(own, steps, away)
    off_by = found.values - truth[-1]
    assert (np.abs(off_by) < 1.96 * np.sqrt(found.variance)).mean() > 0.93
    assert (off_by**2).mean() < 1600


def test_nothing_is_expected_of_what_no_step_has_measured() -> None:
    own = Numbers(np.array([10.0, 20.0]), np.ones(2))
    unknown = Numbers(np.zeros((2, 2)), np.full((2, 2), UNKNOWN))
    found, trust = weighed(own, unknown, np.array([1, 2]))
    assert np.array_equal(found.values, own.values)
    assert np.array_equal(trust, np.ones(2))
    assert (expected_numbers(own, unknown, np.array([1, 2])).variance > 1e100).all()
