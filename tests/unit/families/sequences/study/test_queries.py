import runpy
import sys
from collections import Counter

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.errors import DataError, PlanError
from hushway.families.sequences.city.cards import bus, metro
from hushway.families.sequences.study import describe
from hushway.families.sequences.study.data import WeightedSequences, distinct
from hushway.families.sequences.study.queries import (
    CountQueries,
    count_queries,
    paper_queries,
    sanity_bound,
)


def ragged(lists: list[list[int]]) -> tuple[IntArray, IntArray]:
    start = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    return start, np.array([place for each in lists for place in each], dtype=np.int64)


def lists_of(start: IntArray, values: IntArray) -> list[list[int]]:
    return [part.tolist() for part in np.split(values, start[1:-1])]


def random_lists(seed: int, *, count: int, places: int, longest: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, places, rng.integers(0, longest + 1)).tolist() for _ in range(count)]


def asked(lists: list[list[int]]) -> CountQueries:
    start, locations = ragged(lists)
    return CountQueries(start=start, locations=locations)


@pytest.mark.parametrize("places", [1, 2, 5, 1_000])
def test_distinct_sequences_are_those_that_python_counts(places: int) -> None:
    lists = random_lists(places, count=3_000, places=places, longest=5)
    found = distinct(*ragged(lists))
    expected = Counter(map(tuple, lists))
    assert [*map(tuple, lists_of(found.start, found.stops))] == list(expected)
    assert found.weights.tolist() == list(expected.values())
    assert found.records == 3_000


def test_weights_of_equal_sequences_add_up() -> None:
    found = distinct(*ragged([[1, 2], [2, 1], [1, 2], []]), np.array([5, 7, 11, 2]))
    assert lists_of(found.start, found.stops) == [[1, 2], [2, 1], []]
    assert found.weights.tolist() == [16, 7, 2]


@pytest.mark.parametrize("places", [3, 64, 65, 130])
def test_answers_are_those_of_set_containment_in_python(places: int) -> None:
    lists = random_lists(places, count=800, places=places, longest=9)
    weights = np.random.default_rng(1).integers(1, 20, len(lists))
    queries = random_lists(places + 1, count=300, places=places + 2, longest=3)
    start, stops = ragged(lists)
    data = WeightedSequences(start=start, stops=stops, weights=weights)
    expected = [
        sum(int(weight) for each, weight in zip(lists, weights, strict=True) if set(q) <= set(each))
        for q in queries
    ]
    assert count_queries(data, asked(queries)).tolist() == expected
    assert len(set(expected)) > 5


def test_the_sanity_bound_is_a_thousandth_of_the_records() -> None:
    data = WeightedSequences(
        start=np.array([0, 1]), stops=np.array([0]), weights=np.array([847_668])
    )
    assert sanity_bound(data) == pytest.approx(847.668)


def test_the_paper_asks_four_sets_of_ten_thousand_with_uniform_lengths() -> None:
    sets = paper_queries(68, height=12, seed=1)
    assert [len(queries) for queries in sets] == [10_000] * 4
    for queries, longest in zip(sets, (3, 6, 9, 12), strict=True):
        counts = np.bincount(np.diff(queries.start), minlength=longest + 1)
        assert counts[0] == 0
        assert len(counts) == longest + 1
        assert np.abs(counts[1:] - 10_000 / longest).max() < 6 * np.sqrt(10_000 / longest)


def test_a_query_never_names_a_location_twice_and_names_all_alike() -> None:
    (*_, queries) = paper_queries(13, height=12, seed=2)
    assert all(len(set(q)) == len(q) for q in lists_of(queries.start, queries.locations))
    named = np.bincount(queries.locations, minlength=13)
    expected = len(queries.locations) / 13
    assert np.abs(named - expected).max() < 6 * np.sqrt(expected)


def test_queries_depend_on_the_seed_alone() -> None:
    one, same, other = (paper_queries(68, height=12, seed=seed)[3] for seed in (1, 1, 2))
    assert np.array_equal(one.locations, same.locations)
    assert not np.array_equal(one.start, other.start)


@pytest.mark.parametrize("height", [3, 69])
def test_heights_that_no_query_fits_are_refused(height: int) -> None:
    with pytest.raises(PlanError) as refusal:
        paper_queries(68, height=height, seed=1)
    assert refusal.value.advice


@pytest.mark.parametrize(
    ("start", "stops", "weights"),
    [
        ([1, 2], [0, 0], [1]),
        ([0, 3], [0, 0], [1]),
        ([0, 2, 1, 2], [0, 0], [1, 1, 1]),
        ([], [], []),
        ([0, 1], [-1], [1]),
        ([0, 1], [0], [1, 1]),
    ],
)
def test_arrays_that_are_no_list_of_lists_are_refused(
    start: list[int], stops: list[int], weights: list[int]
) -> None:
    with pytest.raises(DataError) as refusal:
        WeightedSequences(
            start=np.array(start, dtype=np.int64),
            stops=np.array(stops, dtype=np.int64),
            weights=np.array(weights, dtype=np.int64),
        )
    assert refusal.value.advice


@pytest.mark.long
def test_the_table_has_a_column_for_each_city_and_its_published_figures() -> None:
    small = (metro(9, records=2_000), bus(9, records=2_000))
    lines = describe.table(small).splitlines()
    assert lines[0] == "| | Metro (synthetic) | Bus (synthetic) |"
    assert "| records | 2,000 | 2,000 |" in lines
    assert "| places | 68 | 944 |" in lines
    assert "| stops of the longest record | 90 | 121 |" in lines
    assert "| stops of a record, mean | 4.21 | 5.67 |" in lines


def test_numbers_of_records_and_patterns_agree() -> None:
    city = metro(9, records=2_000)
    facts = dict(line.strip("| ").split(" | ") for line in describe.table((city,)).splitlines()[2:])
    stops, once, distinct = (
        int(facts[name].replace(",", ""))
        for name in ("stops of all records", "records unlike any other", "distinct records")
    )
    assert stops == len(city.stops)
    assert once <= distinct <= len(city)
    supports = [int(facts[f"support of the pattern of rank {rank}"]) for rank in (1, 100, 300)]
    assert supports == sorted(supports, reverse=True)


def test_the_command_prints_the_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["describe"])
    monkeypatch.delitem(sys.modules, "hushway.families.sequences.study.describe")
    for name in ("metro", "bus"):
        whole = getattr(sys.modules["hushway.families.sequences.city.cards"], name)
        monkeypatch.setattr(
            f"hushway.families.sequences.city.cards.{name}",
            lambda seed, whole=whole: whole(seed, records=1_000),
        )
    runpy.run_module("hushway.families.sequences.study.describe", run_name="__main__")
    assert "| records | 1,000 | 1,000 |" in capsys.readouterr().out
