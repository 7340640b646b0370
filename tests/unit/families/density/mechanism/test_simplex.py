import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import sparse

from hushway.families.density.fit.rhythms import onto_totals

FloatArray = NDArray[np.float64]

numbers = st.floats(-1e6, 1e6, allow_subnormal=False)
rows = arrays(np.float64, st.integers(1, 12), elements=numbers)


def by_quadratic_programme(row: FloatArray, total: float) -> FloatArray:
    bins = len(row)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    constraints = sparse.csc_matrix(np.vstack([np.ones(bins), -np.eye(bins)]))
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(bins)]
    right = np.concatenate([[total], np.zeros(bins)])
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.eye(bins)), -row, constraints, right, cones, settings
    )
    return np.array(solver.solve().x)


@pytest.mark.parametrize("seed", range(10))
def test_it_is_the_solution_of_the_quadratic_programme(seed: int) -> None:
    random = np.random.default_rng(seed)
    series = random.normal(2, 5, (4, 20))
    totals = random.gamma(1.0, 30.0, 4)
    found = onto_totals(series, totals)
    for row, total, ours in zip(series, totals, found, strict=True):
        assert ours == pytest.approx(by_quadratic_programme(row, total), abs=1e-3)


@settings(derandomize=True, deadline=None)
@given(row=rows, total=st.floats(0, 1e6))
def test_nothing_is_negative_and_the_sum_is_right(row: FloatArray, total: float) -> None:
    found = onto_totals(row[None], np.array([total]))[0]
    size = max(np.abs(row).max(), total, 1.0)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total, abs=1e-9 * size * len(row))


@settings(derandomize=True, deadline=None)
@given(row=rows, total=st.floats(1e-3, 1e6))
def test_what_stays_above_nothing_moves_by_the_same_amount_and_the_rest_by_no_more(
    row: FloatArray, total: float
) -> None:
    found = onto_totals(row[None], np.array([total]))[0]
    size = max(np.abs(row).max(), total)
    lowered = row - found
    kept = found > 0
    assert kept.any()
    shift = lowered[kept].mean()
    assert np.abs(lowered[kept] - shift).max() <= 1e-9 * size
    assert (row[~kept] <= shift + 1e-9 * size).all()


def test_a_series_that_fits_already_is_left_alone() -> None:
    series = np.array([[1.0, 0.0, 4.0], [0.5, 0.25, 0.25]])
    assert onto_totals(series, series.sum(axis=1)) == pytest.approx(series)


def test_a_total_of_nothing_leaves_nothing() -> None:
    assert not onto_totals(np.array([[3.0, -1.0, 3.0]]), np.array([0.0])).any()


def test_one_bin_gets_the_total() -> None:
    assert onto_totals(np.array([[-7.0], [9.0]]), np.array([2.0, 3.0])).tolist() == [[2.0], [3.0]]
