"""The two noise laws: their limits, masses, variances and windows."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

from hushway.errors import PrivacyError
from hushway.privacy.noise import gaussian
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.inversion import NoiseLaw, between, share
from hushway.privacy.noise.laplace import DiscreteLaplace, exactly
from hushway.privacy.randomness import SeededSource
from support.long import often

LAWS: list[NoiseLaw] = [
    DiscreteLaplace(Fraction(1, 100)),
    DiscreteLaplace(Fraction(1, 3)),
    DiscreteLaplace(Fraction(7)),
    DiscreteLaplace(Fraction(10**5)),
    DiscreteLaplace(Fraction(10**7)),
    DiscreteGaussian(Fraction(1, 10**4)),
    DiscreteGaussian(Fraction(1, 9)),
    DiscreteGaussian(Fraction(49)),
    DiscreteGaussian(Fraction(10**7)),
]
WINDOWS = [
    (-3, 4),
    (0, 1),
    (0, None),
    (1, None),
    (-5, None),
    (-50, -2),
    (-9, 1),
    (-9, 0),
    (-4, -3),
    (3, 9),
    (3, 2000),
    (-4000, 5),
    (-70_000, 2),
    (-70_000, -1),
    (2, 70_000),
    (10**6, 10**6 + 3),
    (10**6, None),
    (-(10**6) - 3, -(10**6)),
]


@pytest.mark.parametrize(
    "scale", [Fraction(1, 101), Fraction(10**7 + 1), Fraction(-1), Fraction(0)]
)
def test_a_laplace_scale_outside_the_certified_range_is_refused(scale: Fraction) -> None:
    with pytest.raises(PrivacyError, match="scale"):
        DiscreteLaplace(scale)


@pytest.mark.parametrize("sigma_squared", [Fraction(1, 10**5), Fraction(10**15), Fraction(-1)])
def test_a_gaussian_sigma_outside_the_certified_range_is_refused(sigma_squared: Fraction) -> None:
    with pytest.raises(PrivacyError, match="sigma"):
        DiscreteGaussian(sigma_squared)


@pytest.mark.parametrize("law", [DiscreteLaplace, DiscreteGaussian])
@pytest.mark.parametrize("parameter", [1.0, 2, np.float64(3), np.int64(4)])
def test_a_parameter_that_is_not_a_fraction_is_refused(
    law: Callable[[Fraction], NoiseLaw], parameter: Fraction
) -> None:
    with pytest.raises(PrivacyError, match="fraction"):
        law(parameter)


@pytest.mark.parametrize("chance", [0.5, Fraction(3, 2), Fraction(-1, 2), 1])
def test_a_chance_that_is_not_a_fraction_between_0_and_1_is_refused(chance: Fraction) -> None:
    with pytest.raises(PrivacyError, match="probability"):
        exactly(chance)


@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1), Fraction(10**7)])
def test_the_laplace_variance_is_rounded_up_by_less_than_one_part_in_2_to_the_100(
    scale: Fraction,
) -> None:
    with mp.workprec(1000):
        a = mp.exp(-mp.mpf(scale.denominator) / scale.numerator)
        true = 2 * a / (1 - a) ** 2
        stated = DiscreteLaplace(scale).variance
        excess = mp.mpf(stated.numerator) / stated.denominator / true - 1
        assert 0 < excess < mp.mpf(2) ** -100


@pytest.mark.parametrize("sigma", [Fraction(1, 4), Fraction(1), Fraction(20)])
def test_the_gaussian_variance_is_never_understated(sigma: Fraction) -> None:
    weights = [
        mp.exp(-mp.mpf(k * k) / (2 * mp.mpf(sigma.numerator) ** 2 / sigma.denominator**2))
        for k in range(1, 500)
    ]
    squares = 2 * sum(k * k * w for k, w in enumerate(weights, 1))
    true = squares / (1 + 2 * sum(weights))
    assert DiscreteGaussian(sigma**2).variance >= float(true) * (1 - 1e-12)


@pytest.mark.parametrize("threshold", [-(10**6), -40, -1, 0, 1, 2, 39, 10**6])
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_masses_of_both_sides_of_a_threshold_add_up_to_one(
    law: NoiseLaw, threshold: int
) -> None:
    bits = 200
    low, high = law.mass_from(threshold, bits)
    mirror_low, mirror_high = law.mass_from(1 - threshold, bits)
    assert 0 <= low <= high <= 1 << bits
    assert high - low <= 1 << 20
    assert low + mirror_low <= 1 << bits <= high + mirror_high


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(7), Fraction(10**7)])
@pytest.mark.parametrize("threshold", [-12, 0, 1, 5, 10**7])
def test_laplace_masses_agree_with_the_closed_form(scale: Fraction, threshold: int) -> None:
    bits = 300
    low, high = DiscreteLaplace(scale).mass_from(threshold, bits)
    with mp.workprec(2000):
        a = mp.exp(-mp.mpf(scale.denominator) / scale.numerator)
        tail = a ** abs(threshold if threshold > 0 else 1 - threshold) / (1 + a)
        true = (tail if threshold > 0 else 1 - tail) * mp.mpf(2) ** bits
        assert low <= true <= high


@pytest.mark.parametrize("sigma", often([Fraction(1, 3), Fraction(7), Fraction(300)], first=2))
@pytest.mark.parametrize("threshold", [-12, 0, 1, 5, 900])
def test_gaussian_masses_agree_with_the_sum_of_weights(sigma: Fraction, threshold: int) -> None:
    bits = 200
    low, high = DiscreteGaussian(sigma**2).mass_from(threshold, bits)
    with mp.workprec(400):
        spread = 2 * mp.mpf((sigma**2).numerator) / (sigma**2).denominator
        reach = int(40 * sigma) + 40
        weights = {k: mp.exp(-mp.mpf(k * k) / spread) for k in range(-reach, reach + 1)}
        part = sum(w for k, w in weights.items() if k >= threshold)
        true = part / sum(weights.values()) * mp.mpf(2) ** bits
        assert low <= true <= high


@pytest.mark.parametrize("bits", [64, 100])
@pytest.mark.parametrize("sigma", [2, 300])
def test_a_gaussian_tail_whose_terms_no_longer_show_is_still_enclosed(
    sigma: int, bits: int
) -> None:
    """One by one the weights vanish in the rounding; their sum may not."""
    edge = int(sigma * (2 * bits * 0.6931) ** 0.5)
    for start in range(max(1, edge - sigma), edge + sigma, max(1, sigma // 3)):
        low, high = gaussian._tail(Fraction(sigma**2), start, bits)
        with mp.workprec(300):
            terms = (
                mp.exp(-mp.mpf(k * k) / (2 * sigma**2)) for k in range(start, start + 9 * sigma)
            )
            true = mp.fsum(terms) * mp.mpf(2) ** bits
            assert low <= true <= high


def test_enclosures_of_windows_and_shares_contain_the_true_value() -> None:
    law = DiscreteLaplace(Fraction(5))
    with mp.workprec(400):
        a = mp.exp(-mp.mpf(1) / 5)
        true = (1 - a) / (1 + a) * sum(a ** abs(z) for z in range(-2, 4)) * mp.mpf(2) ** 100
        low, high = between(law, -2, 4, 100)
        assert low <= true <= high
    assert share((1, 2), (3, 4), 10) == (256, 683)
    assert share((0, 1), (0, 4), 10) == (0, 1024)


@pytest.mark.parametrize(("low", "high"), WINDOWS)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_noise_given_a_window_stays_inside_it(law: NoiseLaw, low: int, high: int | None) -> None:
    values = law.draw_between(SeededSource(5), 50, low, high)
    assert values.dtype == np.int64
    assert len(values) == 50
    assert values.min() >= low
    assert high is None or values.max() < high


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_drawing_nothing_gives_nothing(law: NoiseLaw) -> None:
    assert len(law.draw(SeededSource(1), 0)) == 0
    assert len(law.draw_between(SeededSource(1), 0, 3, 9)) == 0


def test_sparse_gaussian_noise_is_refused_where_its_sums_would_take_for_ever() -> None:
    law = DiscreteGaussian(Fraction(1 << 36))
    with pytest.raises(PrivacyError, match="Sparse Gaussian"):
        law.mass_from(1, 64)
    with pytest.raises(PrivacyError, match="Sparse Gaussian"):
        law.draw_between(SeededSource(1), 1, 0, None)
    assert len(law.draw(SeededSource(1), 5)) == 5
