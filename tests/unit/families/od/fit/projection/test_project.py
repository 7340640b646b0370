"""The projection against a general solver, and in the corners where solvers go wrong."""

from collections.abc import Sequence

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.families.od.fit.projection.dense_cells import DenseCells
from hushway.families.od.fit.projection.problem import Margin
from hushway.families.od.fit.projection.project import Projection, project
from support.long import often
from support.od_problems import cells_by_group as dense


def margin(element: Sequence[int], counts: Sequence[int], weight: float) -> Margin:
    return Margin(
        element=np.array(element, dtype=np.int64),
        counts=np.array(counts, dtype=np.int64),
        weight=weight,
    )


def table(found: Projection, size: int) -> np.ndarray:
    x = np.zeros(size)
    x[found.cells] = found.values
    return x


def objective(
    x: np.ndarray, values: IntArray, groups: IntArray, margins: Sequence[Margin]
) -> float:
    total = 0.5 * np.sum((x - values) ** 2)
    for one in margins:
        size = len(one.counts)
        used = np.bincount(one.element, minlength=size) > 0
        off = np.bincount(one.element[groups], x, size) - one.counts
        total += one.weight / 2 * np.sum(off[used] ** 2)
    return float(total)


def by_clarabel(values: IntArray, groups: IntArray, margins: Sequence[Margin]) -> np.ndarray:
    cells = len(values)
    sizes = [len(one.counts) for one in margins]
    sums = sp.vstack(
        [
            sp.csr_array(
                (np.ones(cells), (one.element[groups], np.arange(cells))), shape=(size, cells)
            )
            for size, one in zip(sizes, margins, strict=True)
        ]
        or [sp.csr_array((0, cells))]
    )
    elements = sum(sizes)
    weights = [np.full(len(one.counts), one.weight) for one in margins]
    curvature = sp.diags_array(np.concatenate([np.ones(cells), *weights]))
    pull = [one.weight * one.counts for one in margins]
    linear = -np.concatenate([values.astype(float), *pull])
    rows = sp.vstack(
        [
            sp.hstack([sums, -sp.eye_array(elements)]),
            sp.hstack([-sp.eye_array(cells), sp.csr_array((cells, elements))]),
        ]
    )
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solver = clarabel.DefaultSolver(
        sp.csc_matrix(curvature),
        linear,
        sp.csc_matrix(rows),
        np.zeros(elements + cells),
        [clarabel.ZeroConeT(elements), clarabel.NonnegativeConeT(cells)],
        settings,
    )
    return np.maximum(0.0, np.array(solver.solve().x[:cells]))


def random_problem(
    rng: np.random.Generator, kind: str, *, ties: bool, spread: tuple[float, float]
) -> tuple[IntArray, IntArray, int, list[Margin]]:
    cells = int(rng.integers(5, 150))
    count = cells if kind == "flat" else int(rng.integers(1, cells + 1))
    groups = np.concatenate([np.arange(count), rng.integers(0, count, cells - count)])
    rng.shuffle(groups)
    scale = 10 ** rng.uniform(0, 3)
    values = np.rint(rng.laplace(0, scale, cells) + 9 * scale * (rng.random(cells) < 0.1))
    if ties:
        values = rng.integers(-3, 4, cells)
    values = values.astype(np.int64)
    element = np.arange(count)
    margins = []
    for _ in range(int(rng.integers(1, 5))):
        if kind == "nested":
            element = element // int(rng.integers(2, 5))
        else:
            element = rng.integers(0, int(rng.integers(1, count + 1)), count)
        size = int(element.max()) + 1
        truth = np.bincount(element[groups], np.maximum(values, 0), size) * rng.uniform(0, 1.2)
        counts = np.rint(truth + rng.laplace(0, scale, size)).astype(np.int64)
        weight = 10 ** rng.uniform(*spread)
        margins.append(Margin(element=element, counts=counts, weight=weight))
    return values, groups, count, margins


@pytest.mark.parametrize("ties", often([False, True]))
@pytest.mark.parametrize("kind", ["nested", "crossing", "flat"])
def test_a_general_solver_never_finds_a_better_table(kind: str, *, ties: bool) -> None:
    rng = np.random.default_rng(sum(map(ord, kind)) + ties)
    for _ in range(40):
        values, groups, count, margins = random_problem(rng, kind, ties=ties, spread=(-3, 4))
        x = table(project(dense(values, groups, count), margins), len(values))
        other = by_clarabel(values, groups, margins)
        theirs = objective(other, values, groups, margins)
        gain = theirs - objective(x, values, groups, margins)
        # Strong convexity: whatever differs from the minimum costs half its squared distance.
        assert np.sum((x - other) ** 2) / 2 <= gain + 1e-9 * (1 + abs(theirs))


