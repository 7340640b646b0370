"""Groups against a slow, obvious reading: cells with equal elements in every feature."""

import tracemalloc
from collections import defaultdict

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import groups_of, refines
from hushway.families.od.public.features import (
    Feature,
    pair_feature,
    period_feature,
    place_pair_labels,
    total_feature,
)
from hushway.geography.locations import labels_of_codes
from support.small_cells import small_cells


def coloured(cells: ODCells, title: str, colours: int, *, by_period: bool = True) -> Feature:
    """A feature whose labels follow no order at all."""
    codes = np.random.default_rng(colours).integers(0, colours, cells.pairs, dtype=np.int32)
    labels = labels_of_codes("colour", codes, [f"c{i}" for i in range(colours)])
    return pair_feature(cells, title, labels, by_period=by_period)


def zones(cells: ODCells, *, by_period: bool = True) -> Feature:
    labels = place_pair_labels(cells, "zone", cells.locations.labels_in("zone"))
    return pair_feature(cells, "zones", labels, by_period=by_period)


def several(cells: ODCells, case: str) -> tuple[Feature, ...]:
    return {
        "none": (),
        "total": (total_feature(cells),),
        "period": (total_feature(cells), period_feature(cells)),
        "no period": (zones(cells, by_period=False), coloured(cells, "c", 4, by_period=False)),
        "all": (total_feature(cells), period_feature(cells), zones(cells), coloured(cells, "c", 4)),
    }[case]


CASES = ("none", "total", "period", "no period", "all")


def all_cells(cells: ODCells) -> IntArray:
    return np.arange(cells.size, dtype=np.int64)


@pytest.mark.parametrize("include_intrazonal", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_groups_are_the_cells_that_no_feature_tells_apart(
    case: str, include_intrazonal: bool
) -> None:
    cells = small_cells(6, include_intrazonal=include_intrazonal)
    features = several(cells, case)
    groups = groups_of(cells, features)
    alike: dict[tuple[int, ...], set[int]] = defaultdict(set)
    elements = [feature.of(all_cells(cells)) for feature in features]
    for cell in range(cells.size):
        alike[tuple(int(element[cell]) for element in elements)].add(cell)
    found: dict[int, set[int]] = defaultdict(set)
    for cell, group in enumerate(groups.of(all_cells(cells)).tolist()):
        found[group].add(cell)
    assert set(map(frozenset, found.values())) == set(map(frozenset, alike.values()))
    assert sorted(found) == list(range(groups.count))
    assert groups.sizes.tolist() == [len(found[group]) for group in range(groups.count)]
    assert groups.sizes.sum() == cells.size


@pytest.mark.parametrize("include_intrazonal", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_group_and_rank_are_a_cell_and_back(case: str, include_intrazonal: bool) -> None:
    cells = small_cells(6, include_intrazonal=include_intrazonal)
    groups = groups_of(cells, several(cells, case))
    numbers = all_cells(cells)
    group, rank = groups.of(numbers), groups.rank(numbers)
    assert groups.cell(group, rank).tolist() == numbers.tolist()
    assert group.dtype == rank.dtype == groups.cell(group, rank).dtype == np.int64
    for number in range(groups.count):
        # Within a group ranks count from 0, in the order of cells.
        assert rank[group == number].tolist() == list(range(groups.sizes[number]))


@pytest.mark.parametrize("case", CASES)
def test_a_group_lies_in_the_element_of_its_cells(case: str) -> None:
    cells = small_cells(6)
    features = several(cells, case)
    groups = groups_of(cells, features)
    for feature in features:
        of_cells = groups.element_of(feature)[groups.of(all_cells(cells))]
        assert of_cells.tolist() == feature.of(all_cells(cells)).tolist()


def test_more_classes_than_16_bits_are_ordered_too() -> None:
    cells = small_cells(300, periods=2)
    codes = np.random.default_rng(3).permutation(cells.pairs).astype(np.int32)
    codes[:5] = codes[5]
    labels = labels_of_codes("c", codes, [str(i) for i in range(cells.pairs)])
    groups = groups_of(cells, [pair_feature(cells, "f", labels)])
    assert groups.pair_classes > 1 << 16
    numbers = all_cells(cells)
    group, rank = groups.of(numbers), groups.rank(numbers)
    assert groups.cell(group, rank).tolist() == numbers.tolist()
    assert rank.max() == 5
    assert rank[(group == group[0])].tolist() == [0, 1, 2, 3, 4, 5]


def test_refinement_is_seen_in_one_direction_only() -> None:
    cells = small_cells(6)
    total, period = total_feature(cells), period_feature(cells)
    fine, daily = zones(cells), zones(cells, by_period=False)
    other = coloured(cells, "c", 4)
    chain = [fine, period, total]
    for i, finer in enumerate(chain):
        for j, coarser in enumerate(chain):
            assert refines(finer, coarser) == (i <= j)
    assert refines(fine, daily)
    assert not refines(daily, fine)
    assert not refines(daily, period)
    assert not refines(fine, other)
    assert not refines(other, fine)


def test_refinement_agrees_with_asking_every_cell() -> None:
    cells = small_cells(5)
    features = (*several(cells, "all"), *several(cells, "no period"), coloured(cells, "d", 2))
    for finer in features:
        for coarser in features:
            inside = zip(
                finer.of(all_cells(cells)).tolist(),
                coarser.of(all_cells(cells)).tolist(),
                strict=True,
            )
            assert refines(finer, coarser) == (len(set(inside)) == finer.size)


def test_nothing_is_as_long_as_the_universe() -> None:
    cells = small_cells(200, periods=24)
    some = np.arange(0, cells.size, 1_000, dtype=np.int64)
    features = (total_feature(cells), period_feature(cells), zones(cells))
    tracemalloc.start()
    try:
        groups = groups_of(cells, features)
        groups.cell(groups.of(some), groups.rank(some))
        groups.element_of(features[2])
        assert groups.sizes.sum() == cells.size
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The universe takes 7.6 MB with 8 bytes a cell; the pairs alone 0.3 MB.
    assert cells.size * 8 > 7_600_000
    assert peak < cells.size * 8 // 2
