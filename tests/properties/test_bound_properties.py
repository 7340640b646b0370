"""Sensitivities against brute force over all small integer vectors."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.privacy.bound import Bound
from hushway.privacy.query import ExactCounts, Query, WeightedQuery


@dataclass(frozen=True)
class Boxes:
    size: int
    name: str = "boxes"
    digest: str = "sha256:0"


small = st.integers(min_value=1, max_value=4)


@given(cells=small, each=small, total=st.integers(min_value=1, max_value=20))
def test_the_sensitivities_are_the_largest_that_any_unit_reaches(
    cells: int, each: int, total: int
) -> None:
    bound = Bound(cells=cells, each=each, total=total)
    units = [unit for unit in product(range(each + 1), repeat=cells) if sum(unit) <= total]
    assert bound.l1 == max(sum(unit) for unit in units)
    assert bound.l2_squared == max(sum(part**2 for part in unit) for unit in units)


@st.composite
def weighted_queries(draw: st.DrawFn) -> WeightedQuery:
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    places = [(r, c) for r in range(rows) for c in range(columns)]
    chosen = draw(st.lists(st.sampled_from(places), min_size=1, unique=True))
    weights = draw(st.lists(st.integers(1, 9), min_size=len(chosen), max_size=len(chosen)))
    return WeightedQuery(
        name="sums",
        base=Query(name="base", cells=Boxes(columns)),
        cells=Boxes(rows),
        rows=np.array([r for r, _ in chosen], dtype=np.int64),
        columns=np.array([c for _, c in chosen], dtype=np.int64),
        weights=np.array(weights, dtype=np.int64),
    )


def matrix(query: WeightedQuery) -> np.ndarray:
    dense = np.zeros((query.cells.size, query.base.cells.size), dtype=np.int64)
    dense[query.rows, query.columns] = query.weights
    return dense


@settings(max_examples=150)
@given(
    query=weighted_queries(),
    cells=st.integers(1, 3),
    each=st.integers(1, 3),
    total=st.integers(1, 6),
)
def test_no_unit_moves_a_weighted_sum_by_more_than_its_bound(
    query: WeightedQuery, cells: int, each: int, total: int
) -> None:
    base = Bound(cells=cells, each=each, total=total)
    bound = query.bound(base)
    dense = matrix(query)
    for unit in product(range(each + 1), repeat=query.base.cells.size):
        if sum(unit) > total or np.count_nonzero(unit) > cells:
            continue
        moved = dense @ np.array(unit)
        assert moved.sum() <= min(bound.l1, bound.total)
        assert (moved**2).sum() <= bound.l2_squared
        assert moved.max() <= bound.each
        assert np.count_nonzero(moved) <= bound.cells


@given(query=weighted_queries(), data=st.data())
def test_weighted_sums_are_the_product_with_the_dense_matrix(
    query: WeightedQuery, data: st.DataObject
) -> None:
    size = query.base.cells.size
    counts = np.array(data.draw(st.lists(st.integers(0, 50), min_size=size, max_size=size)))
    cells = np.flatnonzero(counts)
    sums = query.apply(ExactCounts(cells=cells, values=counts[cells]))
    spread = np.zeros(query.cells.size, dtype=np.int64)
    spread[sums.cells] = sums.values
    assert spread.tolist() == (matrix(query) @ counts).tolist()
    assert (np.diff(sums.cells) > 0).all()
