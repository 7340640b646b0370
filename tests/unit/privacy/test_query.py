from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from hushway.errors import PrivacyError
from hushway.privacy.bound import Bound
from hushway.privacy.query import ExactCounts, Query, WeightedQuery


@dataclass(frozen=True)
class Boxes:
    size: int
    name: str = "boxes"
    digest: str = "sha256:0"


def ints(*values: int) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


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
