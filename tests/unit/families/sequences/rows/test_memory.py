"""Sequences in arrays: counted step by step, whatever was asked before, and each person bounded."""

from typing import Any

import numpy as np
import pytest

import hushway.families.sequences.rows.record_bounding as steps_module
from hushway.arrays import IntArray
from hushway.engine.key import BoundingKey
from hushway.errors import DataError, PrivacyError
from hushway.families.sequences.public.prefixes import PrefixCells, first_prefixes
from hushway.families.sequences.public.questions import Asked, RecordCells
from hushway.families.sequences.public.taxonomy import Taxonomy, column_taxonomy
from hushway.families.sequences.rows.counter import ArraySequences
from hushway.families.sequences.rows.record_bounding import OrderedStops, never_back, records_of
from hushway.geography.locations import Location, Locations, PlaceLabels
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.contribution import RankedCells, UnitsByRecords
from hushway.privacy.query import Query
from support.small_cells import key_of


@pytest.fixture
def town() -> Taxonomy:
    where = Locations(
        tuple(Location(id=str(i), name="", lon=i / 100, lat=0.0, zone="") for i in range(6)),
        (PlaceLabels(column="line", values=tuple("babcab")),),
    )
    return column_taxonomy(where, ["line"])


def ragged(lists: list[list[int]]) -> dict[str, IntArray]:
    lengths = [len(each) for each in lists]
    return {
        "start": np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        "stops": np.array([stop for each in lists for stop in each], dtype=np.int64),
    }


def counter(town: Taxonomy, key: BoundingKey, **arrays: Any) -> ArraySequences:
    settings: dict[str, Any] = {"unit": Unit.RECORD, "max_records": 1, "max_stops": 9, **arrays}
    return ArraySequences(taxonomy=town, key=key, **settings)


def asked(made: ArraySequences, cells: PrefixCells) -> dict[int, int]:
    found = made.count(Query(name="records", cells=cells))
    return dict(zip(found.cells.tolist(), found.values.tolist(), strict=True))


def chain(town: Taxonomy, steps: int) -> list[PrefixCells]:
    found = [first_prefixes(town)]
    for _ in range(steps - 1):
        found.append(found[-1].below(np.arange(found[-1].size, dtype=np.int64)))
    return found


def test_records_are_counted_in_their_groups_and_places(town: Taxonomy, key: BoundingKey) -> None:
    made = counter(town, key, **ragged([[0, 3], [2], [], [0, 1], [1, 0, 5]]))
    first, places, second, deep = chain(town, 4)
    assert asked(made, first) == {0: 1, 1: 3}
    by_place = {int(town.location_of(np.array([c]))[0]): n for c, n in asked(made, places).items()}
    assert by_place == {0: 2, 1: 1, 2: 1}
    assert sum(asked(made, second).values()) == 3
    assert sum(asked(made, deep).values()) == 3


def test_records_stop_where_their_prefix_was_not_kept(town: Taxonomy, key: BoundingKey) -> None:
    made = counter(town, key, **ragged([[0, 3], [2, 2], [1]]))
    root = first_prefixes(town)
    assert asked(made, root) == {0: 1, 1: 2}
    only_a = root.below(np.array([0, 2]))
    assert asked(made, only_a) == {0: 1}
    assert asked(made, root.below(np.array([2]))) == {}
    assert asked(made, root.below(np.array([], dtype=np.int64))) == {}


def test_an_answer_does_not_depend_on_what_was_asked_before(
    town: Taxonomy, key: BoundingKey
) -> None:
    rng = np.random.default_rng(2)
    lists = [rng.integers(0, 6, rng.integers(1, 6)).tolist() for _ in range(200)]
    cells = chain(town, 4)
    in_order = counter(town, key, **ragged(lists))
    expected = [asked(in_order, step) for step in cells]
    for order in ([3, 2, 1, 0], [1, 3, 3, 0], [2, 0, 3, 1]):
        made = counter(town, key, **ragged(lists))
        assert [asked(made, cells[i]) for i in order] == [expected[i] for i in order]
    stand_in = chain(town, 4)[2]  # equal, but not the same object
    assert asked(in_order, stand_in) == expected[2]


