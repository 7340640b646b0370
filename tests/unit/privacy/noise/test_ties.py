"""A word that ties with a threshold, which chance alone would show once in centuries."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
import pytest

from hushway.privacy.noise import gaussian, laplace
from hushway.privacy.noise.exponential import exponential_choice
from hushway.privacy.noise.gaussian import DiscreteGaussian, StepCoin
from hushway.privacy.noise.grouped_draws import binomial
from hushway.privacy.noise.inversion import InversionTable
from hushway.privacy.noise.laplace import DiscreteLaplace, bernoulli, exactly
from hushway.privacy.randomness import BitSource


class Scripted(BitSource, Protocol):
    asked: int


Script = Callable[[Sequence[int], int], Scripted]
Exp = Callable[[Fraction, int], tuple[int, int]]

ZEROS = 0
ONES = (1 << 64) - 1

TABLES = {
    "laplace 1": laplace._magnitudes(Fraction(1)),
    "laplace 1/3": laplace._magnitudes(Fraction(1, 3)),
    "laplace 100": laplace._magnitudes(Fraction(100)),
    "geometric 9": laplace._table(Fraction(9), None),
    "geometric 1e7 cut": laplace._table(Fraction(10**7), 1024),
    "gaussian 3": gaussian._magnitudes(Fraction(9)),
    "gaussian 50": gaussian._magnitudes(Fraction(2500)),
    "gaussian window": gaussian._window(Fraction(9), -4, 6),
}


@pytest.fixture(params=TABLES.values(), ids=TABLES.keys())
def table(request: pytest.FixtureRequest) -> InversionTable:
    found: InversionTable = request.param
    return found


def early_entries(table: InversionTable) -> range:
    """Entries before the far tail, where neighbouring thresholds are still different words."""
    distinct = np.flatnonzero(np.diff(table.thresholds.astype(np.int64)) > 1)
    return range(min(int(distinct[-1]), 40))


def next_word(table: InversionTable, k: int) -> int:
    """The 64 bits of P(K <= k) that follow those in the table."""
    low, high = table._law.cumulative(k, 63 + 64 + 64)
    assert low >> 64 == high >> 64
    return (low >> 64) & ONES


def test_a_tie_is_decided_by_further_bits_and_its_neighbours_need_none(
    table: InversionTable, scripted: Script
) -> None:
    for k in early_entries(table):
        word = int(table.thresholds[k])
        assert table.draw(scripted([word << 1], ZEROS), 1)[0] == k
        assert table.draw(scripted([word << 1], ONES), 1)[0] == k + 1
        for neighbour, value in ((word - 1, k), (word + 1, k + 1)):
            source = scripted([neighbour << 1], ZEROS)
            assert table.draw(source, 1)[0] == value
            assert source.asked == 1


def test_a_tie_that_ties_again_is_decided_by_a_third_word(
    table: InversionTable, scripted: Script
) -> None:
    for k in early_entries(table):
        first, second = int(table.thresholds[k]) << 1, next_word(table, k)
        for filler, value in ((ZEROS, k), (ONES, k + 1)):
            source = scripted([first, second], filler)
            assert table.draw(source, 1)[0] == value
            assert source.asked >= 3
        for beside, value in ((second - 2, k), (second + 2, k + 1)):
            source = scripted([first, beside], ZEROS)
            assert table.draw(source, 1)[0] == value
            assert source.asked == 2


def test_only_the_tied_words_of_a_chunk_change(scripted: Script) -> None:
    table = TABLES["laplace 1"]
    words = [int(t) << 1 for t in table.thresholds[:6]]
    mixed = [*words, 0, 2 * words[2] // 3]
    values = table.draw(scripted(mixed, ZEROS), len(mixed))
    assert values.tolist()[:6] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("sign", [0, 1])
def test_the_sign_of_a_tied_word_is_its_last_bit(sign: int, scripted: Script) -> None:
    word = int(TABLES["laplace 1"].thresholds[4]) << 1 | sign
    law = DiscreteLaplace(Fraction(1))
    assert law.draw(scripted([word], ZEROS), 1)[0] == (-4 if sign else 4)
    assert law.draw(scripted([word], ONES), 1)[0] == (-5 if sign else 5)


def first_above(outside: Callable[[int], tuple[int, int]], bits: int, tail: int) -> int:
    """The smallest k with 2^bits * P(K > k) < 2^(bits - tail), surely."""
    k = 0
    while True:
        low, high = outside(k)
        if high < 1 << (bits - tail):
            return k
        assert low > 1 << (bits - tail)
        k += 1


@pytest.mark.one_in(3)
@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(10)])
@pytest.mark.parametrize("more", [0, 1, 3])
def test_the_last_word_leads_as_far_into_the_laplace_tail_as_its_following_bits_say(
    scale: Fraction, more: int, scripted: Script, exp_bounds: Exp
) -> None:
    bits = 600
    ratio = exp_bounds(1 / scale, bits)

    def outside(k: int) -> tuple[int, int]:
        low, high = exp_bounds((k + 1) / scale, bits)
        one = 1 << bits
        return (2 * low << bits) // (one + ratio[1]), (2 * high << bits) // (one + ratio[0]) + 1

    expected = first_above(outside, bits, 63 + 64 * more)
    source = scripted([ONES - 1] + [ONES] * more, ZEROS)
    assert DiscreteLaplace(scale).draw(source, 1)[0] == expected


@pytest.mark.parametrize("more", [0, 1, 3])
def test_the_last_word_leads_as_far_into_the_gaussian_tail_as_its_following_bits_say(
    more: int, scripted: Script, exp_bounds: Exp
) -> None:
    bits, sigma_squared = 600, Fraction(81, 4)
    weights = [exp_bounds(Fraction(k * k) / (2 * sigma_squared), bits) for k in range(200)]
    ends = [(2 * sum(w[side] for w in weights[1:]) + (1 << bits)) for side in (0, 1)]

    def outside(k: int) -> tuple[int, int]:
        low = 2 * sum(w[0] for w in weights[k + 1 :])
        high = 2 * sum(w[1] for w in weights[k + 1 :])
        return (low << bits) // ends[1], (high << bits) // ends[0] + 1

    expected = first_above(outside, bits, 63 + 64 * more)
    source = scripted([ONES - 1] + [ONES] * more, ZEROS)
    assert DiscreteGaussian(sigma_squared).draw(source, 1)[0] == expected


@pytest.mark.parametrize("limit", [1, 2, 1024])
@pytest.mark.parametrize("filler", [ZEROS, ONES])
def test_the_last_word_of_a_cut_law_is_its_last_value(
    limit: int, filler: int, scripted: Script
) -> None:
    table = laplace._table(Fraction(10**7), limit)
    assert table.draw(scripted([ONES], filler), 1)[0] == limit - 1


@pytest.mark.parametrize("chance", [Fraction(1, 3), Fraction(2, 7), Fraction(1, 10**9)])
def test_a_tied_coin_is_decided_by_the_following_bits(chance: Fraction, scripted: Script) -> None:
    word = (chance.numerator << 63) // chance.denominator
    assert bernoulli(scripted([word << 1], ZEROS), 1, exactly(chance)).tolist() == [True]
    assert bernoulli(scripted([word << 1], ONES), 1, exactly(chance)).tolist() == [False]
    assert bernoulli(scripted([(word - 1) << 1], ONES), 1, exactly(chance)).tolist() == [True]
    assert bernoulli(scripted([(word + 1) << 1], ZEROS), 1, exactly(chance)).tolist() == [False]


def test_a_coin_whose_chance_is_a_whole_number_of_words_needs_no_further_bits(
    scripted: Script,
) -> None:
    source = scripted([1 << 63, (1 << 63) - 2], ZEROS)
    assert bernoulli(source, 2, exactly(Fraction(1, 2))).tolist() == [False, True]
    assert source.asked == 2


def test_impossible_and_certain_coins_hold_for_the_extreme_words(scripted: Script) -> None:
    for word in (0, ONES):
        assert not bernoulli(scripted([word], word), 1, exactly(Fraction(0)))[0]
        assert bernoulli(scripted([word], word), 1, exactly(Fraction(1)))[0]


@pytest.mark.parametrize("steps", [1, 255, 7 << 8, 3 << 16])
def test_a_tied_step_coin_is_decided_by_the_following_bits(
    steps: int, scripted: Script, exp_bounds: Exp
) -> None:
    rate = Fraction(1, 10**6)
    coin = StepCoin(rate)
    low, high = exp_bounds(rate * steps, 200)
    word = low >> 137
    assert word == high >> 137
    taken = np.array([steps], dtype=np.int64)
    assert coin.toss(scripted([word << 1], ZEROS), taken).tolist() == [True]
    assert coin.toss(scripted([word << 1], ONES), taken).tolist() == [False]
    assert coin.toss(scripted([(word - 1) << 1], ONES), taken).tolist() == [True]
    assert coin.toss(scripted([(word + 1) << 1], ZEROS), taken).tolist() == [False]


def little_end_first(number: int, words: int) -> list[int]:
    return [number >> 64 * i & ONES for i in range(words)]


def test_a_tied_binomial_draw_is_decided_by_the_following_bits(scripted: Script) -> None:
    boundary = (2 << 192) // 3  # one trial of chance 1/3 fails below 2/3
    words = little_end_first(boundary, 3)
    for filler, outcome in ((ZEROS, 0), (ONES, 1)):
        source = scripted(words, filler)
        assert binomial(source, 1, exactly(Fraction(1, 3))) == outcome
        assert source.asked == 6


def test_a_tied_choice_is_decided_by_the_following_bits(scripted: Script, exp_bounds: Exp) -> None:
    low, high = exp_bounds(Fraction(1), 400)
    one = 1 << 400
    boundary = (one << 192) // (one + high)  # 1 / (1 + exp(-1)), the share of the lower score
    assert boundary == (one << 192) // (one + low)
    scores = np.array([5, 4], dtype=np.int64)
    words = little_end_first(boundary, 3)
    assert exponential_choice(scripted(words, ZEROS), scores, Fraction(1)) == 1
    # One word of ones decides; the word after it picks among the candidates of the score.
    assert exponential_choice(scripted([*words, ONES], ZEROS), scores, Fraction(1)) == 0
