from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest

from hushway.errors import PrivacyError
from hushway.privacy.noise.grouped_draws import binomial
from hushway.privacy.noise.inversion import Enclosure, exp_enclosure
from hushway.privacy.noise.laplace import exactly
from hushway.privacy.randomness import BitSource, SeededSource

Script = Callable[[Sequence[int], int], BitSource]

ONES = (1 << 64) - 1


@pytest.mark.parametrize("trials", [0, 1, 10, 10**12])
def test_an_impossible_success_never_happens_and_a_certain_one_always(trials: int) -> None:
    for filler in range(20):
        source = SeededSource(filler)
        assert binomial(source, trials, exactly(Fraction(0))) == 0
        assert binomial(source, trials, exactly(Fraction(1))) == trials


@pytest.mark.parametrize("word", [0, ONES])
def test_extreme_words_give_outcomes_that_can_be(word: int, scripted: Script) -> None:
    assert 0 <= binomial(scripted([word] * 3, word // 3), 5, exactly(Fraction(1, 3))) <= 5


@pytest.mark.parametrize("exponent", [200, 10**4, 10**6])
def test_a_chance_too_small_to_show_almost_never_succeeds(exponent: int) -> None:
    def tiny(bits: int) -> Enclosure:
        return exp_enclosure(Fraction(exponent), bits)

    def nearly_one(bits: int) -> Enclosure:
        low, high = tiny(bits)
        return (1 << bits) - high, (1 << bits) - low

    assert binomial(SeededSource(1), 10**12, tiny) == 0
    assert binomial(SeededSource(1), 10**12, nearly_one) == 10**12


@pytest.mark.parametrize("trials", [-1, (1 << 62) + 1])
def test_a_number_of_trials_beyond_the_certified_range_is_refused(trials: int) -> None:
    with pytest.raises(PrivacyError, match="trials"):
        binomial(SeededSource(1), trials, exactly(Fraction(1, 2)))


def test_what_a_uniform_number_stands_for_does_not_move_with_the_precision(
    scripted: Script,
) -> None:
    """Both enclosures below hold one half, but (n + 1) p rounds to different modes."""

    def half(bits: int) -> Enclosure:
        middle = 1 << (bits - 1)
        return (middle - 1, middle + 1) if bits < 300 else (middle, middle + 1)

    just_below_half = [ONES, ONES, (1 << 63) - 1]
    assert binomial(scripted(just_below_half, 0), 1, half) == 0
    at_half = [0, 0, 1 << 63]
    assert binomial(scripted(at_half, ONES), 1, half) == 1
