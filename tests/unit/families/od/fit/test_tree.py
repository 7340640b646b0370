from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PlanError, ReleaseError
from hushway.families.od.fit.tree import TreeLevel, infer_tree
from hushway.families.od.mechanism.shares import geometric_shares

NOBODY = np.empty(0, dtype=np.int64)


def uneven_tree(seed: int, variances: tuple[float, ...]) -> list[TreeLevel]:
    rng = np.random.default_rng(seed)
    sizes = [1, 3, 7, 15, 40][: len(variances)]
    levels = []
    for depth, (size, variance) in enumerate(zip(sizes, variances, strict=True)):
        parent = NOBODY
        if depth:
            above = sizes[depth - 1]
            some = rng.integers(0, above, size - above)
            parent = rng.permutation(np.concatenate([np.arange(above), some]))
        values = rng.normal(5, 20, size)
        levels.append(TreeLevel(values=values, variance=variance, parent=parent))
    return levels


def sums_of_leaves(levels: list[TreeLevel]) -> list[FloatArray]:
    """One matrix for each level: which leaves lie under which node."""
    matrices = [np.eye(len(levels[-1].values))]
    for above, below in zip(levels[-2::-1], levels[:0:-1], strict=True):
        joined = np.zeros((len(above.values), len(levels[-1].values)))
        np.add.at(joined, below.parent, matrices[-1])
        matrices.append(joined)
    return matrices[::-1]


def least_squares(levels: list[TreeLevel]) -> list[FloatArray]:
    matrices = sums_of_leaves(levels)
    weights = np.concatenate([np.full(len(level.values), level.variance**-0.5) for level in levels])
    measured = np.concatenate([level.values for level in levels])
    leaves, *_ = np.linalg.lstsq(
        np.vstack(matrices) * weights[:, None], measured * weights, rcond=None
    )
    return [matrix @ leaves for matrix in matrices]


def level(values: list[float], variance: float, parent: list[int]) -> TreeLevel:
    places: IntArray = np.array(parent, dtype=np.int64)
    return TreeLevel(values=np.array(values), variance=variance, parent=places)


