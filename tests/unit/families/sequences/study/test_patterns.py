from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from prefixspan import PrefixSpan

from hushway.errors import PlanError
from hushway.families.sequences.study.data import WeightedSequences, distinct
from hushway.families.sequences.study.patterns import (
    Pattern,
    PatternMatch,
    compare_patterns,
    top_patterns,
)


def sequences(lists: list[list[int]], weights: list[int]) -> WeightedSequences:
    start = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    stops = np.array([place for each in lists for place in each], dtype=np.int64)
    return WeightedSequences(start=start, stops=stops, weights=np.array(weights, dtype=np.int64))


def mined_by_hand(lists: list[list[int]], weights: list[int]) -> list[Pattern]:
    """Counts every subsequence of every sequence."""
    supports: Counter[tuple[int, ...]] = Counter()
    for each, weight in zip(lists, weights, strict=True):
        sizes = range(2, len(each) + 1)
        for locations in {chosen for size in sizes for chosen in combinations(each, size)}:
            supports[locations] += weight
    order = sorted(
        supports, key=lambda locations: (-supports[locations], len(locations), locations)
    )
    return [Pattern(locations=locations, support=supports[locations]) for locations in order]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("places", [2, 4, 30])
def test_patterns_are_those_of_counting_every_subsequence(seed: int, places: int) -> None:
    rng = np.random.default_rng([seed, places])
    lists = [rng.integers(0, places, rng.integers(0, 8)).tolist() for _ in range(60)]
    # Small weights make ties at nearly every rank.
    weights = rng.integers(1, 4, len(lists)).tolist()
    expected = mined_by_hand(lists, weights)
    for k in (1, 7, 40, len(expected), len(expected) + 5):
        assert list(top_patterns(sequences(lists, weights), k)) == expected[:k]


def test_a_record_holds_a_pattern_once_however_often_it_occurs() -> None:
    (found,) = top_patterns(sequences([[1, 2, 1, 2, 1, 2]], [5]), 1)
    assert found == Pattern(locations=(1, 1), support=5)


def test_grouping_records_does_not_change_their_patterns() -> None:
    rng = np.random.default_rng(3)
    lists = [rng.integers(0, 3, rng.integers(1, 5)).tolist() for _ in range(500)]
    each = sequences(lists, [1] * len(lists))
    grouped = distinct(each.start, each.stops)
    assert len(grouped) < len(each)
    assert top_patterns(grouped, 50) == top_patterns(each, 50)


def test_ties_go_to_the_shorter_pattern_and_then_to_lower_locations() -> None:
    data = sequences([[3, 4, 5], [1, 2], [0, 9]], [2, 2, 2])
    found = [pattern.locations for pattern in top_patterns(data, 6)]
    assert found == [(0, 9), (1, 2), (3, 4), (3, 5), (4, 5), (3, 4, 5)]


def test_sequences_that_stand_for_nobody_hold_no_pattern() -> None:
    assert top_patterns(sequences([[1, 2], [3]], [0, 4]), 5) == ()
    assert top_patterns(sequences([], []), 5) == ()


def test_patterns_are_compared_by_their_locations() -> None:
    truth = tuple(Pattern(locations=(0, i), support=10 - i) for i in range(5))
    released = tuple(Pattern(locations=(0, i), support=99) for i in range(2, 6))
    assert compare_patterns(truth, released).value == PatternMatch(
        true_positives=3, false_positives=1, false_drops=2
    )


def test_no_patterns_at_all_cannot_be_asked_for() -> None:
    with pytest.raises(PlanError) as refusal:
        top_patterns(sequences([[1, 2]], [1]), 0)
    assert refusal.value.advice


@pytest.mark.parametrize("seed", range(5))
def test_the_supports_are_those_of_the_prefixspan_package(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 7, 300)
    start = np.concatenate([[0], np.cumsum(lengths)])
    stops = rng.choice(8, size=int(start[-1]), p=np.arange(8, 0, -1) / 36)
    peer = PrefixSpan([stops[a:b].tolist() for a, b in pairwise(start)])
    peer.minlen = 2
    theirs = sorted((count for count, _ in peer.topk(40)), reverse=True)
    ours = top_patterns(distinct(start.astype(np.int64), stops.astype(np.int64)), 40)
    assert [pattern.support for pattern in ours] == theirs[:40]
    supports = {tuple(pattern): count for count, pattern in peer.frequent(ours[-1].support)}
    assert all(supports[pattern.locations] == pattern.support for pattern in ours)
