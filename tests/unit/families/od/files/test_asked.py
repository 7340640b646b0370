"""Sums of trips that were not fitted, and of whole published totals."""

import numpy as np
import pytest

from hushway.families.od.files.asked import _of_elements
from hushway.families.od.files.learnt_sums import of_one_element


def test_a_published_zero_stands_for_so_much_less_that_sums_are_right() -> None:
    rng = np.random.default_rng(3)
    ratio = np.exp(-1 / 4.0)
    below = ratio / (1 - ratio)
    truth = rng.choice([0, 0, 0, 1, 2, 6, 30], 400_000)
    noise = rng.geometric(1 - ratio, len(truth)) - rng.geometric(1 - ratio, len(truth))
    counts = np.maximum(truth + noise, 0)
    found = np.where(counts > 0, counts, -below)
    assert counts.mean() > truth.mean() + 0.5
    assert found.mean() == pytest.approx(truth.mean(), abs=0.05)
    assert np.mean((found - truth) ** 2) < 2 * ratio / (1 - ratio) ** 2


def test_sums_of_whole_elements_have_the_error_of_these() -> None:
    element = np.array([0, 0, 1, 1, 2, 2])
    variance = np.array([4.0, 9.0, 16.0])
    group = np.array([0, 0, 0, 0, 1, -1])
    found = _of_elements(element, variance, group, 2)
    assert found.tolist() == [13.0, np.inf]
    assert of_one_element(element, variance, group, 2).tolist() == [np.inf, np.inf]
    one = np.array([-1, -1, 1, 1, 0, -1])
    assert of_one_element(element, variance, one, 2).tolist() == [np.inf, 9.0]
