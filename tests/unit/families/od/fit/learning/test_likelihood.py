"""The tables against sums over every count, one after the other."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import nbinom

from hushway.arrays import FloatArray
from hushway.families.od.fit.learning.likelihood import STEP, likelihood_of, value_classes
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.inversion import NoiseLaw, between
from hushway.privacy.noise.laplace import DiscreteLaplace

LAWS = [
    DiscreteLaplace(Fraction(1, 3)),
    DiscreteLaplace(Fraction(3)),
    DiscreteGaussian(Fraction(1, 4)),
    DiscreteGaussian(Fraction(3)),
    DiscreteGaussian(Fraction(5)),
    DiscreteGaussian(Fraction(20)),
]
# Counts vary around an expectation that is known to within a step.
SHAPE = 12 / STEP**2


def probability(law: NoiseLaw, noise: int) -> float:
    """The probability of some noise, from the sampler's own certified tables."""
    low, high = between(law, noise, noise + 1, 128)
    return (low + high) / 2 / 2**128


def brute_force(law: NoiseLaw, value: int, expected: float) -> FloatArray:
    reach = 40 + math.ceil(12 * math.sqrt(float(law.variance)))
    counts = np.arange(max(0, value - reach), value + reach + 1)
    prior = nbinom.pmf(counts, SHAPE, SHAPE / (SHAPE + expected))
    joint = prior * [probability(law, value - int(count)) for count in counts]
    return np.array([joint.sum(), joint @ counts, joint @ counts**2])


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_tables_are_what_adding_up_over_all_counts_gives(law: NoiseLaw) -> None:
    values = np.arange(-3, 26)
    classes = value_classes(values, math.sqrt(law.variance))
    tables = likelihood_of(law, classes, 30.0)
    for expected in (0.01, 0.4, 3.0, 12.0):
        row = int(tables.nearest(np.array([expected]))[0])
        here = tables.expectations[row]
        for value in (-3, 0, 1, 7, 25):
            column = int(classes.of(np.array([value]))[0])
            assert classes.centres[column] == value
            found = [tables.probability, tables.first, tables.second]
            np.testing.assert_allclose(
                [table[row, column] for table in found],
                brute_force(law, value, here),
                rtol=1e-6,
                atol=1e-7,
            )


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(10)), DiscreteGaussian(Fraction(200))])
def test_large_counts_are_as_good_as_normal(law: NoiseLaw) -> None:
    deviation = math.sqrt(law.variance)
    classes = value_classes(np.array([5000]), deviation)
    tables = likelihood_of(law, classes, 3000.0)
    row = int(tables.nearest(np.array([3000.0]))[0])
    expected = float(tables.expectations[row])
    assert expected > 2000
    counts = np.arange(1, 9000)
    prior = nbinom.pmf(counts, SHAPE, SHAPE / (SHAPE + expected))
    width = math.sqrt(expected + expected**2 / SHAPE)
    for column in np.flatnonzero(np.abs(classes.centres - expected) < width):
        value = classes.centres[column]
        noise = np.exp(-((value - counts) ** 2) / (2 * deviation**2))
        mean = (prior * noise) @ counts / (prior @ noise)
        found = tables.first[row, column] / tables.probability[row, column]
        assert abs(found - mean) < 0.1 * deviation


@pytest.mark.parametrize("scale", [20, 200, 10_000])
def test_wide_noise_says_nothing_so_the_count_is_what_is_expected(scale: int) -> None:
    law = DiscreteLaplace(Fraction(scale))
    classes = value_classes(np.array([0]), math.sqrt(law.variance))
    tables = likelihood_of(law, classes, 1.0)
    rows = np.flatnonzero((tables.expectations > 0.01) & (tables.expectations < 2))
    column = int(classes.of(np.array([0]))[0])
    means = tables.first[rows, column] / tables.probability[rows, column]
    # Noise of this scale moves a count by its variance over the scale, at most.
    np.testing.assert_allclose(means, tables.expectations[rows], rtol=1.1 / scale + 0.005)


def test_the_curve_of_gaussian_noise_is_added_up_without_holding_it_in_memory() -> None:
    law = DiscreteGaussian(Fraction(10**12))
    classes = value_classes(np.array([0]), 1e6)
    tables = likelihood_of(law, classes, 1.0)
    middle = int(classes.of(np.array([0]))[0])
    assert tables.probability[0, middle] == pytest.approx(1 / math.sqrt(2 * math.pi * 1e12), 1e-3)


def test_noise_of_an_unknown_law_is_refused() -> None:
    class Unknown:
        variance = Fraction(1)

    with pytest.raises(TypeError, match="Unknown"):
        likelihood_of(Unknown(), value_classes(np.array([1]), 1.0), 1.0)


@pytest.mark.parametrize("deviation", [1e-20, 0.5, 7.0, 300.0, 1.5e7])
@pytest.mark.parametrize("highest", [-5, 0, 3, 60, 10**5, 2**40])
def test_every_value_has_a_class_and_classes_are_in_order(deviation: float, highest: int) -> None:
    classes = value_classes(np.array([-4, highest]), deviation)
    assert len(classes.centres) == len(classes.starts) == len(classes.exact) < 3000
    values = np.unique(np.concatenate([np.linspace(-(2**41), highest, 999), [-1, 0, highest]]))
    found = classes.of(values.astype(np.int64))
    assert found.min() >= 0
    assert found.max() < len(classes.centres)
    assert np.all(np.diff(found) >= 0)


@pytest.mark.parametrize("deviation", [0.5, 7.0, 300.0])
def test_a_class_is_narrow_against_its_noise_or_against_its_values(deviation: float) -> None:
    classes = value_classes(np.array([100_000]), deviation)
    values = np.arange(int(classes.starts[0]), 100_001)
    found = classes.of(values)
    off = np.abs(values - classes.centres[found])
    exact = classes.exact[found] == 1
    assert off[exact].max() <= deviation / 30
    assert exact[np.abs(values) <= 8 * deviation].all()
    assert np.all(off[~exact] <= 0.031 * values[~exact])
