"""Errors of counts that cannot be negative reach the further end of what the count may be."""

import numpy as np
import pytest

from hushway.families.density.fit.table import gamma_errors


@pytest.mark.parametrize("ratio", [0.1, 0.5, 1.0])
def test_the_upper_end_of_skewed_counts_is_held_as_often_as_it_says(ratio: float) -> None:
    """A million draws of a gamma law: a share of 0.025 is told within 0.001, at six deviations."""
    mean = 40.0
    shape = ratio**-2
    truth = np.random.default_rng(5).gamma(shape, mean / shape, 1_000_000)
    error = float(gamma_errors(np.array([mean]), np.array([ratio * mean]))[0])
    assert (truth > mean + 1.96 * error).mean() == pytest.approx(0.025, abs=0.001)
    # A normal law would have missed more of them.
    assert (truth > mean + 1.96 * ratio * mean).mean() > 0.027


def test_errors_grow_and_never_shrink_with_what_counts_are_off_by() -> None:
    deviation = np.geomspace(1e-4, 1e4, 200)
    found = gamma_errors(np.full(200, 3.0), deviation)
    assert (np.diff(found) > 0).all()
    assert (found >= deviation).all()
    assert (found < 1.5 * deviation).all()
    # Far above its noise a count is off to both sides alike.
    assert found[0] == pytest.approx(deviation[0], rel=1e-3)


def test_a_count_of_nothing_has_an_error() -> None:
    assert gamma_errors(np.zeros(2), np.array([0.5, 0.0])).tolist() == pytest.approx(
        [0.749, 0], abs=0.01
    )