def test_tables_and_searches_count_alike(
    town: Taxonomy, key: BoundingKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    lists = [rng.integers(0, 6, rng.integers(1, 6)).tolist() for _ in range(300)]

    def all_steps() -> list[dict[int, int]]:
        made, seen = counter(town, key, **ragged(lists)), []
        cells = first_prefixes(town)
        for _ in range(6):
            seen.append(asked(made, cells))
            cells = cells.below(np.array([c for c in sorted(seen[-1]) if c % 4], dtype=np.int64))
        return seen

    tabled = all_steps()
    monkeypatch.setattr(steps_module, "_tabled", lambda *_: False)
    assert all_steps() == tabled


def test_no_person_moves_a_step_by_more_than_the_bound(town: Taxonomy) -> None:
    rng = np.random.default_rng(4)
    lists = [rng.integers(0, 6, rng.integers(0, 6)).tolist() for _ in range(120)]
    person = rng.integers(0, 9, 120)
    for seed in range(5):
        key, most = key_of(seed), 3
        full = counter(
            town, key, unit=Unit.PERSON, max_records=most, person=person, **ragged(lists)
        )
        others = [i for i in range(120) if person[i] != 4]
        without = counter(
            town,
            key,
            unit=Unit.PERSON,
            max_records=most,
            person=person[others],
            **ragged([lists[i] for i in others]),
        )
        for cells in chain(town, 6):
            a, b = asked(full, cells), asked(without, cells)
            moves = [a.get(c, 0) - b.get(c, 0) for c in a.keys() | b.keys()]
            assert min(moves) >= 0
            assert sum(moves) <= most
        assert sum(asked(full, first_prefixes(town)).values()) == 9 * most


def test_alike_records_do_not_tie(town: Taxonomy) -> None:
    """A person with one record ten times and another five times keeps about two of three."""
    lists = [[0, 1]] * 10 + [[3]] * 5
    kept = []
    for seed in range(300):
        made = counter(
            town,
            key_of(seed),
            unit=Unit.PERSON,
            max_records=3,
            person=np.zeros(15, dtype=np.int64),
            **ragged(lists),
        )
        kept.append(asked(made, first_prefixes(town)).get(2, 0))
    # Hypergeometric: variance 0.571. In two blocks of neighbours it would be 1.47.
    assert 0.8 < np.mean(kept) < 1.2
    assert np.var(kept) < 0.9


def test_periods_never_go_back_within_a_record() -> None:
    periods = np.array([3, 1, 5, 0, 2, 1], dtype=np.int32)
    fixed = never_back(periods, np.array([0, 3, 6], dtype=np.int64))
    assert fixed.tolist() == [3, 3, 5, 0, 2, 2]
    assert fixed.dtype == np.int32


def test_records_change_with_the_owner_or_the_part() -> None:
    found = records_of(
        OrderedStops(
            owner=np.array([0, 0, 0, 1, 1]),
            part=np.array([5, 5, 6, 6, 6]),
            place=np.array([1, 2, 3, 4, 5], dtype=np.int32),
            since_us=np.array([10, 20, 30, 5, 6]),
        ),
        max_stops=1,
    )
    assert found.stops.tolist() == [1, 3, 4]
    assert found.start.tolist() == [0, 1, 2, 3]
    assert found.since_us is not None
    assert found.since_us.tolist() == [10, 30, 5]
    assert found.only(np.array([0, 2])).stops.tolist() == [1, 4]


@pytest.mark.parametrize(
    "wrong",
    [
        {"unit": Unit.PERSON},
        {"periods": 2},
        {"period": np.zeros(3, dtype=np.int64)},
        {"periods": 2, "period": np.array([0, 1, 2])},
        {"start": np.array([0, 2])},
        {"start": np.array([1, 3])},
        {"start": np.array([0, 2, 1, 3])},
        {"start": np.array([], dtype=np.int64)},
        {"stops": np.array([0, 1, 6])},
        {"stops": np.array([0, -1, 5])},
        {"stops": np.array([0.0, 1.0, 5.0])},
        {"unit": Unit.PERSON, "person": np.array([1])},
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    town: Taxonomy, key: BoundingKey, wrong: dict[str, Any]
) -> None:
    arrays: dict[str, Any] = {"start": np.array([0, 2, 3]), "stops": np.array([0, 1, 5])}
    counter(town, key, **arrays)
    with pytest.raises(DataError) as caught:
        counter(town, key, **{**arrays, **wrong})
    assert caught.value.advice


def test_a_bound_below_one_is_refused(town: Taxonomy, key: BoundingKey) -> None:
    with pytest.raises(PrivacyError):
        counter(town, key, unit=Unit.PERSON, max_records=0, person=np.array([1]), **ragged([[0]]))


def test_no_records_at_all_count_nothing(town: Taxonomy, key: BoundingKey) -> None:
    for cells in chain(town, 3):
        assert asked(counter(town, key, **ragged([])), cells) == {}


def test_ranges_of_ranks_share_out_the_records_of_a_person(
    town: Taxonomy, key: BoundingKey
) -> None:
    person, places = np.array([0, 1, 0, 0, 1, 0, 0]), [[0], [1], [0], [0], [1], [0], [0]]
    made = counter(
        town, key, unit=Unit.PERSON, person=person, ladder=(1, 2, 4, 8), **ragged(places)
    )
    firsts = RecordCells(taxonomy=town, height=9, asked=Asked.FIRSTS)
    within = {
        ranks: ranked(made, firsts, *ranks) for ranks in ((0, 1), (0, 2), (2, 4), (4, 8), (0, 8))
    }
    assert within == {
        (0, 1): {0: 1, 1: 1},
        (0, 2): {0: 2, 1: 2},
        (2, 4): {0: 2},
        (4, 8): {0: 1},
        (0, 8): {0: 5, 1: 2},
    }
    classes = Query(name="people", cells=UnitsByRecords(base=firsts, ladder=(1, 2, 4, 8)))
    assert made.bound(classes) == Bound(cells=1, each=1, total=1)
    assert made.count(classes).cells.tolist() == [1, 2]
    assert made.count(classes).values.tolist() == [1, 1]


def ranked(made: ArraySequences, base: RecordCells, first: int, last: int) -> dict[int, int]:
    query = Query(name="records", cells=RankedCells(base=base, first=first, last=last))
    assert made.bound(query) == Bound.of_records(last - first)
    found = made.count(query)
    return dict(zip(found.cells.tolist(), found.values.tolist(), strict=True))


@pytest.mark.parametrize(("first", "last"), [(0, 3), (3, 4), (1, 9)])
def test_ranks_between_limits_are_not_told_apart(
    town: Taxonomy, key: BoundingKey, first: int, last: int
) -> None:
    arrays = ragged([[0], [1]])
    made = counter(town, key, unit=Unit.PERSON, person=np.array([0, 0]), ladder=(1, 2, 4), **arrays)
    firsts = RecordCells(taxonomy=town, height=9, asked=Asked.FIRSTS)
    with pytest.raises(PrivacyError, match="other cells"):
        made.count(Query(name="x", cells=RankedCells(base=firsts, first=first, last=last)))
