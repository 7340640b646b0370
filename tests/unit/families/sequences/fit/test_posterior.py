"""What noisy counts say about true ones: nearer than noise, and honest about how near."""

import numpy as np
import pytest

from hushway.families.sequences.fit.posterior import Noise, class_sums, posterior

CELLS = 60_000


def noisy(seed: int, noise: Noise) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True counts of cells that are expected differently, their noisy values, what is expected."""
    rng = np.random.default_rng(seed)
    expected = np.exp(rng.uniform(np.log(0.01), np.log(300), CELLS))
    true = rng.poisson(expected * rng.gamma(0.5, 2.0, CELLS)).astype(np.float64)
    added = (
        rng.normal(0, noise.scale, CELLS) if noise.gaussian else rng.laplace(0, noise.scale, CELLS)
    )
    return true, true + np.rint(added), expected


NOISES = [
    Noise(scale=scale, gaussian=gaussian)
    for scale in (0.7, 8.0, 60.0)
    for gaussian in (False, True)
]


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_beliefs_are_nearer_than_noise_and_than_what_was_expected(noise: Noise) -> None:
    true, values, expected = noisy(1, noise)
    believed = posterior(values, expected, noise)
    squared = np.mean((believed.mean - true) ** 2)
    assert squared < np.mean((np.maximum(values, 0) - true) ** 2)
    assert squared < np.mean((expected - true) ** 2)


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_errors_are_no_larger_than_they_are_said_to_be(noise: Noise) -> None:
    true, values, expected = noisy(2, noise)
    believed = posterior(values, expected, noise)
    for low, high in ((0, 1), (1, 10), (10, 100), (100, 1e9)):
        part = (expected >= low) & (expected < high)
        squared = np.mean((believed.mean - true)[part] ** 2)
        stated = np.mean(believed.variance[part])
        # Where next to nothing is expected, more than the truth is said: a law is learnt there.
        assert 0.75 * squared <= stated
        assert stated <= (1.35 * squared if low >= 10 else 6 * squared + 0.2)


def test_sums_are_those_that_were_expected() -> None:
    noise = Noise(scale=50.0, gaussian=False)
    rng = np.random.default_rng(3)
    true = rng.poisson(0.02, CELLS).astype(np.float64)
    believed = posterior(true + rng.laplace(0, 50.0, CELLS), np.full(CELLS, 0.02), noise)
    assert believed.mean.sum() == pytest.approx(true.sum(), rel=0.2)


def test_what_stands_far_out_of_noise_is_left_alone() -> None:
    noise = Noise(scale=2.0, gaussian=False)
    values = np.concatenate([np.zeros(1000), [500.0]])
    believed = posterior(values, np.full(1001, 0.5), noise)
    assert believed.mean[-1] == 500.0
    assert believed.variance[-1] == noise.variance
    assert believed.mean[:-1].max() < 1


def test_nothing_is_believed_about_nothing() -> None:
    assert len(posterior(np.empty(0), np.empty(0), Noise(scale=1.0, gaussian=True)).mean) == 0


def test_no_variance_is_below_zero_however_little_noise_there_is() -> None:
    noise = Noise(scale=0.22, gaussian=False)
    values = np.random.default_rng(4).uniform(-1, 1.2 * noise.far(CELLS), CELLS)
    assert posterior(values, np.full(CELLS, 1.0), noise).variance.min() >= 0


def test_noise_in_large_classes_that_are_empty_does_not_outweigh_what_is_there() -> None:
    rng = np.random.default_rng(1)
    kind = np.repeat(np.arange(20), [500, *[20_000] * 19])
    true = np.where(kind == 0, 40.0, 0.0)
    found = class_sums(true + rng.laplace(0, 14, len(kind)), kind, 20_000.0)
    assert found.sum() == pytest.approx(20_000)
    assert found.min() >= 0
    assert found[0] > 15_000


def test_without_noise_sums_are_what_they_are() -> None:
    kind = np.array([[0, 1], [2, 1]])
    sums = class_sums(np.array([[3.0, 1.0], [0.0, 2.0]]), kind, 6.0)
    assert sums.tolist() == [3.0, 3.0, 0.0]
