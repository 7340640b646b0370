from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hushway.errors import PrivacyError
from hushway.privacy.bound import Bound
from hushway.privacy.query import ExactCounts, PartitionQuery, Query, WeightedQuery
from support.boxes import Boxes, ints


def weighted(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    weights: NDArray[np.int64],
    *,
    sizes: tuple[int, int] = (3, 4),
) -> WeightedQuery:
    return WeightedQuery(
        name="sums",
        base=Query(name="base", cells=Boxes(sizes[1])),
        cells=Boxes(sizes[0]),
        rows=rows,
        columns=columns,
        weights=weights,
    )


def test_sums_are_exact() -> None:
    query = weighted(ints(0, 0, 2), ints(0, 3, 3), ints(1, 10, 100))
    sums = query.apply(ExactCounts(cells=ints(0, 1, 3), values=ints(4, 5, 6)))
    assert sums.cells.tolist() == [0, 2]
    assert sums.values.tolist() == [64, 600]


def test_nothing_counted_sums_to_nothing() -> None:
    query = weighted(ints(0, 2), ints(0, 3), ints(1, 1))
    empty = np.empty(0, dtype=np.int64)
    sums = query.apply(ExactCounts(cells=empty, values=empty))
    assert len(sums.cells) == len(sums.values) == 0


def test_a_unit_moves_the_sums_by_the_weights_of_its_cells() -> None:
    query = weighted(ints(0, 1, 2), ints(0, 0, 1), ints(3, 4, 5))
    assert query.bound(Bound(cells=1, each=1, total=1)) == Bound(cells=2, each=5, total=7)


def test_weights_beyond_the_doubles_are_added_exactly() -> None:
    query = weighted(ints(0, 1), ints(0, 0), ints(1 << 53, 1))
    assert query.bound(Bound(cells=1, each=1, total=1)).total == (1 << 53) + 1


def test_two_weights_of_the_same_pair_are_refused_because_the_bound_would_miss_their_sum() -> None:
    with pytest.raises(PrivacyError, match="two weights"):
        weighted(ints(0, 1, 0), ints(0, 2, 0), ints(1, 1, 1))


@pytest.mark.parametrize(
    ("rows", "columns", "weights"),
    [
        (ints(), ints(), ints()),
        (ints(0), ints(0, 1), ints(1)),
        (ints(3), ints(0), ints(1)),
        (ints(-1), ints(0), ints(1)),
        (ints(0), ints(4), ints(1)),
        (ints(0), ints(-1), ints(1)),
        (ints(0), ints(0), ints(0)),
        (ints(0), ints(0), ints(-2)),
        (ints(0), ints(0), np.array([1.5])),
        (ints(0), np.array([0.0]), ints(1)),
        (ints(0), ints(0), np.array([1], dtype=np.uint64)),
        (ints(0, 1), ints(0, 0), ints(1 << 62, 1 << 62)),
    ],
)
def test_weights_that_do_not_fit_are_refused(
    rows: NDArray[np.int64], columns: NDArray[np.int64], weights: NDArray[np.int64]
) -> None:
    with pytest.raises(PrivacyError, match="do not fit"):
        weighted(rows, columns, weights)


@dataclass(frozen=True)
class Parts:
    """A partition by any rule."""

    size: int
    of: Callable[[NDArray[np.int64]], NDArray[np.int64]]
    name: str = "parts"
    digest: str = "sha256:1"


def by_three(size: int = 4) -> PartitionQuery:
    """Cells 0-2, 3-5, 6-8 and 9 of ten."""
    return PartitionQuery(
        name="threes",
        base=Query(name="base", cells=Boxes(10)),
        cells=Parts(size, lambda cells: cells // 3),
    )


def test_the_records_of_an_element_are_those_of_its_cells() -> None:
    counts = ExactCounts(cells=ints(0, 2, 7, 8, 9), values=ints(1, 10, 100, 1000, 5))
    sums = by_three().apply(counts)
    assert sums.cells.tolist() == [0, 2, 3]
    assert sums.values.tolist() == [11, 1100, 5]
    assert sums.cells.dtype == sums.values.dtype == np.int64


def test_nothing_counted_makes_no_element() -> None:
    empty = np.empty(0, dtype=np.int64)
    sums = by_three().apply(ExactCounts(cells=empty, values=empty))
    assert len(sums.cells) == len(sums.values) == 0


def test_sums_beyond_the_doubles_are_exact() -> None:
    counts = ExactCounts(cells=ints(0, 1), values=ints(1 << 53, 1))
    assert by_three().apply(counts).values.tolist() == [(1 << 53) + 1]


@pytest.mark.parametrize(
    ("base", "size", "bound"),
    [
        (Bound(cells=1, each=1, total=1), 4, Bound(cells=1, each=1, total=1)),
        (Bound(cells=3, each=1, total=3), 4, Bound(cells=3, each=3, total=3)),
        (Bound(cells=9, each=2, total=5), 4, Bound(cells=4, each=5, total=5)),
        (Bound(cells=2, each=3, total=100), 4, Bound(cells=2, each=6, total=6)),
    ],
)
def test_all_records_of_a_unit_may_fall_into_one_element(
    base: Bound, size: int, bound: Bound
) -> None:
    found = by_three(size).bound(base)
    assert found == bound
    assert found.l1 == base.l1
    assert found.l2_squared == base.l1**2


def test_no_unit_moves_the_elements_further_than_the_bound_says() -> None:
    """All ways to place up to three records, at most two in a cell."""
    base = Bound(cells=2, each=2, total=3)
    bound = by_three().bound(base)
    for one in range(10):
        for other in range(one + 1, 10):
            for values in ((2, 1), (1, 2), (1, 1), (2,), (1,)):
                cells = ints(one, other)[: len(values)]
                moved = by_three().apply(ExactCounts(cells=cells, values=ints(*values))).values
                assert len(moved) <= bound.cells
                assert moved.max() <= bound.each
                assert moved.sum() <= bound.l1
                assert (moved**2).sum() <= bound.l2_squared


RULES: dict[str, Callable[[NDArray[np.int64]], NDArray[Any]]] = {
    "an element too many": lambda cells: cells // 2,
    "a negative element": lambda cells: cells // 3 - 1,
    "not whole": lambda cells: cells / 3,
    "of another width": lambda cells: (cells // 3).astype(np.int32),
    "too few": lambda cells: cells[:1] // 3,
    "an index that fails": lambda cells: ints(0, 0, 1)[cells],
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_a_partition_that_fails_at_the_first_or_last_cell_is_refused_before_it_is_asked(
    rule: Callable[[NDArray[np.int64]], NDArray[np.int64]],
) -> None:
    with pytest.raises(PrivacyError, match="in which of its elements"):
        PartitionQuery(name="parts", base=Query(name="base", cells=Boxes(10)), cells=Parts(4, rule))
