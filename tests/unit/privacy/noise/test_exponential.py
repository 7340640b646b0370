from fractions import Fraction

import numpy as np
import pytest

from hushway.privacy.noise.exponential import exponential_choice
from hushway.privacy.randomness import SeededSource


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
