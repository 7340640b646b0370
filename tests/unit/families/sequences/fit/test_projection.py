from collections.abc import Callable

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import isotonic_regression

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.sequences.fit import projection as prefix_projection
from hushway.families.sequences.fit.projection import certified_tree, project_prefixes
from hushway.families.sequences.fit.tree_active_set import tight_nodes

NOBODY = np.empty(0, dtype=np.int64)


def wild(seed: int, nodes: int, reach: int) -> IntArray:
    """A forest in which each node hangs below one of the `reach` before it."""
    rng = np.random.default_rng(seed)
    places = np.arange(nodes)
    return np.maximum(-1, places - rng.integers(1, reach + 1, nodes))


def chain(nodes: int) -> IntArray:
    return np.arange(nodes) - 1


def star(nodes: int) -> IntArray:
    return np.where(np.arange(nodes) == 0, -1, 0)


def sums_of_children(parent: IntArray, values: FloatArray) -> FloatArray:
    below = parent >= 0
    return np.bincount(parent[below], values[below], len(parent)).astype(np.float64)


def by_interior_point(parent: IntArray, measured: IntArray, weights: FloatArray) -> FloatArray:
    nodes = len(parent)
    below = np.flatnonzero(parent >= 0)
    ends = sparse.identity(nodes) - sparse.csc_matrix(
        (np.ones(len(below)), (parent[below], below)), shape=(nodes, nodes)
    )
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    problem = clarabel.DefaultSolver(
        sparse.diags(weights, format="csc"),
        -weights * measured,
        sparse.csc_matrix(-ends),
        np.zeros(nodes),
        [clarabel.NonnegativeConeT(nodes)],
        settings,
    )
    return np.array(problem.solve().x)


def distance(values: FloatArray, measured: IntArray, weights: FloatArray) -> float:
    return float((weights * np.square(values - measured)).sum())


SHAPES: dict[str, Callable[[int], IntArray]] = {
    "bushy": lambda seed: wild(seed, 60, 60),
    "deep": lambda seed: wild(seed, 60, 3),
    "chain": lambda _: chain(30),
    "star": lambda _: star(40),
}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("counts", [(-10, 30), (0, 3), (5, 6)], ids=["noise", "ties", "equal"])
def test_no_interior_point_solver_finds_a_closer_tree(
    seed: int, shape: str, counts: tuple[int, int]
) -> None:
    rng = np.random.default_rng(seed)
    parent = SHAPES[shape](seed)
    measured = rng.integers(*counts, len(parent))
    weights = np.ones(len(parent)) if seed % 2 else rng.gamma(1, 1, len(parent)) + 0.05
    fit = project_prefixes(parent, measured, weights)
    other = by_interior_point(parent, measured, weights)
    assert np.all(fit.values >= 0)
    assert np.all(fit.values - sums_of_children(parent, fit.values) >= -1e-12 * fit.values.max())
    # The other solver stops at a tolerance on its objective, which is flat around the minimum.
    np.testing.assert_allclose(other, fit.values, atol=2e-2)
    ours, theirs = (distance(found, measured, weights) for found in (fit.values, other))
    assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-5)


def test_the_published_procedures_counterexample_becomes_consistent() -> None:
    fit = project_prefixes(np.array([-1, 0, 0]), np.array([60, 100, 8]), np.ones(3))
    np.testing.assert_allclose(fit.values, [80, 80, 0], atol=1e-12)


