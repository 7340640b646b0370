"""What is asked about whole records, against counting by hand; and what one record adds to it."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from hushway.engine.key import BoundingKey
from hushway.errors import PrivacyError
from hushway.families.sequences.audit.stage import toy_universe
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.questions import (
    TURNS,
    WHOLE,
    Asked,
    JointCells,
    KnownPrefixCells,
    NewStopCells,
    QuestionCells,
    RecordCells,
    Turn,
)
from hushway.families.sequences.rows.counter import ArraySequences
from hushway.privacy.bound import Unit
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource

PLACES, HEIGHT = 5, 6
UNIVERSE: SequenceUniverse = toy_universe(corners=PLACES).universe
TAXONOMY = UNIVERSE.taxonomy
KEY = BoundingKey.draw(SeededSource(5))

Record = tuple[int, ...]


def some_records(seed: int, number: int = 40) -> list[Record]:
    rng = np.random.default_rng(seed)
    return [tuple(rng.integers(0, PLACES, rng.integers(1, 9)).tolist()) for _ in range(number)]


def count(records: list[Record], cells: QuestionCells, *, height: int = HEIGHT) -> np.ndarray:
    lengths = [len(record) for record in records]
    counter = ArraySequences(
        taxonomy=TAXONOMY,
        unit=Unit.RECORD,
        max_records=1,
        max_stops=height,
        key=KEY,
        start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        stops=np.array([stop for record in records for stop in record], dtype=np.int64),
    )
    exact = counter.count(Query(name=cells.name, cells=cells))
    values = np.zeros(cells.size, dtype=np.int64)
    values[exact.cells] = exact.values
    return values


def asked(question: Asked) -> RecordCells:
    return RecordCells(taxonomy=TAXONOMY, height=HEIGHT, asked=question)


def new_stops(order: int, most: int) -> NewStopCells:
    grams = None if order < 3 else np.arange(PLACES**3, dtype=np.int64)
    return NewStopCells(taxonomy=TAXONOMY, height=HEIGHT, order=order, most=most, grams=grams)


PREFIXES = KnownPrefixCells(
    taxonomy=TAXONOMY,
    height=HEIGHT,
    parent=np.array([-1, 0, 0, 1, 3]),
    place=np.array([-1, 0, 1, 2, 2]),
)
TOGETHER = JointCells(
    taxonomy=TAXONOMY,
    height=HEIGHT,
    parts=(
        *(asked(question) for question in (Asked.FIRSTS, Asked.LASTS, Asked.FIRST_TWO)),
        replace(new_stops(1, most=2), whole=100),
        replace(new_stops(2, most=2), whole=300),
    ),
    worths=(200, 100, 140, 100, 300),
)
EVERY: list[QuestionCells] = [
    TOGETHER,
    *(asked(question) for question in Asked),
    *(new_stops(order, most) for order in (1, 2, 3) for most in (1, 2, 4)),
    PREFIXES,
]


def turn_by_hand(before: Record, place: int) -> Turn:
    """The turn of the paper and pencil: what stands first in the list of turns holds."""
    if not before:
        return Turn.TO_NEW
    recent = [*reversed(before)]
    for back, turn in enumerate((Turn.STAYS, Turn.BACK, Turn.BACK_TWO)):
        if back < len(recent) and recent[back] == place:
            return turn
    if before[0] == place:
        return Turn.TO_FIRST
    return Turn.TO_EARLIER if place in before else Turn.TO_NEW


def test_beginnings_and_ends_are_counted_as_by_hand() -> None:
    records = some_records(1)
    cut = [record[:HEIGHT] for record in records]
    by_hand = {
        Asked.LENGTHS: Counter(len(record) - 1 for record in cut),
        Asked.FIRSTS: Counter(record[0] for record in cut),
        Asked.LASTS: Counter(record[-1] for record in cut),
        Asked.FIRST_TWO: Counter(
            record[0] * (PLACES + 1) + (record[1] if len(record) > 1 else PLACES) for record in cut
        ),
    }
    for question, expected in by_hand.items():
        found = count(records, asked(question))
        assert {cell: int(found[cell]) for cell in np.flatnonzero(found)} == expected


def test_turns_are_counted_as_by_hand_and_a_cut_record_has_no_end() -> None:
    records = some_records(2)
    by_stop: Counter[int] = Counter()
    by_place: Counter[int] = Counter()
    for record in (one[:HEIGHT] for one in records):
        turns = [turn_by_hand(record[:at], place) for at, place in enumerate(record)]
        following = [*turns[1:], *([Turn.ENDS] if len(record) < HEIGHT else [])]
        for at, turn in enumerate(following):
            by_stop[(at * TURNS + turns[at]) * TURNS + turn] += 1
            by_place[record[at] * TURNS + turn] += 1
    for question, expected in ((Asked.TURNS, by_stop), (Asked.TURNS_BY_PLACE, by_place)):
        found = count(records, asked(question))
        assert {cell: int(found[cell]) for cell in np.flatnonzero(found)} == expected


def new_by_hand(record: Record) -> list[int]:
    return [at for at, place in enumerate(record) if at > 1 and place not in record[:at]]


def test_new_stops_are_counted_with_the_places_before_them() -> None:
    records = some_records(3)
    triples: Counter[int] = Counter()
    for record in (one[:HEIGHT] for one in records):
        for at in new_by_hand(record):
            first, second, place = record[at - 2 : at + 1]
            triples[(first * PLACES + second) * PLACES + place] += WHOLE // 4
    found = count(records, new_stops(3, most=4))
    assert {cell: int(found[cell]) for cell in np.flatnonzero(found)} == triples
    pairs, singles = count(records, new_stops(2, most=4)), count(records, new_stops(1, most=4))
    assert np.array_equal(pairs.reshape(PLACES, PLACES).sum(axis=0), singles)
    assert np.array_equal(found.reshape(PLACES, -1).sum(axis=0), pairs)
    numbers = count(records, asked(Asked.NEW_STOPS))
    by_hand = Counter(len(new_by_hand(record[:HEIGHT])) for record in records)
    assert {at: int(numbers[at]) for at in np.flatnonzero(numbers)} == by_hand


def test_as_many_new_stops_as_allowed_are_counted_each_for_its_share() -> None:
    records = some_records(4)
    for most in (1, 2, 3):
        counted = count(records, new_stops(1, most=most)).sum() // (WHOLE // most)
        assert counted == sum(min(len(new_by_hand(one[:HEIGHT])), most) for one in records)


def test_every_record_has_one_longest_known_prefix() -> None:
    records: list[Record] = [(0,), (0, 2), (0, 2, 2, 4), (0, 2, 2), (1, 0), (3,), (4, 4, 4)]
    found = count(records, PREFIXES).reshape(-1, 2)
    assert found.sum() == len(records)
    ended, went_on = found.T
    assert ended.tolist() == [0, 1, 0, 1, 1]
    assert went_on.tolist() == [2, 0, 1, 0, 1]


@pytest.mark.parametrize("cells", EVERY, ids=lambda cells: f"{cells.name}, {cells.size}")
def test_one_record_moves_a_question_by_no_more_than_it_says(cells: QuestionCells) -> None:
    bound = cells.bound(1)
    for seed in range(60):
        records = some_records(100 + seed, number=6)
        moved = np.abs(count(records, cells) - count(records[:-1], cells))
        assert moved.sum() <= bound.l1
        assert (moved**2).sum() <= bound.l2_squared
        assert moved.max(initial=0) <= bound.each


@pytest.mark.parametrize("cells", EVERY, ids=lambda cells: f"{cells.name}, {cells.size}")
def test_the_bound_is_reached_by_some_record(cells: QuestionCells) -> None:
    straight, stays = tuple(range(PLACES)), (0,) * HEIGHT
    most = max(int(count([one], cells).sum()) for one in (straight, stays))
    assert most == cells.bound(1).l1 or isinstance(cells, NewStopCells)
    if isinstance(cells, NewStopCells) and cells.most <= len(new_by_hand(straight)):
        assert most == WHOLE // cells.most * cells.most


def test_questions_asked_together_are_answered_as_alone_times_their_worth() -> None:
    records = some_records(7)
    found, first = count(records, TOGETHER), 0
    for part, worth in zip(TOGETHER.parts, TOGETHER.worths, strict=True):
        alone = count(records, part) * (1 if isinstance(part, NewStopCells) else worth)
        assert np.array_equal(found[first : first + part.size], alone)
        first += part.size
    assert first == TOGETHER.size


@pytest.mark.parametrize("worths", [(201, 100, 140, 100, 300), (200, 100, 141, 101, 299)])
def test_a_record_cannot_be_worth_more_than_it_is(worths: tuple[int, ...]) -> None:
    with pytest.raises(PrivacyError, match="more than it is worth"):
        replace(TOGETHER, worths=worths)


def test_questions_that_count_a_record_twice_are_not_asked_together() -> None:
    parts = (asked(Asked.TURNS), *TOGETHER.parts[1:])
    with pytest.raises(PrivacyError, match="more than it is worth"):
        replace(TOGETHER, parts=parts)


def test_nobody_is_counted_in_no_record() -> None:
    for cells in EVERY:
        assert not count([], cells).any()


def test_questions_about_other_places_or_heights_are_refused() -> None:
    other = toy_universe(corners=PLACES + 1).universe.taxonomy
    with pytest.raises(PrivacyError, match="other cells"):
        count([(0,)], RecordCells(taxonomy=other, height=HEIGHT, asked=Asked.FIRSTS))
    with pytest.raises(PrivacyError, match="another height"):
        count([(0,)], RecordCells(taxonomy=TAXONOMY, height=HEIGHT + 1, asked=Asked.FIRSTS))


def test_questions_that_differ_have_digests_that_differ() -> None:
    digests = [cells.digest for cells in EVERY]
    assert len(set(digests)) == len(digests)
    assert all(one != other for one, other in pairwise(sorted(digests)))