@pytest.mark.parametrize("ties", [False, True])
def test_every_residual_is_small_even_if_weights_differ_by_fifteen_orders(*, ties: bool) -> None:
    rng = np.random.default_rng(7 + ties)
    for kind in ["nested", "crossing", "flat"] * 60:
        values, groups, count, margins = random_problem(rng, kind, ties=ties, spread=(-6, 9))
        found = project(dense(values, groups, count), margins)
        x = table(found, len(values))
        # Stationarity: every cell is its value less the shift of its group, or 0.
        fitted = np.maximum(0.0, values - found.shifts[groups])
        size = 1 + np.abs(values).max() + np.abs(found.shifts).max()
        assert np.allclose(x, fitted, rtol=0, atol=1e-12 * size)
        assert np.all(found.values > 0)
        assert found.optimality.relative <= 1e-9


def test_no_margin_at_all_leaves_the_positive_part() -> None:
    values = np.array([3, -2, 0, 7], dtype=np.int64)
    found = project(dense(values, np.zeros(4, dtype=np.int64), 1), [])
    assert found.cells.tolist() == [0, 3]
    assert found.values.tolist() == [3.0, 7.0]
    assert found.groups.tolist() == [0, 0]
    assert found.group_totals.tolist() == [10.0]
    assert found.margin_totals == ()


def test_one_group_with_a_heavy_total_is_the_projection_onto_a_simplex() -> None:
    values = np.array([5, 3, 1, -4], dtype=np.int64)
    found = project(dense(values, np.zeros(4, dtype=np.int64), 1), [margin([0], [4], 1e9)])
    assert found.cells.tolist() == [0, 1]
    assert np.allclose(found.values, [3, 1], rtol=0, atol=1e-8)
    assert found.optimality.active_set_proven


def test_all_cells_are_lifted_if_the_total_asks_for_it() -> None:
    values = np.array([-100, -101, -99, -100], dtype=np.int64)
    found = project(dense(values, np.zeros(4, dtype=np.int64), 1), [margin([0], [10**6], 1e6)])
    assert len(found.cells) == 4
    assert np.allclose(found.shifts, -250_100, rtol=0, atol=1)


def test_nothing_is_active_if_every_count_is_negative() -> None:
    values = np.array([-5, -1, -7], dtype=np.int64)
    found = project(dense(values, np.arange(3), 3), [margin([0, 0, 1], [-50, -3], 10.0)])
    assert len(found.cells) == 0
    assert found.margin_totals[0].tolist() == [0.0, 0.0]


def test_equal_values_are_fitted_equally() -> None:
    values = np.repeat(np.array([2, 1, 0], dtype=np.int64), 20)
    found = project(dense(values, np.zeros(60, dtype=np.int64), 1), [margin([0], [10], 1e3)])
    assert len(set(found.values.tolist())) == 1
    assert len(found.cells) == 20


def test_an_element_without_a_group_is_left_alone() -> None:
    values = np.array([4, 6], dtype=np.int64)
    cells = dense(values, np.arange(2), 2)
    found = project(cells, [margin([1, 1], [999, 8, -999], 2.0)])
    plain = project(cells, [margin([0, 0], [8], 2.0)])
    assert found.values.tolist() == plain.values.tolist()
    assert found.margin_totals[0].tolist() == [0.0, plain.margin_totals[0][0], 0.0]


def test_a_margin_given_twice_counts_twice() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(-9, 20, 50)
    groups = np.arange(50) % 10
    one = margin(range(10), rng.integers(0, 40, 10).tolist(), 3.0)
    twice = Margin(element=one.element, counts=one.counts, weight=6.0)
    x = table(project(dense(values, groups, 10), [one, one]), 50)
    assert np.allclose(x, table(project(dense(values, groups, 10), [twice]), 50), atol=1e-11)