def test_two_children_share_what_they_lack_by_their_variances() -> None:
    # The parent may rise by as much as its variance says: 12 too much, shared 1 : 2 : 3.
    weights = 1 / np.array([1.0, 2.0, 3.0])
    fit = project_prefixes(np.array([-1, 0, 0]), np.array([50, 40, 22]), weights)
    np.testing.assert_allclose(fit.values, [52, 36, 16], atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_a_chain_is_the_closest_falling_sequence_cut_at_zero(seed: int) -> None:
    rng = np.random.default_rng(seed)
    measured = rng.integers(-40, 100, 200) - np.arange(200) // 4
    weights = rng.gamma(1, 1, 200) + 0.01
    fit = project_prefixes(chain(200), measured, weights)
    falling = isotonic_regression(measured, weights=weights, increasing=False).x
    np.testing.assert_allclose(fit.values, np.maximum(0, falling), atol=1e-9)


@pytest.mark.parametrize("children", [5, 16, 1000])
def test_a_star_below_its_children_is_a_projection_onto_a_simplex(children: int) -> None:
    rng = np.random.default_rng(children)
    measured = np.append(3, rng.integers(1, 100, children))
    # The top is as good as certain, so the children add up to it.
    weights = np.append(1e9, np.ones(children))
    fit = project_prefixes(star(children + 1), measured, weights)
    ordered = np.sort(measured[1:])[::-1]
    shifts = (np.cumsum(ordered) - 3) / np.arange(1, children + 1)
    shift = shifts[np.flatnonzero(ordered > shifts)[-1]]
    np.testing.assert_allclose(fit.values[1:], np.maximum(0, measured[1:] - shift), atol=1e-5)


def test_a_consistent_tree_stays_as_it_is() -> None:
    parent = np.array([-1, -1, 0, 0, 1, 2])
    measured = np.array([10, 5, 6, 4, 0, 6])
    fit = project_prefixes(parent, measured, np.array([1.0, 0.1, 3, 1, 1, 0.7]))
    np.testing.assert_array_equal(fit.values, measured)


def test_negative_counts_become_zero_with_all_that_is_below() -> None:
    fit = project_prefixes(chain(3), np.array([-5, -1, -7]), np.ones(3))
    np.testing.assert_array_equal(fit.values, [0, 0, 0])
    assert fit.steps == 3


def test_trees_of_a_forest_do_not_touch_each_other() -> None:
    one, two = wild(1, 50, 5), wild(2, 70, 9)
    measured = np.random.default_rng(3).integers(-5, 50, 120)
    apart = [
        project_prefixes(one, measured[:50], np.ones(50)).values,
        project_prefixes(two, measured[50:], np.ones(70)).values,
    ]
    together = np.concatenate([one, np.where(two < 0, -1, two + 50)])
    fit = project_prefixes(together, measured, np.ones(120))
    np.testing.assert_allclose(fit.values, np.concatenate(apart), atol=1e-12)


def test_the_order_of_siblings_does_not_matter() -> None:
    parent = np.array([-1, 0, 0, 0, 1, 1, 2, 3, 3])
    measured = np.array([20, 9, 14, 3, 8, 6, 13, 5, 1])
    swap = np.array([0, 3, 2, 1, 7, 8, 6, 4, 5])
    values = project_prefixes(parent, measured, np.ones(9)).values
    other = project_prefixes(parent, measured[swap], np.ones(9)).values
    np.testing.assert_allclose(other, values[swap], atol=1e-12)


def test_a_node_that_was_not_measured_is_the_sum_of_its_children() -> None:
    parent = np.array([-1, 0, 0, 1, 1, 2])
    measured = np.array([10, 999, -7, 8, 6, 4])
    weights = np.array([1.0, 0, 0, 1, 1, 1])
    fit = project_prefixes(parent, measured, weights)
    # 8 are too many, shared by four measurements.
    np.testing.assert_allclose(fit.values, [12, 10, 2, 6, 4, 2], atol=1e-12)


def test_an_unmeasured_tree_is_empty() -> None:
    fit = project_prefixes(chain(4), np.array([5, 4, 3, 2]), np.zeros(4))
    np.testing.assert_array_equal(fit.values, 0)


def test_no_tree_is_fitted_to_no_tree() -> None:
    fit = project_prefixes(NOBODY, NOBODY, np.empty(0))
    assert len(fit.values) == 0
    assert fit.relative == 0


@pytest.mark.parametrize("reach", [30, 300, 30_000])
def test_the_certificate_of_a_large_tree_is_near_the_rounding_of_floats(reach: int) -> None:
    parent = wild(5, 30_000, reach)
    rng = np.random.default_rng(reach)
    measured, weights = rng.integers(1, 60, 30_000), rng.choice([1.0, 0.01], 30_000)
    optimality = project_prefixes(parent, measured, weights)
    assert 0 < optimality.relative < 1e-11


def test_prices_far_above_the_total_are_certified_to_the_last_bits() -> None:
    # Nearly everything is 0, at a price of millions, which a double holds to 1e-9 only.
    parent, measured = chain(4), np.array([0, 0, -104541, 2])
    fit = project_prefixes(parent, measured, np.array([7.3, 0.1, 40, 0.1]))
    assert fit.relative < 1e-15


def test_weights_over_six_orders_of_magnitude_are_certified() -> None:
    rng = np.random.default_rng(1)
    parent, weights = wild(2, 30_000, 150), 10 ** rng.uniform(-3, 3, 30_000)
    fit = project_prefixes(parent, rng.integers(-20, 100, 30_000), weights)
    assert fit.relative < 1e-11


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_holds_for_any_guess_of_the_tight_nodes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parent = wild(seed, 25, 6)
    measured, weights = rng.integers(-5, 40, 25).astype(float), rng.gamma(1, 1, 25) + 0.1
    exact = project_prefixes(parent, measured.astype(np.int64), weights).values
    guess = tight_nodes(parent, measured, weights)
    guess[rng.choice(25, 1 + seed % 10, replace=False)] ^= True
    found = certified_tree(parent, guess, measured, weights)
    away = np.linalg.norm(found.values - exact)
    assert away <= found.kkt_residual < 1e3


def test_a_fit_that_cannot_be_certified_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing_tight = np.zeros(3, dtype=bool)
    monkeypatch.setattr(prefix_projection, "tight_nodes", lambda *_: nothing_tight)
    with pytest.raises(ReleaseError, match="within"):
        project_prefixes(np.array([-1, 0, 0]), np.array([60, 100, 8]), np.ones(3))


@pytest.mark.parametrize("weights", [[1e-300, 1.0, 1e300], [1e300, 1e-300, 1e-300]])
def test_weights_beyond_the_range_of_floats_are_refused_or_certified(weights: list[float]) -> None:
    try:
        fit = project_prefixes(np.array([-1, 0, 0]), np.array([60, 100, 8]), np.array(weights))
    except ReleaseError:
        return
    assert fit.relative <= 1e-9


@pytest.mark.parametrize("parent", [[0], [-2], [1, -1], [-1, 5]])
def test_parents_must_stand_before_their_children(parent: list[int]) -> None:
    with pytest.raises(ReleaseError, match="stand before"):
        project_prefixes(np.array(parent), np.ones(len(parent), dtype=int), np.ones(len(parent)))


def test_every_node_needs_one_count_and_one_weight() -> None:
    with pytest.raises(ReleaseError, match="2 nodes got 3"):
        project_prefixes(chain(2), np.array([1, 2, 3]), np.ones(2))
    with pytest.raises(ReleaseError, match="2 nodes got 1"):
        project_prefixes(chain(2), np.array([1, 2]), np.ones(1))


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_what_is_no_weight_is_refused(weight: float) -> None:
    with pytest.raises(ReleaseError, match="weight"):
        project_prefixes(chain(2), np.array([1, 2]), np.array([1.0, weight]))


@pytest.mark.parametrize("count", [2**53, -(2**53)])
def test_counts_that_floats_cannot_tell_apart_are_refused(count: int) -> None:
    with pytest.raises(ReleaseError, match="2\\^53"):
        project_prefixes(chain(2), np.array([1, count]), np.ones(2))