@pytest.mark.parametrize(
    "variances",
    [
        (3.0,),
        (3.0, 3.0),
        (1.0, 1.0, 1.0, 1.0),
        (50.0, 8.0, 2.0, 0.5),
        (0.5, 9.0, 1.0, 70.0, 4.0),
        (float("inf"), 2.0, 5.0),
        (4.0, float("inf"), 5.0, 0.1),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_without_pruning_the_tree_is_the_weighted_least_squares_solution(
    seed: int, variances: tuple[float, ...]
) -> None:
    levels = uneven_tree(seed, variances)
    for found, expected in zip(infer_tree(levels, prune=False), least_squares(levels), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_what_stands_in_an_unmeasured_level_does_not_matter() -> None:
    below = level([3, 4, 5], 2.0, [0, 0, 1])
    one = infer_tree([level([np.nan, 7e9], np.inf, []), below], prune=False)
    np.testing.assert_array_equal(one[0], [7, 5])
    np.testing.assert_array_equal(one[1], [3, 4, 5])


def test_whole_numbers_may_come_in() -> None:
    levels = [
        TreeLevel(values=np.array([10]), variance=1.0, parent=NOBODY),
        TreeLevel(values=np.array([3, 4]), variance=1.0, parent=np.array([0, 0])),
    ]
    root, leaves = infer_tree(levels, prune=False)
    np.testing.assert_allclose(root, [9])
    np.testing.assert_allclose(leaves, [4, 5])


def test_several_roots_are_trees_of_their_own() -> None:
    levels = [level([10, 0], 1.0, []), level([3, 4, 6], 1.0, [0, 0, 1])]
    roots, leaves = infer_tree(levels, prune=False)
    np.testing.assert_allclose(roots, [9, 3])
    np.testing.assert_allclose(leaves, [4, 5, 3])


def test_a_node_without_children_stands_for_nothing() -> None:
    levels = [level([9], 1.0, []), level([4, 100], 1.0, [0, 0]), level([5], 1.0, [0])]
    root, middle, leaves = infer_tree(levels, prune=False)
    assert middle[1] == 0
    np.testing.assert_allclose(root, middle.sum())
    np.testing.assert_allclose(leaves, middle[:1])


def test_a_pruned_node_is_zero_with_everything_below_it() -> None:
    levels = [
        level([20], 1.0, []),
        level([30, -50], 1.0, [0, 0]),
        level([10, 12, 5, 4], 1.0, [0, 0, 1, 1]),
    ]
    _, middle, leaves = infer_tree(levels, prune=True)
    assert middle[1] == 0
    np.testing.assert_array_equal(leaves[2:], 0)
    assert np.all(leaves[:2] > 0)


def test_pruning_looks_at_values_that_add_up_already() -> None:
    levels = [level([10], 1.0, []), level([6, -1, 7], 1.0, [0, 0, 0])]
    root, leaves = infer_tree(levels, prune=True)
    # Going up (3 * 10 + 12) / 4; going down, each leaf loses a third of the missing 1.5.
    np.testing.assert_allclose(root, [10.5])
    np.testing.assert_allclose(leaves, [5.5, 0, 6.5])


def test_a_leaf_that_the_consistent_tree_lifts_above_zero_is_kept() -> None:
    levels = [level([30], 0.1, []), level([-1, 2], 5.0, [0, 0])]
    assert np.all(infer_tree(levels, prune=True)[1] > 0)


def test_early_pruning_shares_the_parent_among_what_is_left() -> None:
    levels = [level([10], 1.0, []), level([6, -1, 7], 1.0, [0, 0, 0])]
    root, leaves = infer_tree(levels, prune=False, prune_early=True)
    # Going up (3 * 10 + 12) / 4; going down, the two leaves lose half of 2.5 each.
    np.testing.assert_allclose(root, [10.5])
    np.testing.assert_allclose(leaves, [4.75, 0, 5.75])


@pytest.mark.parametrize("seed", range(5))
def test_after_early_pruning_every_node_with_a_child_left_is_the_sum_of_its_children(
    seed: int,
) -> None:
    levels = uneven_tree(seed, (4.0, 3.0, 2.0, 1.0))
    found = infer_tree(levels, prune=False, prune_early=True)
    for above, here, below in zip(found, found[1:], levels[1:], strict=False):
        assert not np.any(here[above[below.parent] == 0])
        sums = np.bincount(below.parent, here, len(above))
        left = np.bincount(below.parent, here != 0, len(above)) > 0
        np.testing.assert_allclose(sums[left], above[left])
    assert any(np.any(here == 0) for here in found)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_not_pruned_is_as_in_the_consistent_tree(seed: int) -> None:
    levels = uneven_tree(seed, (4.0, 3.0, 2.0, 1.0))
    whole, pruned = (infer_tree(levels, prune=prune) for prune in (False, True))
    for above, here, all_of_it, below in zip(
        pruned, pruned[1:], whole[1:], levels[1:], strict=False
    ):
        np.testing.assert_array_equal(here, np.where(here != 0, all_of_it, 0))
        np.testing.assert_array_equal(here[above[below.parent] == 0], 0)
        assert np.all(here >= 0)
    assert any(np.any(here == 0) for here in pruned)


def test_leaves_must_be_measured() -> None:
    with pytest.raises(ReleaseError, match="measured leaves"):
        infer_tree([level([1], 1.0, []), level([1], np.inf, [0])], prune=False)


@pytest.mark.parametrize("parent", [[0, 1], [-1, 0], [0]])
def test_a_parent_that_does_not_exist_is_refused(parent: list[int]) -> None:
    with pytest.raises(ReleaseError, match="no parent"):
        infer_tree([level([1], 1.0, []), level([1, 2], 1.0, parent)], prune=False)


def test_a_tree_without_levels_is_refused() -> None:
    with pytest.raises(ReleaseError, match="at least one level"):
        infer_tree([], prune=False)


@pytest.mark.parametrize("levels", [1, 2, 3, 4, 5, 12, 50])
def test_shares_are_positive_grow_downwards_and_add_up_to_one(levels: int) -> None:
    shares = geometric_shares(levels)
    assert len(shares) == levels
    assert sum(shares) == 1
    assert all(share > 0 for share in shares)
    assert list(shares) == sorted(shares)
    assert all((share * 10**6).denominator == 1 for share in shares)


def test_shares_follow_the_closed_formula() -> None:
    height = 4
    for place, share in enumerate(geometric_shares(height + 1)):
        level_number = height - place
        exact = (
            2 ** ((height - level_number) / 3) * (2 ** (1 / 3) - 1) / (2 ** ((height + 1) / 3) - 1)
        )
        assert abs(float(share) - exact) < 5e-6


def test_the_only_level_gets_everything() -> None:
    assert geometric_shares(1) == (Fraction(1),)


@pytest.mark.parametrize("levels", [0, -1, 60])
def test_a_budget_is_not_split_over_no_level_or_too_many(levels: int) -> None:
    with pytest.raises(PlanError, match=f"{levels} levels"):
        geometric_shares(levels)