def test_order_of_cells_numbers_of_groups_and_order_of_margins_do_not_matter() -> None:
    rng = np.random.default_rng(11)
    values, groups, count, margins = random_problem(rng, "crossing", ties=False, spread=(-2, 6))
    x = table(project(dense(values, groups, count), margins), len(values))
    order, names = rng.permutation(len(values)), rng.permutation(count)
    renamed = [
        Margin(element=one.element[np.argsort(names)], counts=one.counts, weight=one.weight)
        for one in reversed(margins)
    ]
    other = table(project(dense(values[order], names[groups][order], count), renamed), len(values))
    assert np.allclose(other, x[order], rtol=0, atol=1e-9)


def test_totals_are_those_of_the_cells() -> None:
    rng = np.random.default_rng(5)
    values, groups, count, margins = random_problem(rng, "crossing", ties=False, spread=(-1, 3))
    found = project(dense(values, groups, count), margins)
    assert np.array_equal(found.groups, groups[found.cells])
    assert np.all(np.diff(found.cells) > 0)
    by_group = np.bincount(found.groups, found.values, count)
    assert np.allclose(found.group_totals, by_group, rtol=1e-12, atol=1e-12)
    for one, totals in zip(margins, found.margin_totals, strict=True):
        expected = np.bincount(one.element, by_group, len(one.counts))
        assert np.allclose(totals, expected, rtol=1e-12, atol=1e-9)


def test_cells_are_numbered_by_period_and_then_pair() -> None:
    rng = np.random.default_rng(9)
    values = rng.integers(-5, 9, 6 * 40)
    pair_class, period_class = rng.integers(0, 3, 40), np.array([0, 0, 1, 1, 0, 1])
    counts = rng.integers(0, 60, 6)
    grid = DenseCells(
        values=values,
        pair_class=pair_class.astype(np.int32),
        pair_classes=3,
        period_class=period_class.astype(np.int32),
        period_classes=2,
    )
    groups = (period_class[:, None] * 3 + pair_class[None, :]).ravel()
    margins = [margin(range(6), counts.tolist(), 50.0)]
    one, other = project(grid, margins), project(dense(values, groups, 6), margins)
    assert np.array_equal(one.cells, other.cells)
    assert np.array_equal(one.values, other.values)
    assert np.array_equal(grid.sizes, np.bincount(groups, minlength=6))


def test_values_too_wide_for_one_sorting_key_are_ordered_all_the_same() -> None:
    values = np.array([1 << 50, -(1 << 50), 7, 1 << 50, 9], dtype=np.int64)
    shown = dense(values, np.array([1, 0, 0, 1, 0]), 1 << 20).above(
        np.full(1 << 20, -(1 << 62), dtype=np.int64)
    )
    assert shown.cells.tolist() == [4, 2, 1, 0, 3]
    assert shown.values.tolist() == values[[4, 2, 1, 0, 3]].tolist()


def test_progress_is_told_in_sentences() -> None:
    told: list[str] = []
    project(dense(np.array([1, 2]), np.zeros(2), 1), [margin([0], [1], 1.0)], progress=told.append)
    assert len(told) == 1
    assert told[0].startswith("Round 1: 2 cells seen, ")


@pytest.mark.parametrize(
    "bad",
    [
        margin([0, 1, 2], [1, 2, 3], 1.0),
        margin([0, 3], [1, 2, 3], 1.0),
        margin([0, -1], [1, 2, 3], 1.0),
        margin([0, 1], [1, 2, 3], 0.0),
        margin([0, 1], [1, 2, 3], float("nan")),
        margin([0, 1], [1, 2, 1 << 60], 1.0),
    ],
)
def test_a_margin_that_does_not_fit_is_refused(bad: Margin) -> None:
    with pytest.raises(ReleaseError):
        project(dense(np.array([1, 2, 3]), np.array([0, 1, 1]), 2), [bad])


def test_cells_that_do_not_fit_their_classes_are_refused() -> None:
    with pytest.raises(ReleaseError, match="do not fit"):
        dense(np.array([1, 2, 3]), np.array([0, 1]), 2)
    with pytest.raises(ReleaseError, match="do not fit"):
        dense(np.array([1, 2]), np.array([0, 2]), 2)


def test_a_tolerance_that_no_double_can_meet_is_refused_and_not_missed_silently() -> None:
    values = np.array([10, 7, -3], dtype=np.int64)
    with pytest.raises(ReleaseError, match="exact one"):
        project(dense(values, np.zeros(3), 1), [margin([0], [5], 3.0)], tolerance=1e-30)
