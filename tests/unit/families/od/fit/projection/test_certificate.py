"""The bound that a projection states, against the minimum in exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.families.od.fit.projection.optimality import Multipliers, certify, in_order
from hushway.families.od.fit.projection.problem import Margin, dual_problem
from hushway.families.od.fit.projection.project import project
from support.od_problems import cells_by_group


def solve_exactly(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """Solves a small positive definite system by elimination."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(size):
        for j in range(i + 1, size):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    found = [Fraction(0)] * size
    for i in reversed(range(size)):
        known = sum((rows[i][j] * found[j] for j in range(i + 1, size)), Fraction(0))
        found[i] = (rows[i][size] - known) / rows[i][i]
    return found


def exact_minimum(
    values: IntArray, groups: IntArray, margins: list[Margin], active: np.ndarray
) -> list[Fraction] | None:
    """Returns the minimum if exactly these cells are positive in it, else nothing."""
    places = [(i, int(e)) for i, one in enumerate(margins) for e in np.unique(one.element)]
    number = {place: n for n, place in enumerate(places)}
    members = [
        [number[i, int(one.element[g])] for i, one in enumerate(margins)]
        for g in range(int(groups.max()) + 1)
    ]
    matrix = [[Fraction(0)] * len(places) for _ in places]
    right = []
    for n, (i, e) in enumerate(places):
        matrix[n][n] = 1 / Fraction(margins[i].weight)
        right.append(-Fraction(int(margins[i].counts[e])))
    for cell in np.flatnonzero(active):
        mine = members[groups[cell]]
        for n in mine:
            right[n] += int(values[cell])
            for m in mine:
                matrix[n][m] += 1
    multipliers = solve_exactly(matrix, right)
    fitted = [
        int(value) - sum((multipliers[n] for n in members[g]), Fraction(0))
        for value, g in zip(values, groups, strict=True)
    ]
    if any((x > 0) != on for x, on in zip(fitted, active, strict=True)):
        return None
    return [max(x, Fraction(0)) for x in fitted]


def problem(seed: int, *, spread: float) -> tuple[IntArray, IntArray, list[Margin]]:
    rng = np.random.default_rng(seed)
    cells, count = 40, 8
    groups = np.concatenate([np.arange(count), rng.integers(0, count, cells - count)])
    values = np.rint(rng.laplace(0, 50, cells)).astype(np.int64)
    margins = []
    for element in (np.zeros(count, dtype=np.int64), np.arange(count) // 4, np.arange(count) % 3):
        size = int(element.max()) + 1
        counts = np.rint(rng.laplace(100, 80, size)).astype(np.int64)
        weight = float(10 ** rng.uniform(-spread, spread))
        margins.append(Margin(element=element, counts=counts, weight=weight))
    return values, groups, margins


@pytest.mark.parametrize("spread", [1.0, 4.0, 8.0])
def test_the_true_distance_is_within_the_stated_bound(spread: float) -> None:
    proven = 0
    for seed in range(40):
        values, groups, margins = problem(seed, spread=spread)
        found = project(cells_by_group(values, groups, int(groups.max()) + 1), margins)
        active = np.zeros(len(values), dtype=bool)
        active[found.cells] = True
        exact = exact_minimum(values, groups, margins, active)
        if found.optimality.active_set_proven:
            proven += 1
            assert exact is not None
        if exact is None:
            continue
        x = [Fraction(0)] * len(values)
        for cell, value in zip(found.cells, found.values, strict=True):
            x[cell] = Fraction(float(value))
        distance = sum((a - b) ** 2 for a, b in zip(x, exact, strict=True))
        assert distance <= Fraction(found.optimality.bound) ** 2
        assert found.optimality.bound <= 1e-9 * max(1.0, float(found.values.sum()))
    assert proven >= 35


def test_a_wrong_point_is_given_a_bound_that_covers_its_distance() -> None:
    rng = np.random.default_rng(2)
    for seed in range(20):
        values, groups, margins = problem(seed, spread=2.0)
        best = project(cells_by_group(values, groups, int(groups.max()) + 1), margins)
        exact = np.zeros(len(values))
        exact[best.cells] = best.values
        count = int(groups.max()) + 1
        system = dual_problem(margins, count)
        everything = np.full(count, -(1 << 62), dtype=np.int64)
        cells = in_order(
            cells_by_group(values, groups, int(groups.max()) + 1).above(everything),
            np.arange(count),
        )
        guess = rng.normal(0, 30, len(system.counts))
        found = certify(system, cells, Multipliers(high=guess, low=np.zeros_like(guess)))
        x = np.maximum(0, values - system.shifts(guess)[groups])
        assert np.linalg.norm(x - exact) <= found.bound


def test_large_multipliers_that_cancel_are_certified_all_the_same() -> None:
    rng = np.random.default_rng(4)
    count = 200
    values = np.rint(rng.laplace(0, 5, 50 * count)).astype(np.int64)
    groups = np.arange(50 * count) % count
    margins = []
    for element in (np.arange(count) // 4, np.arange(count) // 40, np.zeros(count, dtype=np.int64)):
        counts = np.rint(rng.laplace(0, 500, int(element.max()) + 1)).astype(np.int64) + 900
        margins.append(Margin(element=element, counts=counts, weight=1e8))
    found = project(cells_by_group(values, groups, int(groups.max()) + 1), margins)
    assert found.optimality.relative <= 1e-12
    assert found.optimality.active_set_proven
