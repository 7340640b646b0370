import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.auditing.law import (
    ORDERS,
    DivergenceCheck,
    Moments,
    ParityCheck,
    VarianceCheck,
    gaussian,
    laplace_difference,
    of_choices,
    of_gaussians,
)
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.randomness import SeededSource

RUNS = 100_000
SCALE = Fraction(2)


def noise(seed: int, scale: Fraction = SCALE) -> Callable[[int], IntArray]:
    source = SeededSource(seed)
    return lambda runs: DiscreteLaplace(scale).draw(source, runs)


def variance_check(sample: Callable[[int], IntArray]) -> VarianceCheck:
    return VarianceCheck(
        name="variance",
        statistic="the difference",
        epsilon=Fraction(1),
        law=laplace_difference(SCALE),
        sample=sample,
    )


def parity_check(sample: Callable[[int], IntArray]) -> ParityCheck:
    return ParityCheck(
        name="parity", statistic="the noise", epsilon=Fraction(1), scale=SCALE, sample=sample
    )


@pytest.mark.parametrize("scale", [Fraction(1, 4), Fraction(1), Fraction(7, 2)])
def test_moments_of_a_laplace_difference_agree_with_sums_over_its_law(scale: Fraction) -> None:
    z = np.arange(-400, 401)
    mass = np.exp(-np.abs(z) / float(scale))
    mass /= mass.sum()
    square, fourth = mass @ z**2.0, mass @ z**4.0
    moments = laplace_difference(scale)
    assert moments.variance == pytest.approx(2 * square)
    kurtosis = (2 * fourth + 6 * square**2) / (2 * square) ** 2
    assert moments.kurtosis == pytest.approx(kurtosis)


def test_moments_of_a_wide_gaussian_are_those_of_the_continuous_one() -> None:
    assert gaussian(Fraction(100)) == Moments(
        variance=pytest.approx(100), kurtosis=pytest.approx(3)
    )


def test_moments_of_a_sum_of_gaussians_agree_with_its_law_summed_out() -> None:
    z = np.arange(-60, 61)
    mass = np.exp(-(z**2) / 2.0)
    mass /= mass.sum()
    both, total = np.convolve(mass, mass), np.arange(-120, 121)
    variance = both @ total**2.0
    kurtosis = both @ total**4.0 / variance**2
    assert gaussian(Fraction(1), terms=2) == Moments(
        variance=pytest.approx(variance), kurtosis=pytest.approx(kurtosis)
    )


def test_a_narrow_discrete_gaussian_has_less_variance_than_sigma_squared() -> None:
    assert gaussian(Fraction(1, 4)).variance < 0.25


def test_independent_noise_passes_the_variance_check() -> None:
    one, other = noise(1), noise(2)
    assert variance_check(lambda runs: one(runs) - other(runs)).examine(RUNS).passed


def test_noise_that_was_used_twice_fails_the_variance_check() -> None:
    one, other = noise(3), noise(3)
    finding = variance_check(lambda runs: one(runs) - other(runs)).examine(RUNS)
    assert not finding.passed
    assert finding.epsilon_lower == 0
    assert "0.000 times" in finding.reason


def test_noise_of_a_wrong_scale_fails_the_variance_check() -> None:
    one, other = noise(4, Fraction(9, 5)), noise(5, Fraction(9, 5))
    assert not variance_check(lambda runs: one(runs) - other(runs)).examine(RUNS).passed


def test_whole_noise_passes_the_parity_check() -> None:
    sample = noise(6)
    assert parity_check(lambda runs: sample(runs) & 1).examine(RUNS).passed


def test_noise_on_a_coarser_lattice_fails_the_parity_check() -> None:
    sample = noise(7, Fraction(1))
    assert not parity_check(lambda runs: 2 * sample(runs) & 1).examine(RUNS).passed


def test_a_number_that_is_not_whole_fails_the_parity_check() -> None:
    def mostly_whole(runs: int) -> IntArray:
        parity = sample(runs) & 1
        parity[0] = 2
        return parity

    sample = noise(8)
    finding = parity_check(mostly_whole).examine(RUNS)
    assert not finding.passed
    assert "whole" in finding.reason


def test_odd_noise_is_as_likely_as_the_law_says() -> None:
    ratio = math.exp(-0.5)
    odd = sum(2 * (1 - ratio) / (1 + ratio) * ratio**k for k in range(1, 400, 2))
    sample = noise(9)
    finding = parity_check(lambda runs: sample(runs) & 1).examine(RUNS)
    assert f"odd {100 * odd:.4g}% of the time" in finding.event


SIGMA_SQUARED = Fraction(9, 4)


@pytest.mark.parametrize("order", [2.0, 4.0, 16.0])
@pytest.mark.parametrize("moved", [[1], [3, 0, -2], [0, 0]])
def test_whole_orders_of_discrete_gaussians_are_those_of_real_ones(
    order: float, moved: list[int]
) -> None:
    expected = order * sum(step**2 for step in moved) / (2 * float(SIGMA_SQUARED))
    found = of_gaussians(np.array(moved), SIGMA_SQUARED, order)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_other_orders_are_summed_over_the_whole_numbers() -> None:
    values = np.arange(-20, 21)
    law = np.exp(-(values**2) / (2 * float(SIGMA_SQUARED)))
    moved = np.exp(-((values - 1) ** 2) / (2 * float(SIGMA_SQUARED)))
    exact = 2 * math.log((moved**1.5 * law**-0.5).sum() / law.sum())
    assert of_gaussians(np.array([1]), SIGMA_SQUARED, 1.5) == pytest.approx(exact, rel=1e-12)


def test_choices_diverge_in_the_worse_direction_and_add_up() -> None:
    one, other = np.log([[0.5, 0.5]]), np.log([[0.9, 0.1]])
    there, back = (math.log(0.25 / 0.9 + 0.25 / 0.1), math.log(0.81 / 0.5 + 0.01 / 0.5))
    assert there > back
    assert of_choices(one, other, 2.0) == pytest.approx(there)
    assert of_choices(other, one, 2.0) == pytest.approx(there)
    twice = np.vstack([one, one]), np.vstack([other, other])
    assert of_choices(*twice, 2.0) == pytest.approx(2 * there)


@pytest.mark.parametrize(("rho", "passed"), [(0.25, True), (0.2501, False)])
def test_a_release_must_not_diverge_by_more_than_rho_allows(rho: float, passed: object) -> None:
    check = DivergenceCheck(
        name="divergence",
        statistic="it",
        epsilon=Fraction(1),
        delta=Fraction(1, 100),
        rho=Fraction(1, 4),
        release=lambda: {order: order * rho for order in ORDERS},
    )
    assert check.examine(1000).passed is passed


def test_one_release_that_diverges_too_far_is_enough() -> None:
    releases = iter([0.1] * 19 + [0.3])

    def release() -> dict[float, float]:
        rho = next(releases)
        return {order: order * rho for order in ORDERS}

    check = DivergenceCheck(
        name="divergence",
        statistic="it",
        epsilon=Fraction(1),
        delta=Fraction(1, 100),
        rho=Fraction(1, 4),
        release=release,
    )
    assert not check.examine(1000).passed
