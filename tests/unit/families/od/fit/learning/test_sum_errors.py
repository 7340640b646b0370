"""What sums say about cells, with noise that is known."""

import numpy as np
import pytest

from hushway.families.od.fit.learning.sum_errors import SumErrors, SumsOfCells

COUNT = 400


def look(missed: float, noise: float, *, own: float = 4.0, seed: int = 2) -> SumErrors:
    """Sums that cells miss by normal errors of some deviation, and the noise besides."""
    rng = np.random.default_rng(seed)
    truth = np.full(COUNT, 1000.0)
    each = np.full(COUNT, own)
    noisy = truth + np.sqrt(noise) * rng.standard_normal(COUNT)
    return SumErrors.of(
        noisy=np.rint(noisy).astype(np.int64),
        noise=noise,
        cells=SumsOfCells(
            estimates=truth + missed * rng.standard_normal(COUNT), variances=each, yielding=each
        ),
    )


def test_cells_that_are_as_good_as_they_say_are_believed() -> None:
    found = look(missed=2.0, noise=100.0)
    assert found.noise == pytest.approx(100.0)


def test_cells_that_miss_by_more_give_way() -> None:
    found = look(missed=40.0, noise=100.0)
    assert found.noise < 1.0
    assert found.spread == pytest.approx(400, rel=0.25)
    assert np.sqrt(found.variances.mean()) == pytest.approx(10, rel=0.2)


@pytest.mark.parametrize("seed", range(8))
def test_noise_that_hides_everything_is_not_taken_for_a_lesson(seed: int) -> None:
    found = look(missed=2.0, noise=1e6, seed=seed)
    # Eight draws of which one in six would do so by chance without the allowance for noise.
    assert found.noise > 1e3


def test_errors_are_no_smaller_than_those_of_what_is_published() -> None:
    found = look(missed=2.0, noise=100.0)
    assert np.all(np.sqrt(found.variances) >= 1.9)
