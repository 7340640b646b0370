"""Cells joined with sums, against a dense solver that knows nothing of partitions."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from hushway.arrays import FloatArray
from hushway.errors import ReleaseError
from hushway.families.od.fit import partitions
from hushway.families.od.fit.partitions import Partition
from hushway.families.od.fit.reconciliation import hessian
from hushway.families.od.fit.reconciliation import reconcile as reconciling
from hushway.families.od.fit.reconciliation.reconcile import MeasuredSums, Reconciled, reconcile
from support.od_problems import partition

PERIODS, PLACES = 3, 4
PAIRS = PLACES * PLACES
ORIGIN, DESTINATION = (part.ravel().astype(np.int32) for part in np.indices((PLACES, PLACES)))


EACH = list(range(PERIODS))
FAMILIES = {
    "total": [partition(0 * ORIGIN, [0, 0, 0])],
    "nested": [partition(0 * ORIGIN, EACH), partition(ORIGIN, EACH)],
    "inside": [
        partition(0 * ORIGIN, [0, 0, 0]),
        partition(ORIGIN // 2, EACH),
        partition(DESTINATION, EACH),
        partition(0 * ORIGIN, EACH),
        partition(ORIGIN, [0, 0, 0]),
        partition(ORIGIN, EACH),
    ],
    "crossing": [
        partition(ORIGIN, EACH),
        partition(DESTINATION, EACH),
        partition(ORIGIN // 2 * 2 + DESTINATION // 2, [0, 1, 0]),
        partition(0 * ORIGIN, [0, 0, 0]),
    ],
}


class Problem:
    """Estimates of cells and noisy sums that contradict each other."""

    def __init__(self, families: list[Partition], seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.mean = rng.gamma(0.4, 5.0, (PERIODS, PAIRS))
        self.variance = rng.gamma(0.7, 3.0, (PERIODS, PAIRS))
        self.sums = [
            MeasuredSums(
                partition=each,
                counts=np.rint(each.sums(self.mean) + rng.normal(0, 9, each.size)).astype(np.int64),
                variance=float(rng.gamma(1.0, 4.0)),
            )
            for each in families
        ]

    def exactly(self) -> FloatArray:
        """The minimum, as a least squares problem with one row for each cell and each sum."""
        size = self.mean.size
        rows, right = [np.eye(size) / np.sqrt(self.variance.ravel())[:, None]], []
        right.append(self.mean.ravel() / np.sqrt(self.variance.ravel()))
        for each in self.sums:
            places = each.partition.period_class[:, None] * each.partition.classes
            element = (places + each.partition.pair_class).ravel()
            inside = np.arange(each.partition.size)[:, None] == element
            rows.append(inside / np.sqrt(each.variance))
            right.append(each.counts / np.sqrt(each.variance))
        solved = lsq_linear(
            np.vstack(rows), np.concatenate(right), (0, np.inf), method="bvls", tol=1e-15
        )
        assert solved.success
        return np.asarray(solved.x.reshape(self.mean.shape))

    def joined(self, **options: float) -> Reconciled:
        return reconcile(self.mean, self.variance, self.sums, **options)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("families", FAMILIES.values(), ids=FAMILIES)
def test_the_result_is_that_of_a_dense_solver(families: list[Partition], seed: int) -> None:
    problem = Problem(families, seed)
    np.testing.assert_allclose(problem.joined(tolerance=1e-9).values, problem.exactly(), atol=1e-6)


@pytest.mark.parametrize("tolerance", [1.0, 1e-1, 1e-2, 1e-4])
@pytest.mark.parametrize("seed", range(5))
def test_the_distance_to_the_minimum_is_at_most_the_bound(seed: int, tolerance: float) -> None:
    problem = Problem(FAMILIES["crossing"], seed)
    joined = problem.joined(tolerance=tolerance)
    distance = float(np.linalg.norm(joined.values - problem.exactly()))
    assert distance <= joined.bound + 1e-9
    assert joined.bound <= tolerance * max(1.0, joined.values.sum()) * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_negative_and_totals_are_those_of_the_cells(seed: int) -> None:
    problem = Problem(FAMILIES["crossing"], seed)
    problem.sums[0].counts[:] = -20
    joined = problem.joined()
    assert joined.values.min() == 0
    for each, totals in zip(problem.sums, joined.totals, strict=True):
        np.testing.assert_allclose(each.partition.sums(joined.values), totals, atol=1e-9)


def test_a_cell_that_is_certain_does_not_move_and_the_others_share_by_their_variance() -> None:
    mean, variance = np.array([[10.0, 10.0, 10.0]]), np.array([[0.0, 1.0, 3.0]])
    all_of_it = partition(np.zeros(3), [0])
    sums = [MeasuredSums(partition=all_of_it, counts=np.array([38]), variance=1e-9)]
    joined = reconcile(mean, variance, sums)
    np.testing.assert_allclose(joined.values, [[10, 12, 16]], atol=1e-5)


def test_sums_that_say_nothing_change_nothing() -> None:
    problem = Problem(FAMILIES["crossing"], 1)
    vague = [
        MeasuredSums(partition=each.partition, counts=each.counts, variance=1e15)
        for each in problem.sums
    ]
    joined = reconcile(problem.mean, problem.variance, vague)
    np.testing.assert_allclose(joined.values, problem.mean, atol=1e-4)


@pytest.mark.parametrize("few", [0, 4])
def test_the_number_of_threads_never_shows(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, found = Problem(FAMILIES["crossing"], 2), []
    monkeypatch.setattr(partitions, "_WORTH_A_THREAD", 0)
    monkeypatch.setattr(hessian, "_FEW", few)
    monkeypatch.setattr(hessian, "_SHORT", 0)
    for threads in (1, 2, 5):
        monkeypatch.setattr(partitions, "processors", lambda threads=threads: threads)
        found.append(problem.joined().values.tobytes())
    assert len(set(found)) == 1


def test_a_list_of_moving_cells_and_a_table_of_all_lead_to_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, found = Problem(FAMILIES["crossing"], 4), []
    for few in (0, 10**6):
        monkeypatch.setattr(hessian, "_FEW", few)
        found.append(problem.joined(tolerance=1e-9).values)
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-7)


def test_sums_without_a_cell_leave_all_others_alone() -> None:
    skipping = [partition(3 * ORIGIN + 1, [0, 2, 2]), partition(2 * DESTINATION + 2, [1, 1, 3])]
    problem = Problem(skipping, 3)
    np.testing.assert_allclose(problem.joined(tolerance=1e-9).values, problem.exactly(), atol=1e-6)


def test_estimates_may_lie_in_memory_in_any_order() -> None:
    problem = Problem(FAMILIES["crossing"], 5)
    turned = reconcile(np.asfortranarray(problem.mean), problem.variance, problem.sums)
    assert turned.values.tobytes() == problem.joined().values.tobytes()


@pytest.mark.parametrize("tolerance", [1e-12, 1e-15, 0.0])
def test_what_rounding_hides_is_part_of_the_bound(tolerance: float) -> None:
    """No double is closer than this to anything, so no bound may be."""
    problem = Problem(FAMILIES["crossing"], 6)
    try:
        bound = problem.joined(tolerance=tolerance).bound
    except ReleaseError:
        assert tolerance < 1e-12
    else:
        assert bound >= 2.0**-53 * problem.mean.max()


def test_a_tolerance_that_is_out_of_reach_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconciling, "_MOST_STEPS", 1)
    with pytest.raises(ReleaseError, match="was asked for"):
        Problem(FAMILIES["crossing"], 3).joined()
