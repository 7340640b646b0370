"""The rule that cuts visits down: enforced, one person at a time, in any order and split."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.engine.key import PRIME, BoundingKey, placed
from hushway.errors import PrivacyError
from hushway.families.density.public.visits import PERSON_PARTS, VisitLadder, VisitLimits
from hushway.families.density.rows.counts import (
    BoundedVisits,
    PeopleVisits,
    RankedVisits,
    VisitRule,
    ranked_people,
    ranked_rows,
)
from hushway.families.density.rows.grouping import VisitRows
from support.small_cells import key_of

SITES, BINS = 21, 24
KEY = BoundingKey.from_words(range(10**18, 10**18 + BoundingKey.WORDS))


def rule_of(max_visits: int, max_visits_in_total: int = 10, key: BoundingKey = KEY) -> VisitRule:
    limits = VisitLimits(max_visits=max_visits, max_visits_in_total=max_visits_in_total)
    return VisitRule(sites=SITES, bins=BINS, ladder=limits.ladder, key=key)


def within(found: RankedVisits) -> BoundedVisits:
    """What counts by the only limits of a ladder."""
    ladder = found.ladder
    (visits,), (in_total,) = ladder.visits, ladder.in_total
    return found.within(VisitLimits(max_visits=visits, max_visits_in_total=in_total))


def bounded_rows(rows: list[VisitRows], rule: VisitRule, threads: int = 1) -> BoundedVisits:
    return within(ranked_rows(rows, rule, threads))


def bounded_people(people: PeopleVisits, rule: VisitRule, threads: int = 1) -> BoundedVisits:
    return within(ranked_people(people, rule, threads))


def rows_of(owner: Any, code: Any) -> VisitRows:
    return VisitRows(owner=np.asarray(owner, dtype=np.int64), code=np.asarray(code, dtype=np.int32))


def same(one: BoundedVisits, other: BoundedVisits) -> bool:
    return (
        np.array_equal(one.series, other.series)
        and np.array_equal(one.histogram, other.histogram)
        and one.total == other.total
    )


def town(seed: int, size: int, people: int) -> VisitRows:
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-(2**63), 2**63 - 1, people)
    owner = numbers[rng.zipf(1.3, size) % people]
    return rows_of(owner, rng.integers(-1, SITES * BINS, size))


def test_the_compiled_arithmetic_is_that_of_the_key() -> None:
    rng = np.random.default_rng(3)
    ends = np.array([0, -1, 2**63 - 1, -(2**63), 2**30, 2**61])
    salt = np.concatenate([ends, rng.integers(-(2**63), 2**63 - 1, 300)])
    what = rng.integers(0, 2**31 - 1, len(salt))
    for seed in range(5):
        key = key_of(seed)
        coefficients = np.array(key.coefficients)
        for kind in range(3):
            found = [
                placed(s, w, kind, coefficients)
                for s, w in zip(salt.tolist(), what.tolist(), strict=True)
            ]
            assert found == key.place(key.mixed(salt, what, kind)).tolist()
            assert 0 <= min(found) <= max(found) < PRIME


@pytest.mark.parametrize("size", [0, 1, 50, 200_000])
def test_order_pieces_and_threads_change_nothing(size: int) -> None:
    rows, rule = town(1, size, people=max(size // 20, 1)), rule_of(5)
    expected = bounded_rows([rows], rule)
    order = np.random.default_rng(2).permutation(size)
    cuts = [0, size // 3, size // 3, size]
    pieces = [
        rows_of(rows.owner[order[low:high]], rows.code[order[low:high]])
        for low, high in pairwise(cuts)
    ]
    assert same(bounded_rows(pieces, rule, threads=3), expected)
    sort = np.argsort(rows.owner, kind="stable")
    salt, start = np.unique(rows.owner[sort], return_index=True)
    people = PeopleVisits(
        start=np.append(start, size).astype(np.int64), code=rows.code[sort], salt=salt
    )
    assert same(bounded_people(people, rule), expected)
    assert same(bounded_people(people, rule, threads=3), expected)
    assert bool(expected.total) == (size > 0)


def test_no_rows_at_all_count_nothing() -> None:
    found = bounded_rows([], rule_of(3), threads=2)
    assert (found.total, found.series.sum(), found.histogram.sum()) == (0, 0, 0)
    assert found.series.shape == (BINS, SITES)


@pytest.mark.parametrize("max_visits", [1, 5, 23, 24, 10**30])
def test_somebody_everywhere_at_all_times_counts_as_much_as_allowed(max_visits: int) -> None:
    """All 504 visits, 21 in each bin, 10 times each: 5,040 events."""
    every = np.tile(np.arange(SITES * BINS), 10)
    found = bounded_rows([rows_of(np.full(len(every), 9), every)], rule_of(max_visits, 10**30))
    assert found.series.sum() == min(max_visits, BINS)
    assert found.series.sum(axis=1).max() == 1
    # Everywhere as often as elsewhere: every site has its share, but for rounding.
    assert found.histogram.sum() == PERSON_PARTS
    assert np.ptp(found.histogram) <= BINS
    assert found.total == SITES * BINS


def test_a_person_is_shared_among_sites_by_all_visits() -> None:
    # Three visits at one site and one at another; then more visits than there are parts.
    codes = [3, SITES + 3, 2 * SITES + 3, 4]
    found = bounded_rows([rows_of([9] * 4, codes)], rule_of(1))
    assert found.histogram[3] == 3 * PERSON_PARTS // 4
    assert found.histogram[4] == PERSON_PARTS // 4
    wide = VisitRule(sites=3, bins=900, ladder=rule_of(2).ladder, key=KEY)
    many = bounded_rows([rows_of([9] * 1800, [i for i in range(2700) if i % 3])], wide)
    assert many.histogram.sum() == PERSON_PARTS
    assert many.histogram[0] == 0
    # Every visit gets a part or none, one after the other: sites differ by one at most.
    assert abs(int(many.histogram[1]) - int(many.histogram[2])) <= PERSON_PARTS // 8


def test_events_of_one_site_and_bin_are_one_visit() -> None:
    found = bounded_rows([rows_of([4] * 5_000, [30] * 5_000)], rule_of(3))
    assert found.series[30 // SITES, 30 % SITES] == found.series.sum() == found.total == 1


def test_the_total_is_cut_off_person_by_person() -> None:
    found = bounded_rows([rows_of([1] * 9 + [2] * 3, [*range(9), 0, 1, 1])], rule_of(3, 4))
    assert found.total == 4 + 2


PEOPLE = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(0, SITES * BINS - 1)), min_size=1, max_size=60
)


@given(
    events=PEOPLE,
    leaving=st.integers(-3, 3),
    max_visits=st.integers(1, 6),
    max_visits_in_total=st.integers(1, 6),
    words=st.lists(st.integers(0, 2**64 - 1), min_size=BoundingKey.WORDS, max_size=12),
)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_everybody_counts_as_if_alone_and_within_the_limits(
    events: list[tuple[int, int]],
    leaving: int,
    max_visits: int,
    max_visits_in_total: int,
    words: list[int],
) -> None:
    rule = rule_of(max_visits, max_visits_in_total, BoundingKey.from_words(words))
    owner, code = np.array(events).T
    mine = owner == leaving
    whole = bounded_rows([rows_of(owner, code)], rule)
    others = bounded_rows([rows_of(owner[~mine], code[~mine])], rule)
    alone = bounded_rows([rows_of(owner[mine], code[mine])], rule)
    # What stays of the others is the same with and without them.
    assert np.array_equal(whole.series, others.series + alone.series)
    assert np.array_equal(whole.histogram, others.histogram + alone.histogram)
    assert whole.total == others.total + alone.total
    visits = set(code[mine].tolist())
    bins = {each // SITES for each in visits}
    assert alone.series.sum() == min(len(bins), max_visits)
    assert alone.series.sum(axis=1).max() <= 1
    assert set(np.flatnonzero(alone.series).tolist()) <= visits
    assert alone.histogram.sum() == (PERSON_PARTS if visits else 0)
    assert alone.histogram.min() >= 0
    # A visit has its due, rounded up or down.
    at_site = np.bincount([each % SITES for each in visits], minlength=SITES)
    due = PERSON_PARTS * at_site / max(len(visits), 1)
    assert (np.abs(alone.histogram - due) <= at_site).all()
    assert alone.total == min(len(visits), max_visits_in_total)


LADDER = VisitLadder(visits=(1, 2, 4), in_total=(1, 2, 4, 8), one_in_a_bin=True)


@given(
    events=PEOPLE,
    one_in_a_bin=st.booleans(),
    limits=st.tuples(st.sampled_from(LADDER.visits), st.sampled_from(LADDER.in_total)),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_one_pass_answers_every_limit_of_a_ladder(
    events: list[tuple[int, int]], one_in_a_bin: bool, limits: tuple[int, int]
) -> None:
    ladder = replace(LADDER, one_in_a_bin=one_in_a_bin)
    asked = VisitLimits(
        max_visits=limits[0], max_visits_in_total=limits[1], one_in_a_bin=one_in_a_bin
    )
    owner, code = np.array(events).T
    rule = VisitRule(sites=SITES, bins=BINS, ladder=ladder, key=KEY)
    alone = VisitRule(sites=SITES, bins=BINS, ladder=asked.ladder, key=KEY)
    found = ranked_rows([rows_of(owner, code)], rule).within(asked)
    same_limits = ranked_rows([rows_of(owner, code)], alone).within(asked)
    assert np.array_equal(found.series, same_limits.series)
    assert np.array_equal(found.circles, same_limits.circles)
    assert found.total == same_limits.total


@given(events=st.lists(st.integers(0, SITES * BINS - 1), min_size=1, max_size=60))
@settings(max_examples=200, deadline=None, derandomize=True)
@pytest.mark.parametrize("one_in_a_bin", [True, False])
def test_nobody_is_left_out_with_more_than_the_bound_says(
    events: list[int], one_in_a_bin: bool
) -> None:
    limits = VisitLimits(max_visits=3, max_visits_in_total=9, one_in_a_bin=one_in_a_bin)
    rule = VisitRule(sites=SITES, bins=BINS, ladder=limits.ladder, key=KEY)
    found = ranked_rows([rows_of([5] * len(events), events)], rule).within(limits)
    left = found.left_out(BINS)
    assert left.min() >= 0
    assert left.sum() + found.series.sum() == min(len(set(events)), 9)
    assert left.sum() <= (8 if one_in_a_bin else 6)


def test_limits_that_are_not_on_the_ladder_are_refused() -> None:
    found = ranked_rows([], rule_of(3))
    for limits in ({"max_visits": 4}, {"max_visits_in_total": 4}, {"one_in_a_bin": False}):
        other = replace(VisitLimits(max_visits=3, max_visits_in_total=10), **limits)
        with pytest.raises(PrivacyError, match="does not bound people by these limits"):
            found.within(other)
