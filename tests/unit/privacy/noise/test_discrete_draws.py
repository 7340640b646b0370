"""Uniform, exponential and binomial draws, and subsets: edges and words that decide."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from hushway.errors import PrivacyError
from hushway.privacy.noise.exponential import exponential_choice, uniform_below
from hushway.privacy.noise.grouped_draws import binomial, uniform_subsets
from hushway.privacy.noise.inversion import Enclosure, exp_enclosure
from hushway.privacy.noise.laplace import exactly
from hushway.privacy.randomness import BitSource, SeededSource

Script = Callable[[Sequence[int], int], BitSource]

ONES = (1 << 64) - 1


@pytest.mark.parametrize("limit", [1, 2, 3, 1000, 3 << 61, (1 << 63) - 1, 1 << 63])
def test_uniform_numbers_stay_below_their_limit(limit: int) -> None:
    values = uniform_below(SeededSource(1), 2000, limit)
    assert values.min() >= 0
    assert int(values.max()) < limit


@pytest.mark.parametrize("limit", [3, 7, 10**12, 3 << 61, (1 << 63) - 1])
def test_words_beyond_the_last_whole_multiple_are_drawn_again(limit: int, scripted: Script) -> None:
    multiple = (1 << 64) // limit * limit
    assert uniform_below(scripted([multiple - 1], 0), 1, limit)[0] == limit - 1
    if multiple <= ONES:
        assert uniform_below(scripted([multiple, ONES, 5], 0), 1, limit)[0] == 5 % limit


@pytest.mark.parametrize("limit", [1, 2, 1 << 40, 1 << 63])
def test_a_power_of_two_uses_every_word(limit: int, scripted: Script) -> None:
    assert uniform_below(scripted([ONES], 0), 1, limit)[0] == limit - 1


@pytest.mark.parametrize("limit", [0, -1, (1 << 63) + 1])
def test_a_limit_that_cannot_be_is_refused(limit: int) -> None:
    with pytest.raises(PrivacyError, match="limit"):
        uniform_below(SeededSource(1), 1, limit)


@pytest.mark.parametrize(
    ("count", "universe"),
    [(0, 0), (0, 5), (5, 5), (4, 5), (1, 1), (3, 6), (999, 1000), (1000, 10**12), (50_000, 99_999)],
)
def test_a_subset_is_ascending_distinct_and_inside_its_universe(count: int, universe: int) -> None:
    subset = uniform_subsets(SeededSource(3), [count], [universe])
    assert subset.dtype == np.int64
    assert len(subset) == count
    assert (np.diff(subset) > 0).all()
    if count:
        assert subset[0] >= 0
        assert subset[-1] < universe


def test_a_subset_of_everything_is_everything() -> None:
    assert uniform_subsets(SeededSource(3), [7], [7]).tolist() == list(range(7))


@pytest.mark.parametrize(
    ("counts", "ranges"), [([6], [5]), ([-1], [5]), ([1], [0]), ([1, 4], [2, 3])]
)
def test_a_subset_larger_than_its_range_is_refused(counts: list[int], ranges: list[int]) -> None:
    with pytest.raises(PrivacyError, match="subset cannot be larger"):
        uniform_subsets(SeededSource(3), counts, ranges)


def test_repeats_keep_their_first_appearance(scripted: Script) -> None:
    drawn = uniform_subsets(scripted([7, 3, 7, 3, 9], 1), [3], [100])
    assert drawn.tolist() == [3, 7, 9]


def test_a_single_candidate_is_always_chosen() -> None:
    scores = np.array([17], dtype=np.int64)
    assert exponential_choice(SeededSource(1), scores, Fraction(3)) == 0


def test_a_candidate_far_worse_than_the_best_is_not_chosen() -> None:
    scores = np.array([10**6, 3, 10**6, 10**9], dtype=np.int64)
    source = SeededSource(1)
    assert {exponential_choice(source, scores, Fraction(1)) for _ in range(50)} == {1}


def test_equal_candidates_are_all_chosen() -> None:
    scores = np.full(5, 7, dtype=np.int64)
    source = SeededSource(1)
    assert {exponential_choice(source, scores, Fraction(1)) for _ in range(200)} == set(range(5))


@pytest.mark.parametrize("shift", [-(10**15), 0, 10**15])
def test_only_differences_of_scores_matter(shift: int) -> None:
    scores = np.array([4, 0, 2, 2, 9], dtype=np.int64)
    plain, shifted = SeededSource(8), SeededSource(8)
    rate = Fraction(1, 3)
    chosen = [exponential_choice(plain, scores, rate) for _ in range(50)]
    assert chosen == [exponential_choice(shifted, scores + shift, rate) for _ in range(50)]


def test_many_candidates_with_few_different_scores_are_no_burden() -> None:
    scores = np.zeros(10**6, dtype=np.int64)
    scores[::2] = 40
    assert exponential_choice(SeededSource(2), scores, Fraction(1)) % 2 == 1


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
