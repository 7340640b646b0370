"""What any projection must satisfy, whatever the noise: theorem 8.3 of the CBDP paper and more."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.arrays import IntArray
from hushway.families.od.fit.projection.dense_cells import DenseCells
from hushway.families.od.fit.projection.problem import Margin
from hushway.families.od.fit.projection.project import project

NUMBERS = st.integers(min_value=-60, max_value=60)


@st.composite
def problems(
    draw: st.DrawFn,
) -> tuple[IntArray, IntArray, DenseCells, list[Margin], list[IntArray]]:
    """A truth, noisy cells, noisy margins, and the true counts of these margins."""
    count = draw(st.integers(1, 8))
    size = draw(st.integers(count, 30))
    extra = draw(st.lists(st.integers(0, count - 1), min_size=size - count, max_size=size - count))
    groups = np.array([*range(count), *extra], dtype=np.int64)
    truth = np.array(draw(st.lists(st.integers(0, 40), min_size=size, max_size=size)))
    noise = np.array(draw(st.lists(NUMBERS, min_size=size, max_size=size)))
    margins, exact = [], []
    for _ in range(draw(st.integers(0, 4))):
        element = np.array(draw(st.lists(st.integers(0, 4), min_size=count, max_size=count)))
        counts = np.zeros(5, dtype=np.int64)
        np.add.at(counts, element[groups], truth)
        error = np.array(draw(st.lists(NUMBERS, min_size=5, max_size=5)))
        weight = 10.0 ** draw(st.floats(-3, 5))
        margins.append(Margin(element=element, counts=counts + error, weight=weight))
        exact.append(counts)
    cells = DenseCells(
        values=truth + noise,
        pair_class=groups.astype(np.int32),
        pair_classes=count,
        period_class=np.zeros(1, dtype=np.int32),
        period_classes=1,
    )
    return truth, groups, cells, margins, exact


@settings(deadline=None, max_examples=150, derandomize=True)
@given(problems())
def test_a_projection_is_never_further_from_the_truth_than_the_measurements(
    problem: tuple[IntArray, IntArray, DenseCells, list[Margin], list[IntArray]],
) -> None:
    truth, _, cells, margins, exact = problem
    found = project(cells, margins)
    x = np.zeros(len(truth))
    x[found.cells] = found.values
    before, after = np.sum((cells.values - truth) ** 2.0), np.sum((x - truth) ** 2)
    for one, counts, totals in zip(margins, exact, found.margin_totals, strict=True):
        used = np.isin(np.arange(5), one.element)
        before += one.weight * np.sum((one.counts - counts)[used] ** 2.0)
        after += one.weight * np.sum((totals - counts)[used] ** 2)
    assert after <= before * (1 + 1e-9) + 1e-9


@settings(deadline=None, max_examples=150, derandomize=True)
@given(problems())
def test_a_projection_is_positive_where_listed_and_no_small_change_improves_it(
    problem: tuple[IntArray, IntArray, DenseCells, list[Margin], list[IntArray]],
) -> None:
    truth, groups, cells, margins, _ = problem
    found = project(cells, margins)
    assert np.all(found.values > 0)
    x = np.zeros(len(truth))
    x[found.cells] = found.values
    slope = x - cells.values
    for one, totals in zip(margins, found.margin_totals, strict=True):
        slope += (one.weight * (totals - one.counts))[one.element[groups]]
    size = 1e-8 * (1 + max((one.weight for one in margins), default=0.0))
    assert np.all(slope >= -size)
    assert np.all(np.abs(slope[found.cells]) <= size)
