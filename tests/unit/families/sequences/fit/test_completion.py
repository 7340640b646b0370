"""Completed records agree with the published tree and add nothing to it."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from hushway.errors import PlanError
from hushway.families.sequences.fit.completion import CompletedSequences, complete
from hushway.families.sequences.fit.rounding import whole_records
from hushway.families.sequences.fit.table import SequenceTable, StepSummary
from hushway.families.sequences.mechanism.tree import prefix_tree
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.numerics.chance import generator
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.randomness import SeededSource
from support.sequence_towns import Town, universe_of

Prefix = tuple[int, ...]


def simple_table(
    universe: SequenceUniverse, counts: dict[Prefix, int], *, stops: int, threshold: int = 10
) -> SequenceTable:
    """A tree over locations only, given the count of every kept prefix."""
    nodes = sorted(counts, key=lambda prefix: (len(prefix), prefix))
    number = {prefix: at for at, prefix in enumerate(nodes)}
    below = Counter[Prefix]()
    for prefix, count in counts.items():
        below[prefix[:-1]] += count
    published = np.array([counts[prefix] for prefix in nodes], dtype=np.int64)
    return SequenceTable(
        taxonomy=universe.taxonomy,
        periods=universe.periods,
        parent=np.array([number.get(prefix[:-1], -1) for prefix in nodes], dtype=np.int64),
        step=np.array([len(prefix) - 1 for prefix in nodes], dtype=np.int64),
        period=np.zeros(len(nodes), dtype=np.int64),
        code=np.array([prefix[-1] for prefix in nodes], dtype=np.int64),
        measured=published,
        counts=published,
        ends=np.array([counts[prefix] - below[prefix] for prefix in nodes], dtype=np.int64),
        steps=tuple(
            StepSummary(
                stop=stop, grain=0, candidates=4, threshold=threshold, kept=1, standard_error=1.0
            )
            for stop in range(stops)
        ),
    )


def as_dict(start: Sequence[int], stops: Sequence[int], counts: Sequence[int]) -> dict[Prefix, int]:
    return {
        tuple(int(stop) for stop in stops[begin:end]): int(count)
        for (begin, end), count in zip(pairwise(start), counts, strict=True)
    }


def records_of(completed: CompletedSequences) -> dict[Prefix, int]:
    return as_dict(completed.start, completed.stops, completed.counts)


def with_prefix(records: dict[Prefix, int], prefix: Prefix) -> int:
    length = len(prefix)
    return sum(count for record, count in records.items() if record[:length] == prefix)


@pytest.fixture
def noisy_table(hybrid: SequenceUniverse) -> SequenceTable:
    """A tree of noisy counts that has lost much: round trips over seven places in three groups."""
    rng = np.random.default_rng(12)
    records = []
    for _ in range(1500):
        home, work = rng.choice(7, size=2, replace=False, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05])
        trip = [home, work, work, home, home, work][: rng.choice([1, 2, 4, 4, 4, 6])]
        records.append([(0, int(stop)) for stop in trip])
    town = Town(records)
    mechanism = prefix_tree(hybrid, budget=PureLoss(Fraction(2)), height=6)
    curator = Curator(counter=town, budget=town, source=SeededSource(4))
    return mechanism.fit(mechanism.measure(curator, hybrid), hybrid)


def test_as_many_records_begin_with_every_kept_prefix_as_published(
    noisy_table: SequenceTable,
) -> None:
    records = records_of(complete(noisy_table))
    table = noisy_table
    finest = table.taxonomy.grains - 1
    place = table.taxonomy.location_of(table.code)
    prefix: dict[int, Prefix] = {-1: ()}
    checked = 0
    for node, above in enumerate(table.parent.tolist()):
        prefix[node] = prefix[above]
        if table.grains[node] == finest:
            prefix[node] = (*prefix[above], int(place[node]))
            assert with_prefix(records, prefix[node]) == table.counts[node]
            checked += 1
    assert checked > 50


def test_records_become_longer_and_not_more(noisy_table: SequenceTable) -> None:
    raw = as_dict(*noisy_table.sequences())
    records = records_of(complete(noisy_table))
    assert sum(records.values()) == sum(raw.values()) == noisy_table.ends.sum()

    def stops(of: dict[Prefix, int]) -> int:
        return sum(len(record) * count for record, count in of.items())

    assert stops(records) > 1.02 * stops(raw)


def test_every_sequence_is_there_once_with_a_positive_count(noisy_table: SequenceTable) -> None:
    completed = complete(noisy_table)
    assert len(records_of(completed)) == len(completed.counts)
    assert completed.counts.min() > 0
    assert np.diff(completed.start).min() > 0


def test_the_same_tree_gives_the_same_records(noisy_table: SequenceTable) -> None:
    one, other = complete(noisy_table), complete(noisy_table)
    np.testing.assert_array_equal(one.start, other.start)
    np.testing.assert_array_equal(one.stops, other.stops)
    np.testing.assert_array_equal(one.counts, other.counts)


def test_records_may_go_on_beyond_the_tree(noisy_table: SequenceTable) -> None:
    longest = np.diff(complete(noisy_table).start).max()
    further = np.diff(complete(noisy_table, most_stops=12).start).max()
    assert longest < further <= 12


def test_a_lost_round_trip_is_completed_as_others_were() -> None:
    # From 0 to 1 everybody comes back; from 2 to 3 the way back is below the threshold.
    counts = {(0,): 10_000, (0, 1): 10_000, (0, 1, 0): 10_000, (2,): 90, (2, 3): 90}
    table = simple_table(universe_of(4), counts, stops=3, threshold=100)
    records = records_of(complete(table))
    assert records[0, 1, 0] == 10_000
    assert with_prefix(records, (2, 3)) == 90
    assert with_prefix(records, (2, 3, 2)) >= 85


def test_no_prefix_that_was_not_kept_gets_more_than_the_threshold() -> None:
    counts = {(0,): 10_000, (0, 1): 10_000, (0, 1, 0): 10_000, (2,): 90, (2, 3): 90}
    table = simple_table(universe_of(4), counts, stops=3, threshold=30)
    records = records_of(complete(table))
    assert 28 <= with_prefix(records, (2, 3, 2)) <= 31


def test_where_all_that_records_do_was_kept_nothing_changes() -> None:
    # Some end at the first stop, but all next stops are there already.
    counts: dict[Prefix, int] = {(0,): 500, (1,): 300}
    counts |= {(first, second): 40 + first for first in range(2) for second in range(2)}
    table = simple_table(universe_of(2), counts, stops=2)
    assert records_of(complete(table)) == as_dict(*table.sequences())


def test_an_empty_tree_stays_empty() -> None:
    completed = complete(simple_table(universe_of(3), {}, stops=1), most_stops=5)
    assert completed.start.tolist() == [0]
    assert len(completed.stops) == len(completed.counts) == 0


def test_a_tree_of_groups_alone_gives_no_records(hybrid: SequenceUniverse) -> None:
    one = np.zeros(1, dtype=np.int64)
    step = StepSummary(stop=0, grain=0, candidates=3, threshold=5, kept=1, standard_error=1.0)
    table = SequenceTable(
        taxonomy=hybrid.taxonomy,
        periods=None,
        parent=one - 1,
        step=one,
        period=one,
        code=one,
        measured=one + 9,
        counts=one + 9,
        ends=one,
        steps=(step,),
    )
    assert len(complete(table).counts) == 0


def test_a_tree_longer_than_records_may_be_is_refused(noisy_table: SequenceTable) -> None:
    with pytest.raises(PlanError, match="more than 1"):
        complete(noisy_table, most_stops=1)


def test_times_are_refused() -> None:
    table = simple_table(universe_of(3, hours=4), {(0,): 20}, stops=1)
    with pytest.raises(PlanError, match="times"):
        complete(table)


RECORDS, ONE, OTHER = 20_000, 8, 50


def test_sums_in_any_of_three_ways_are_those_of_the_weights_to_a_few_records() -> None:
    rng = generator(1, 1)
    weight = rng.exponential(0.7, RECORDS)
    one, other = rng.integers(0, ONE, RECORDS), rng.integers(0, OTHER, RECORDS)
    counts = whole_records(weight, (one, other), (ONE, OTHER))
    assert set((counts - np.floor(weight)).tolist()) <= {0, 1}
    assert counts.sum() == np.floor(weight.sum() + 0.5)
    assert np.abs(np.cumsum(counts - weight)).max() <= 1.5
    for sums, size in ((one, ONE), (other, OTHER)):
        assert np.abs(np.bincount(sums, counts - weight, size)).max() <= 4


def test_whole_weights_stay_and_nothing_is_nothing() -> None:
    weight = np.array([2.0, 0.0, 7.0])
    same = np.zeros(3, dtype=np.int64)
    assert whole_records(weight, (same, same), (1, 1)).tolist() == [2, 0, 7]
    assert not len(whole_records(weight[:0], (same[:0], same[:0]), (1, 1)))
