"""What is learnt from noisy values. Draws have a fixed seed, so nothing here is left to luck."""

from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.learning import empirical_bayes as learning
from hushway.families.od.fit.learning.empirical_bayes import Posterior, empirical_bayes
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.randomness import SeededSource

PERIODS, LINES = 12, 700


def town(seed: int = 3) -> tuple[IntArray, FloatArray]:
    """Counts whose lines and cells stray from what is expected, and that expectation."""
    rng = np.random.default_rng(seed)
    expected = rng.gamma(0.5, 4.0, (PERIODS, 1)) * rng.gamma(0.7, 1.0, (1, LINES)) + 1e-3
    strays = rng.gamma(0.4, 2.5, (1, LINES)) * rng.gamma(2.0, 0.5, (PERIODS, LINES))
    return rng.poisson(expected * strays), expected


def noisy(counts: IntArray, law: NoiseLaw, seed: int = 8) -> IntArray:
    return counts + law.draw(SeededSource(seed), counts.size).reshape(counts.shape)


def error(found: FloatArray | IntArray, counts: IntArray) -> float:
    return float(np.sqrt(np.mean((found - counts) ** 2)))


@pytest.mark.parametrize(
    "law", [DiscreteLaplace(Fraction(1, 50)), DiscreteGaussian(Fraction(1, 99))]
)
def test_next_to_no_noise_gives_every_value_back(law: NoiseLaw) -> None:
    counts, expected = town()
    found = empirical_bayes(noisy(counts, law), expected, law)
    np.testing.assert_allclose(found.mean, counts, rtol=1e-3, atol=1e-6)
    assert np.all(found.variance <= 0.1 + 1e-3 * counts**2)


def test_next_to_no_noise_gives_values_back_whatever_was_expected() -> None:
    counts = np.array([[0, 3, 90_000, 7_000_000, 1]])
    expected = np.array([[5000.0, 1e-4, 1.0, 2.0, 1e9]])
    found = empirical_bayes(counts, expected, DiscreteLaplace(Fraction(1, 50)))
    np.testing.assert_allclose(found.mean, counts, rtol=1e-6, atol=1e-3)


@pytest.mark.parametrize(
    "law", [DiscreteLaplace(Fraction(10**7)), DiscreteGaussian(Fraction(10**13))]
)
def test_nothing_but_noise_gives_every_expectation_back(law: NoiseLaw) -> None:
    counts, expected = town()
    expected = np.clip(expected, 0.01, 1.0)
    found = empirical_bayes(noisy(counts, law), expected, law)
    # An expectation is known to within half a step of its grid: a factor of 1.2.
    assert np.abs(np.log(found.mean / expected)).max() < 0.25
    assert found.mean.sum() == pytest.approx(expected.sum(), rel=0.05)


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(2)), DiscreteGaussian(Fraction(8))])
def test_what_is_learnt_is_better_than_values_and_expectations(law: NoiseLaw) -> None:
    counts, expected = town()
    values = noisy(counts, law)
    found = empirical_bayes(values, expected, law)
    best = min(error(values, counts), error(np.maximum(values, 0), counts), error(expected, counts))
    assert error(found.mean, counts) < 0.8 * best


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(2)), DiscreteGaussian(Fraction(8))])
def test_the_variance_is_about_the_squared_error(law: NoiseLaw) -> None:
    counts, expected = town()
    found = empirical_bayes(noisy(counts, law), expected, law)
    squared = np.mean((found.mean - counts) ** 2)
    assert 0.7 < squared / found.variance.mean() < 1.4


def test_nothing_is_negative_and_a_factor_is_known_for_every_line() -> None:
    counts, expected = town()
    law = DiscreteLaplace(Fraction(3))
    found = empirical_bayes(noisy(counts, law), expected, law)
    assert found.mean.shape == found.variance.shape == counts.shape
    assert found.line_factor.shape == (LINES,)
    assert min(found.mean.min(), found.variance.min(), found.line_factor.min()) >= 0


def test_a_line_with_more_than_expected_has_more_in_every_cell() -> None:
    counts, expected = np.ones((24, 50), dtype=np.int64), np.ones((24, 50))
    counts[:, 0] = 12
    law = DiscreteLaplace(Fraction(4))
    values = noisy(counts, law)
    values[5, :] = 2
    found = empirical_bayes(values, expected, law)
    assert found.mean[5, 0] > 2 * found.mean[5, 1:].max()
    assert found.line_factor[0] > 8
    assert found.line_factor[1:].max() < 2


def test_the_number_of_threads_never_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, expected = town()
    law = DiscreteLaplace(Fraction(2))
    values = noisy(counts, law)
    monkeypatch.setattr(learning, "_TURN", 64)

    def learnt_by(threads: int) -> Posterior:
        monkeypatch.setattr(learning, "processors", lambda: threads)
        return empirical_bayes(values, expected, law)

    one, two = learnt_by(1), learnt_by(2)
    assert one.mean.tobytes() == two.mean.tobytes()
    assert one.variance.tobytes() == two.variance.tobytes()
    assert one.line_factor.tobytes() == two.line_factor.tobytes()


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (7, 1)])
def test_a_table_may_have_a_single_period_or_line(shape: tuple[int, int]) -> None:
    values = np.full(shape, 30)
    found = empirical_bayes(values, np.full(shape, 25.0), DiscreteLaplace(Fraction(1)))
    assert np.all((found.mean > 25) & (found.mean < 32))


def test_the_variance_of_a_line_has_what_its_counts_share() -> None:
    counts, expected = town()
    law = DiscreteLaplace(Fraction(2))
    found = empirical_bayes(noisy(counts, law), expected, law)
    assert found.line_variance.sum() > 1.2 * found.variance.sum()
    off = (found.mean - counts).sum(axis=0)
    assert 0.8 < np.mean(off**2) / np.mean(found.line_variance) < 1.25
    alone = empirical_bayes(noisy(counts, law)[:1], expected[:1], law)
    np.testing.assert_allclose(alone.line_variance, alone.variance[0], rtol=1e-6, atol=1e-9)
