"""Every entry of every table is floor(2^63 F(k)), recomputed by an independent method.

A table rounded to the 53 bits of a double would pass every statistical test; it fails here.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from numpy.typing import NDArray

from hushway.privacy.noise import gaussian, laplace
from hushway.privacy.noise import gaussian as steps

Bounds = tuple[int, int]
Exp = Callable[[Fraction, int], Bounds]
Words = NDArray[np.uint64]

WORD_BITS = 63
TOP = (1 << WORD_BITS) - 1
BITS = 200
ONE = 1 << BITS

SMALL_SCALES = [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(10), Fraction(1000)]


def quotient(part: Bounds, whole: Bounds) -> Bounds:
    return (part[0] << BITS) // whole[1], -(-(part[1] << BITS) // whole[0])


def laplace_bounds(scale: Fraction, exp: Exp) -> Iterator[Bounds]:
    """P(|Z| <= k) = 1 - 2 a^(k+1) / (1 + a)."""
    ratio = exp(1 / scale, BITS)
    for k in count():
        low, high = exp((k + 1) / scale, BITS)
        outside = quotient((2 * low, 2 * high), (ONE + ratio[0], ONE + ratio[1]))
        yield ONE - outside[1], ONE - outside[0]


def geometric_bounds(scale: Fraction, limit: int | None, exp: Exp) -> Iterator[Bounds]:
    """P(G <= k) = (1 - a^(k+1)) / (1 - a^limit)."""
    cut = (0, 0) if limit is None else exp(limit / scale, BITS)
    for k in count():
        if limit is not None and k == limit - 1:
            yield ONE, ONE
            return
        low, high = exp((k + 1) / scale, BITS)
        yield quotient((ONE - high, ONE - low), (ONE - cut[1], ONE - cut[0]))


def gaussian_weight(k: int, sigma_squared: Fraction, exp: Exp) -> Bounds:
    return exp(Fraction(k * k) / (2 * sigma_squared), BITS)


def gaussian_bounds(sigma_squared: Fraction, exp: Exp) -> Iterator[Bounds]:
    """Sums of weights over the sum of all, whose tail is smaller than a geometric series."""
    weights = [(ONE, ONE)]
    while weights[-1][1] > 2:
        low, high = gaussian_weight(len(weights), sigma_squared, exp)
        weights.append((2 * low, 2 * high))
    ratio = exp(Fraction(2 * len(weights) - 1) / (2 * sigma_squared), BITS)[1]
    rest = -(-(weights[-1][1] << BITS) // (ONE - ratio))
    whole = sum(low for low, _ in weights), sum(high for _, high in weights) + rest
    low_sum = high_sum = 0
    for low, high in weights:
        low_sum, high_sum = low_sum + low, high_sum + high
        yield quotient((low_sum, high_sum), whole)


def window_bounds(sigma_squared: Fraction, low: int, high: int, exp: Exp) -> Iterator[Bounds]:
    weights = [gaussian_weight(k, sigma_squared, exp) for k in range(low, high)]
    whole = sum(w for w, _ in weights), sum(w for _, w in weights)
    for i in range(len(weights)):
        part = sum(w for w, _ in weights[: i + 1]), sum(w for _, w in weights[: i + 1])
        yield quotient(part, whole) if i < len(weights) - 1 else (ONE, ONE)


def wrong_entries(thresholds: Words, cumulative: Iterator[Bounds]) -> Iterator[int]:
    """Yields the entries that are not certified: too low or too high by even one."""
    shift = BITS - WORD_BITS
    last = len(thresholds) - 1
    for k, (entry, (low, high)) in enumerate(zip(thresholds.tolist(), cumulative, strict=False)):
        below, above = low >> shift, high >> shift
        if k < last and not (entry == below == above and entry < TOP):
            yield k
        if k == last and not (entry == TOP <= below):
            yield k


@pytest.mark.parametrize("scale", SMALL_SCALES, ids=str)
def test_every_laplace_threshold_is_the_floor_of_the_exact_probability(
    scale: Fraction, exp_bounds: Exp
) -> None:
    table = laplace._magnitudes(scale).thresholds
    assert list(wrong_entries(table, laplace_bounds(scale, exp_bounds))) == []


@pytest.mark.parametrize("scale", [Fraction(10**5), Fraction(10**7), Fraction(10**7, 3)], ids=str)
def test_every_geometric_digit_threshold_of_a_large_scale_is_exact(
    scale: Fraction, exp_bounds: Exp
) -> None:
    tables = 0
    while scale > 32:
        digit = laplace._table(scale, 1024).thresholds
        assert list(wrong_entries(digit, geometric_bounds(scale, 1024, exp_bounds))) == []
        scale, tables = scale / 1024, tables + 1
    whole = laplace._table(scale, None).thresholds
    assert list(wrong_entries(whole, geometric_bounds(scale, None, exp_bounds))) == []
    assert tables >= 2


@pytest.mark.parametrize("limit", [1, 2, 3, 100, 1023])
@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(7, 2), Fraction(10**7)], ids=str)
def test_every_threshold_of_a_cut_geometric_law_is_exact(
    scale: Fraction, limit: int, exp_bounds: Exp
) -> None:
    table = laplace._table(scale, limit).thresholds
    assert len(table) <= limit
    assert list(wrong_entries(table, geometric_bounds(scale, limit, exp_bounds))) == []


@pytest.mark.parametrize("sigma", [*SMALL_SCALES, Fraction(2047, 2)], ids=str)
def test_every_gaussian_threshold_is_the_floor_of_the_exact_probability(
    sigma: Fraction, exp_bounds: Exp
) -> None:
    table = gaussian._magnitudes(sigma**2).thresholds
    assert list(wrong_entries(table, gaussian_bounds(sigma**2, exp_bounds))) == []


@pytest.mark.parametrize(("low", "high"), [(-3, 5), (0, 40), (-30, 1), (7, 20), (31, 33)])
def test_every_threshold_of_a_gaussian_window_is_exact(
    low: int, high: int, exp_bounds: Exp
) -> None:
    sigma_squared = Fraction(81, 2)
    table = gaussian._window(sigma_squared, low, high).thresholds
    assert list(wrong_entries(table, window_bounds(sigma_squared, low, high, exp_bounds))) == []


@pytest.mark.parametrize("sigma", [1025, 10**5, 10**7])
def test_every_threshold_of_the_step_coins_is_exact(sigma: int, exp_bounds: Exp) -> None:
    rate = Fraction(1, 2 * sigma**2)
    shift = BITS - WORD_BITS
    for place, row in enumerate(steps.StepCoin(rate)._thresholds.tolist()):
        assert row[0] == 1 << WORD_BITS
        for digit in range(1, 256):
            low, high = exp_bounds(rate * (digit << 8 * place), BITS)
            assert low >> shift == row[digit] == high >> shift


def test_tables_rounded_to_53_bits_are_caught(exp_bounds: Exp) -> None:
    large = Fraction(10**7)
    cases = [
        (gaussian._magnitudes(Fraction(100)), gaussian_bounds(Fraction(100), exp_bounds)),
        (laplace._table(large, 1024), geometric_bounds(large, 1024, exp_bounds)),
        *(
            (laplace._magnitudes(scale), laplace_bounds(scale, exp_bounds))
            for scale in (Fraction(1, 3), Fraction(1), Fraction(10), Fraction(1000))
        ),
    ]
    for table, bounds in cases:
        assert any(True for _ in wrong_entries(as_doubles(table.thresholds), bounds))


@pytest.mark.parametrize("change", [-1, 1])
@pytest.mark.parametrize("entry", [0, 50, 300])
def test_one_entry_that_is_off_by_one_is_caught(entry: int, change: int, exp_bounds: Exp) -> None:
    table = laplace._magnitudes(Fraction(10)).thresholds.astype(np.int64)
    table[entry] += change
    assert list(wrong_entries(table, laplace_bounds(Fraction(10), exp_bounds))) == [entry]


def as_doubles(thresholds: Words) -> Words:
    """The mutant: each threshold as the nearest double, still sorted, the last one kept."""
    rounded = thresholds.astype(np.float64).astype(np.uint64)
    rounded[-1] = TOP
    return rounded
