"""Labels of pairs against a slow, obvious reading: every pair asked one by one."""

from collections.abc import Callable

import numpy as np
import pytest

from hushway.errors import GeographyError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    Side,
    every_period,
    pair_table_labels,
    pairs_of_matrix,
    place_pair_labels,
)
from hushway.geography import locations as labels_module
from hushway.geography.locations import Labels, joint_codes, labels_of_codes
from support.small_cells import small_cells


def codes(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(numbers, dtype=np.int32)


def named(labels: Labels) -> list[str]:
    return [labels.names[code] for code in labels.codes]


def pairs_one_by_one(cells: ODCells) -> list[tuple[int, int]]:
    places = range(len(cells.locations))
    return [(o, d) for o in places for d in places if cells.include_intrazonal or o != d]


@pytest.mark.parametrize("include_intrazonal", [False, True])
@pytest.mark.parametrize("places", [2, 3, 7])
def test_a_matrix_is_read_in_the_order_of_pair_numbers(
    places: int, include_intrazonal: bool
) -> None:
    cells = small_cells(places, include_intrazonal=include_intrazonal)
    matrix = np.arange(places * places).reshape(places, places)
    expected = [matrix[o, d] for o, d in pairs_one_by_one(cells)]
    assert pairs_of_matrix(cells, matrix).tolist() == expected
    assert pairs_of_matrix(cells, matrix.T).tolist() == [
        matrix[d, o] for o, d in pairs_one_by_one(cells)
    ]


@pytest.mark.parametrize("include_intrazonal", [False, True])
@pytest.mark.parametrize("side", ["origin", "destination", "both"])
def test_pairs_are_labelled_by_the_ends_that_count(side: Side, include_intrazonal: bool) -> None:
    cells = small_cells(7, include_intrazonal=include_intrazonal)
    zones = cells.locations.labels_in("zone")
    words: dict[str, Callable[[int, int], str]] = {
        "origin": lambda o, _: zones[o],
        "destination": lambda _, d: zones[d],
        "both": lambda o, d: f"{zones[o]} → {zones[d]}",
    }
    labels = place_pair_labels(cells, "zone", zones, side=side)
    assert named(labels) == [words[side](o, d) for o, d in pairs_one_by_one(cells)]
    assert labels.column == {"both": "zone pair"}.get(side, f"{side} zone")
    assert list(labels.names) == sorted(set(named(labels)))


def test_routes_that_no_pair_makes_have_no_class() -> None:
    labels = place_pair_labels(small_cells(3), "zone", ["a", "b", "c"])
    assert labels.names == ("a → b", "a → c", "b → a", "b → c", "c → a", "c → b")


def test_a_location_without_a_label_is_named() -> None:
    with pytest.raises(GeographyError, match=r"2 places have no county: 'p1', 'p3'\.") as caught:
        place_pair_labels(small_cells(4), "county", ["x", "", "y", ""])
    assert "county" in caught.value.advice
    with pytest.raises(GeographyError, match="'p4' and more"):
        place_pair_labels(small_cells(7), "county", [""] * 7)


def test_a_table_of_pairs_labels_every_pair() -> None:
    cells = small_cells(3)
    matrix = np.array([[-1, 2, 0], [0, -1, 2], [2, 2, -1]], dtype=np.int32)
    labels = pair_table_labels(cells, "mode", matrix, ["bus", "tram", "walk"])
    assert named(labels) == ["walk", "bus", "bus", "walk", "walk", "walk"]
    assert labels.names == ("bus", "walk")


def test_a_pair_without_a_label_is_named_only_if_it_has_cells() -> None:
    matrix = np.zeros((3, 3), dtype=np.int32)
    matrix[1, 0] = matrix[2, 2] = -1
    with pytest.raises(GeographyError, match=r"1 pairs of places have no mode: 'p1' to 'p0'\."):
        pair_table_labels(small_cells(3), "mode", matrix, ["bus"])
    with pytest.raises(GeographyError, match="'p1' to 'p0', 'p2' to 'p2'"):
        pair_table_labels(small_cells(3, include_intrazonal=True), "mode", matrix, ["bus"])


@pytest.mark.parametrize(("shape", "names"), [((4, 4), ["bus"]), ((3, 3), [])])
def test_a_table_of_other_places_is_refused(shape: tuple[int, int], names: list[str]) -> None:
    with pytest.raises(GeographyError, match="which mode these places have"):
        pair_table_labels(small_cells(3), "mode", np.zeros(shape, dtype=np.int32), names)


def test_each_period_is_a_class_of_its_own() -> None:
    cells = small_cells(2, periods=4)
    assert named(every_period(cells)) == list(cells.periods.labels)


def test_classes_that_do_not_occur_are_left_out_in_order() -> None:
    labels = labels_of_codes("c", codes(3, 1, 3), ["a", "b", "c", "d"])
    assert labels.codes.tolist() == [1, 0, 1]
    assert labels.names == ("b", "d")


def test_codes_cannot_be_written_to() -> None:
    labels = Labels(column="c", codes=codes(0, 1), names=("a", "b"))
    with pytest.raises(ValueError, match="read-only"):
        labels.codes[0] = 1


@pytest.mark.parametrize(
    ("numbers", "names"),
    [
        (codes(0, 2), ("a", "b", "c")),
        (codes(0, 1), ("a",)),
        (codes(0, -1), ("a",)),
        (codes(0, 1), ("a", "a")),
        (codes(), ()),
        (codes(0, 1).astype(np.int64), ("a", "b")),
        (codes(0, 1).reshape(1, 2), ("a", "b")),
    ],
)
def test_labels_that_are_no_partition_are_refused(
    numbers: np.ndarray[tuple[int], np.dtype[np.int32]], names: tuple[str, ...]
) -> None:
    with pytest.raises(GeographyError, match="'c'") as caught:
        Labels(column="c", codes=numbers, names=names)
    assert caught.value.advice


@pytest.mark.parametrize("most", [1 << 26, 40, 0], ids=["table", "both", "sort"])
def test_joint_codes_tell_apart_what_any_part_tells_apart(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(labels_module, "_MOST_COMBINATIONS", most)
    draw = np.random.default_rng(7)
    parts = [(draw.integers(0, n, 50, dtype=np.int32), n) for n in (3, 4, 9, 1)]
    joint, size = joint_codes(parts, 50)
    together = sorted(set(zip(*(part for part, _ in parts), strict=True)))
    expected = [together.index(key) for key in zip(*(part for part, _ in parts), strict=True)]
    assert joint.tolist() == expected
    assert (joint.dtype, size) == (np.dtype(np.int32), len(together))


def test_no_parts_at_all_make_one_class() -> None:
    joint, size = joint_codes([], 4)
    assert (joint.tolist(), size) == ([0, 0, 0, 0], 1)
