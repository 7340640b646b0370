import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.sequences.study.paper import paper_consistency


def path_by_path(parent: IntArray, measured: IntArray) -> FloatArray:
    """The published procedure, word by word."""
    nodes = len(parent)
    estimates: list[list[float]] = [[] for _ in range(nodes)]
    for leaf in set(range(nodes)) - set(parent.tolist()):
        path = [leaf]
        while parent[path[-1]] >= 0:
            path.append(int(parent[path[-1]]))
        for node, value in zip(path, isotonic_regression(measured[path]).x, strict=True):
            estimates[node].append(value)
    means = np.array([np.mean(values) for values in estimates])
    corrected = means.copy()
    for node in range(nodes):
        if parent[node] >= 0:
            siblings = np.flatnonzero(parent == parent[node])
            missing = corrected[parent[node]] - means[siblings].sum()
            corrected[node] += min(0, missing / len(siblings))
    return corrected


@pytest.mark.parametrize("reach", [1, 3, 10, 80])
@pytest.mark.parametrize("seed", range(5))
def test_shared_work_gives_what_going_path_by_path_gives(reach: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parent = np.maximum(-1, np.arange(80) - rng.integers(1, reach + 1, 80))
    measured = rng.integers(-10, 60, 80)
    found = paper_consistency(parent, measured)
    np.testing.assert_allclose(found, path_by_path(parent, measured), atol=1e-9)


def test_the_published_procedure_can_give_negative_counts() -> None:
    found = paper_consistency(np.array([-1, 0, 0]), np.array([60, 100, 8]))
    np.testing.assert_allclose(found, [70, 71, -1], atol=1e-12)


def test_counts_that_fall_along_every_path_and_add_up_stay() -> None:
    parent = np.array([-1, 0, 0, 1])
    found = paper_consistency(parent, np.array([60, 30, 8, 8]))
    np.testing.assert_array_equal(found, [60, 30, 8, 8])


def test_a_large_tree_of_many_leaves_keeps_its_precision() -> None:
    # The top is above all others, so its mean over 200,000 leaves is its own count.
    rng = np.random.default_rng(1)
    parent = np.concatenate([[-1], np.maximum(0, np.arange(1, 300_000) // 4)])
    measured = np.append(10**7, rng.integers(0, 10**6, 299_999))
    assert paper_consistency(parent, measured)[0] == pytest.approx(10**7, rel=1e-12)


def test_no_tree_gives_no_estimates() -> None:
    nobody = np.empty(0, dtype=np.int64)
    assert len(paper_consistency(nobody, nobody)) == 0


def test_a_tree_out_of_order_is_refused() -> None:
    with pytest.raises(ReleaseError, match="stand before"):
        paper_consistency(np.array([1, -1]), np.array([3, 4]))
    with pytest.raises(ReleaseError, match="2 nodes got 1"):
        paper_consistency(np.array([-1, 0]), np.array([3]))
