import threading
from collections.abc import Callable
from fractions import Fraction
from math import comb

import pytest
from mpmath import mp

from hushway.privacy.noise import inversion as enclosure
from hushway.privacy.noise.inversion import exp_enclosure, exp_of_interval, log_binomial_mass

Exp = Callable[[Fraction, int], tuple[int, int]]


@pytest.mark.parametrize("bits", [63, 128, 500, 3000])
@pytest.mark.parametrize(
    "exponent",
    [
        Fraction(1, 10**14),
        Fraction(1, 3),
        Fraction(1),
        Fraction(100),
        Fraction(12345, 7),
        Fraction(10**9),
    ],
    ids=str,
)
def test_an_exponential_lies_between_the_ends_of_a_narrow_enclosure(
    exponent: Fraction, bits: int, exp_bounds: Exp
) -> None:
    low, high = exp_enclosure(exponent, bits)
    true_low, true_high = exp_bounds(exponent, bits + 64)
    assert low << 64 <= true_low
    assert true_high <= high << 64
    assert high - low <= 4


def test_the_exponential_of_zero_is_exactly_one() -> None:
    assert exp_enclosure(Fraction(0), 200) == (1 << 200, 1 << 200)


@pytest.mark.parametrize("exponent", [Fraction(10**6), Fraction(10**18)])
def test_an_exponential_too_small_to_show_is_enclosed_by_zero_and_a_few_units(
    exponent: Fraction,
) -> None:
    low, high = exp_enclosure(exponent, 128)
    assert low == 0
    assert 0 < high <= 2


@pytest.mark.one_in(3)
@pytest.mark.parametrize("trials", [0, 1, 5, 32, 64, 65, 300])
@pytest.mark.parametrize("bits", [128, 512, 2048])
def test_a_binomial_mass_lies_between_the_ends_of_a_narrow_enclosure(
    trials: int, bits: int
) -> None:
    numerator = (1 << bits) // 7
    one = 1 << bits
    for successes in {0, trials // 7, trials // 2, trials}:
        interval = log_binomial_mass(trials, successes, (numerator, numerator), bits)
        low, high = exp_of_interval(interval, bits)
        ways = comb(trials, successes) * numerator**successes
        mass = ways * (one - numerator) ** (trials - successes) << bits  # over 2^(bits * trials)
        assert low << bits * trials <= mass <= high << bits * trials
        assert high - low <= 4


def test_a_binomial_mass_of_a_trillion_trials_agrees_with_mpmath() -> None:
    trials, successes, bits = 10**12, 100, 256
    chance = Fraction(1, 10**10)
    scaled = int(chance * (1 << bits))
    low, high = exp_of_interval(log_binomial_mass(trials, successes, (scaled,) * 2, bits), bits)
    with mp.workprec(800):
        p = mp.mpf(scaled) / mp.mpf(1 << bits)
        log_choose = mp.loggamma(trials + 1) - mp.loggamma(successes + 1) - mp.loggamma(trials - 99)
        log_mass = log_choose + successes * mp.log(p) + (trials - successes) * mp.log1p(-p)
        assert low <= mp.exp(log_mass) * (1 << bits) <= high
    assert high - low <= 4


def test_a_wider_chance_gives_a_wider_enclosure() -> None:
    point = exp_of_interval(log_binomial_mass(10, 3, (300, 300), 10), 64)
    wide = exp_of_interval(log_binomial_mass(10, 3, (299, 301), 10), 64)
    assert wide[0] < point[0] <= point[1] < wide[1]


def test_only_one_thread_at_a_time_computes_with_mpmath() -> None:
    """mpmath's memory of ln 2 is not made for threads; a torn read is wrong by many bits."""
    answers: list[tuple[int, int]] = []
    thread = threading.Thread(target=lambda: answers.append(exp_enclosure(Fraction(3), 128)))
    with enclosure._MPMATH:
        thread.start()
        thread.join(timeout=0.3)
        assert answers == []
    thread.join()
    assert answers == [exp_enclosure(Fraction(3), 128)]
