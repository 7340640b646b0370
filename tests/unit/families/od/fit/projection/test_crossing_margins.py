"""Crossing margins of many elements: every cell its own group, and no factorisation that fits."""

import numpy as np
import pytest

from hushway.families.od.fit.projection import newton, newton_direction
from hushway.families.od.fit.projection.dense_cells import DenseCells
from hushway.families.od.fit.projection.newton_direction import (
    ConjugateGradients,
    DirectSolver,
    newton_solver,
)
from hushway.families.od.fit.projection.optimality import in_order
from hushway.families.od.fit.projection.problem import Margin, dual_problem
from hushway.families.od.fit.projection.project import EVERYTHING, project
from support.od_problems import cells_by_group


def hard(places: int, periods: int, trips: int, seed: int) -> tuple[DenseCells, list[Margin]]:
    """Origin by period, destination by period, pair over the day, period and total."""
    rng = np.random.default_rng(seed)
    pairs = places * places
    size = pairs * periods
    where = rng.choice(pairs, trips, p=rng.dirichlet(np.full(pairs, 0.1)))
    truth = np.bincount(rng.integers(0, periods, trips) * pairs + where, minlength=size)
    cell = np.arange(size)
    period, pair = np.divmod(cell, pairs)
    margins = []
    for element, count in (
        (period * places + pair // places, periods * places),
        (period * places + pair % places, periods * places),
        (pair, pairs),
        (period, periods),
        (0 * cell, 1),
    ):
        noise = np.rint(rng.laplace(0, 6, count)).astype(np.int64)
        counts = np.bincount(element, truth, count).astype(np.int64) + noise
        margins.append(Margin(element=element, counts=counts, weight=size / count))
    values = truth + np.rint(rng.laplace(0, 6, size)).astype(np.int64)
    return cells_by_group(values, cell, size), margins


@pytest.mark.long
def test_conjugate_gradients_and_a_factorisation_find_the_same_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cells, margins = hard(12, 8, 400, 1)
    assert isinstance(newton_solver(dual_problem(margins, len(cells.sizes))), DirectSolver)
    one = project(cells, margins)
    monkeypatch.setattr(newton_direction, "_MOST_WORK", 10.0)
    assert isinstance(newton_solver(dual_problem(margins, len(cells.sizes))), ConjugateGradients)
    other = project(cells, margins)
    assert np.array_equal(one.cells, other.cells)
    assert np.allclose(one.values, other.values, rtol=0, atol=1e-6)


def test_the_hard_flat_table_is_certified() -> None:
    cells, margins = hard(36, 16, 2000, 2)
    found = project(cells, margins)
    assert found.optimality.relative <= 1e-9
    total = margins[-1].counts[0]
    assert abs(found.margin_totals[-1][0] - total) <= 0.01 * total


def test_letting_weights_in_gradually_leads_to_the_same_minimum() -> None:
    cells, margins = hard(12, 8, 400, 3)
    found = project(cells, margins)
    system = dual_problem(margins, len(cells.sizes))
    everything = np.full(system.groups, EVERYTHING, dtype=np.int64)
    ordered = in_order(cells.above(everything), np.arange(system.groups))
    gradual = newton._gradual(system, ordered, 1e-9)
    assert gradual.certified.bound <= 1e-9 * found.values.sum()
    assert np.allclose(gradual.certified.totals, found.group_totals, rtol=0, atol=1e-6)
