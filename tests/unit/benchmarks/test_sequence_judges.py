from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sequence_adatrace
import sequence_chains
import sequence_measures
import sequence_ngrams
import sequence_scenes
from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.study.data import WeightedSequences, distinct

BOX = (0.0, 0.0, 0.04, 0.04)


def scene_of(
    records: Sequence[Sequence[int]], *, height: int = 12, **others: Any
) -> sequence_scenes.JudgedScene:
    return sequence_scenes.JudgedScene(
        taxonomy=sequence_scenes.grid_taxonomy(BOX, 4),
        start=np.cumsum([0, *map(len, records)]),
        stops=np.array([stop for record in records for stop in record], dtype=np.int64),
        height=height,
        grid=4,
        **others,
    )


def released(*records: Sequence[int]) -> WeightedSequences:
    start = np.cumsum([0, *map(len, records)]).astype(np.int64)
    stops = np.array([stop for record in records for stop in record], dtype=np.int64)
    return distinct(start, stops)


@pytest.mark.long
def test_records_published_as_they_are_have_no_error() -> None:
    truth = sequence_measures.Truth(scene_of([[0, 1, 2], [0, 1], [5], [0, 1, 2]]))
    marks = sequence_measures.judge(truth, truth.records)
    assert set(marks) == set(sequence_measures.JUDGES)
    assert marks.pop("patterns F1") == 1
    assert set(marks.values()) == {0.0}


def test_judges_say_what_was_worked_out_by_hand() -> None:
    truth = sequence_measures.Truth(scene_of([[0, 1], [0, 1], [2], [3]]))
    marks = sequence_measures.judge(truth, released([0, 1], [0], [2], [2]))
    assert marks["pairs"] == 1 / 2
    assert marks["lengths"] == 1 / 4
    assert marks["ends"] == (1 + 1 + 1 + 1) / 4 / 2
    assert marks["visits"] == (1 + 1 + 1) / 6
    # Two of four records are one cell wide, then one: JSD of (1/2, 1/2) and (3/4, 1/4).
    one, other = np.array([1 / 2, 1 / 2]), np.array([3 / 4, 1 / 4])
    middle = (one + other) / 2
    jsd = sum((p * np.log(p / middle)).sum() / 2 for p in (one, other))
    assert marks["diameters"] == pytest.approx(jsd)


def test_queries_divide_by_the_truth_or_by_a_thousandth_of_all_records() -> None:
    truth = sequence_measures.Truth(scene_of([[0, 1]] * 4))
    marks = sequence_measures.judge(truth, released([0, 1], [0, 1]))
    assert marks["queries of records"] == 1 / 2
    beyond = sequence_measures.judge(truth, released(*[[0, 1]] * 4, [7]))
    assert beyond["queries of records"] == 0
    queries, _ = truth.asked["queries"]
    alone = np.diff(queries.start) == 1
    asked = (queries.locations[queries.start[:-1][alone]] == 7).sum() / len(queries)
    assert beyond["queries"] == pytest.approx(asked / 0.004)


def test_true_records_are_cut_but_for_queries_and_patterns() -> None:
    truth = sequence_measures.Truth(scene_of([[0, 1, 2, 3]] * 5, height=2))
    marks = sequence_measures.judge(truth, released(*[[0, 1]] * 5))
    assert [marks[name] for name in ("pairs", "lengths", "ends", "visits")] == [0, 0, 0, 0]
    assert marks["queries of records"] > 0
    assert marks["patterns F1"] < 1


def test_a_release_without_records_gets_the_worst_marks() -> None:
    truth = sequence_measures.Truth(scene_of([[0, 1], [2]]))
    nothing = np.zeros(0, dtype=np.int64)
    empty = WeightedSequences(start=np.zeros(1, dtype=np.int64), stops=nothing, weights=nothing)
    marks = sequence_measures.judge(truth, empty)
    assert marks["lengths"] == marks["ends"] == marks["pairs"] == marks["visits"] == 1
    assert marks["diameters"] == pytest.approx(np.log(2))
    assert marks["patterns F1"] == 0


def test_rows_are_projected_to_their_sums_without_negative_numbers() -> None:
    rows = sequence_chains.with_sums(
        np.array([[5.0, 1.0, -3.0], [1.0, 1.0, 1.0]]), np.array([4, 6])
    )
    assert rows.tolist() == [[4, 0, 0], [2, 2, 2]]


def test_a_record_has_at_most_one_symbol_more_than_the_height() -> None:
    records = [[0] * length for length in range(1, 7)]
    symbols, left = sequence_chains.symbols_of(scene_of(records, height=3).bounded, 3, 16)
    first = symbols == 17
    assert left[first].tolist() == [3, 4, 4, 4, 4, 4]
    assert symbols[:3].tolist() == [17, 0, 16]
    assert symbols[-4:].tolist() == [17, 0, 0, 0]


@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_grams_of_a_record_cost_no_more_than_the_budget(
    order: int, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent: list[Fraction] = []

    def keeps_what_is_there(
        tree: sequence_ngrams.GramTree, exact: IntArray, epsilon: Fraction
    ) -> FloatArray:
        # With one record, exact counts are what that record changes.
        spent.append(int(exact.sum()) * epsilon / tree.sensitivity)
        return exact.astype(np.float64) * 1e9

    monkeypatch.setattr(sequence_ngrams.GramTree, "noisy", keeps_what_is_there)
    scene = scene_of([[0, 1, 2, 3][:length]], height=4)
    sequence_ngrams.gram_chain(scene, Fraction(1), 0, order=order)
    assert len(spent) > 1
    assert sum(spent) <= 1


def test_grams_without_noise_write_the_records_that_they_saw() -> None:
    records = [[0, 1, 2], [3, 1, 4]] * 500
    scene = scene_of(records, height=4)
    chain = sequence_ngrams.gram_chain(scene, Fraction(1000), 0, order=4)
    written = sequence_chains.written(chain, 4, np.random.default_rng(1))
    sequences = {tuple(part.tolist()) for part in np.split(written.stops, written.start[1:-1])}
    assert written.records == 1000
    assert sequences == {(0, 1, 2), (3, 1, 4)}


def test_what_ada_trace_is_given_reads_back_as_the_same_cells() -> None:
    scene = scene_of([[0, 5, 15], [3], [7, 6]])
    text = sequence_adatrace._as_text(scene, 4, np.random.default_rng(0))
    back = sequence_adatrace._read(text.splitlines(), 4)
    assert back.start.tolist() == scene.start.tolist()
    assert back.stops.tolist() == scene.stops.tolist()


def test_ada_trace_is_left_out_without_its_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HUSHWAY_ADATRACE", raising=False)
    assert sequence_adatrace.ada_trace(scene_of([[0]]), Fraction(1), 0) is None


def test_peers_are_given_no_more_records_of_a_person_than_count() -> None:
    person = np.array([0] * 5 + [1])
    scene = scene_of([[stop, 1] for stop in range(6)], person=person, max_records=2)
    kept = scene.bounded.person
    assert kept is not None
    assert np.bincount(kept).tolist() == [2, 1]


def test_no_cell_follows_itself_in_a_record() -> None:
    start, stops, first = sequence_scenes.without_repeats(
        np.array([0, 0, 0, 1, 1]), np.array([4, 4, 5, 5, 5])
    )
    assert (start.tolist(), stops.tolist(), first.tolist()) == ([0, 2, 3], [4, 5, 5], [0, 3])
