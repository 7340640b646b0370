from fractions import Fraction

import numpy as np
import pytest

from hushway.auditing.harness import OutcomeSet, Side, most_telling


@pytest.mark.parametrize(
    ("side", "count"), [(Side.AT_LEAST, 3), (Side.AT_MOST, 4), (Side.EXACTLY, 2)]
)
def test_an_event_counts_the_outcomes_that_belong_to_it(side: Side, count: int) -> None:
    assert OutcomeSet(side, 2).count(np.array([0, 1, 2, 2, 5])) == count


def test_an_event_reads_as_words() -> None:
    assert str(OutcomeSet(Side.AT_MOST, -3)) == "at most -3"


def test_a_threshold_that_splits_two_samples_is_found() -> None:
    likely, rare = np.repeat([4, 5], 1000), np.repeat([0, 1], 1000)
    event = most_telling(likely, rare, Fraction(0))
    assert event.count(likely) == 2000
    assert event.count(rare) == 0


def test_a_single_value_between_others_is_found() -> None:
    likely = np.repeat([0, 1, 2], [1000, 1000, 1000])
    rare = np.repeat([0, 2], [1500, 1500])
    assert most_telling(likely, rare, Fraction(0)) == OutcomeSet(Side.EXACTLY, 1)


def test_a_lucky_rare_event_does_not_beat_a_solid_one() -> None:
    likely = np.concatenate([np.repeat([0, 1], [3000, 6990]), np.full(10, 9)])
    rare = np.repeat([0, 1], [7000, 3000])
    assert most_telling(likely, rare, Fraction(0)) == OutcomeSet(Side.AT_LEAST, 1)


def test_samples_with_more_values_than_candidates_are_still_told_apart() -> None:
    rare = np.arange(20_000)
    likely = rare + 10_000
    event = most_telling(likely, rare, Fraction(0))
    assert event.side is Side.AT_LEAST
    assert event.count(rare) <= 100
