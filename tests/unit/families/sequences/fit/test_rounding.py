import numpy as np
import pytest

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.sequences.fit.projection import project_prefixes
from hushway.families.sequences.fit.rounding import ends, round_prefixes


def grown(seed: int, nodes: int, reach: int, step: float) -> tuple[IntArray, FloatArray]:
    """A consistent forest whose values are multiples of a step."""
    rng = np.random.default_rng(seed)
    parent = np.maximum(-1, np.arange(nodes) - rng.integers(1, reach + 1, nodes))
    values: FloatArray = rng.integers(0, 12, nodes) * np.float64(step)
    values[rng.random(nodes) < 0.4] = 0
    for v in range(nodes - 1, -1, -1):
        if parent[v] >= 0:
            values[parent[v]] += values[v]
    return parent, values


def is_floor_or_ceiling(real: FloatArray, whole: IntArray) -> bool:
    return bool(np.all((whole == np.floor(real)) | (whole == np.ceil(real))))


def ending(parent: IntArray, values: FloatArray) -> FloatArray:
    below = parent >= 0
    return values - np.bincount(parent[below], values[below], len(parent))


@pytest.mark.parametrize("reach", [1, 4, 30, 300])
@pytest.mark.parametrize("seed", range(10))
def test_every_node_and_every_number_of_ends_is_floor_or_ceiling(seed: int, reach: int) -> None:
    # Eighths are added without an error, and many sums of them are whole.
    parent, values = grown(seed, 300, reach, 1 / 8)
    counts = round_prefixes(parent, values)
    assert counts.dtype == np.int64
    assert is_floor_or_ceiling(values, counts)
    assert is_floor_or_ceiling(ending(parent, values), ends(parent, counts))
    top = parent < 0
    assert np.all(np.abs(counts - values)[top] <= 0.5)


@pytest.mark.parametrize("seed", range(5))
def test_a_fitted_tree_is_rounded_consistently(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parent = np.maximum(-1, np.arange(20_000) - rng.integers(1, 4000, 20_000))
    fit = project_prefixes(parent, rng.integers(1, 50, 20_000), rng.gamma(1, 1, 20_000) + 0.1)
    counts = round_prefixes(parent, fit.values)
    left = ends(parent, counts)
    assert counts.min() >= 0
    assert left.min() == 0
    assert np.abs(counts - fit.values).max() < 1 + 1e-8
    real = ending(parent, fit.values)
    assert np.abs(left - real).max() < 1 + 1e-8
    assert not np.any(left[real < 1e-9])


def test_whole_trees_come_back_unmoved() -> None:
    parent, values = grown(0, 500, 20, 1)
    np.testing.assert_array_equal(round_prefixes(parent, values), values)


def test_the_largest_remainders_are_rounded_up() -> None:
    parent = np.array([-1, 0, 0, 0])
    counts = round_prefixes(parent, np.array([4.0, 1.2, 0.7, 1.9]))
    np.testing.assert_array_equal(counts, [4, 1, 1, 2])


def test_those_who_end_have_a_remainder_too() -> None:
    parent = np.array([-1, 0, 0])
    np.testing.assert_array_equal(round_prefixes(parent, np.array([3.0, 1.2, 0.9])), [3, 1, 1])
    np.testing.assert_array_equal(round_prefixes(parent, np.array([3.0, 1.2, 0.2])), [3, 1, 0])
    np.testing.assert_array_equal(round_prefixes(parent, np.array([2.0, 1.5, 0.4])), [2, 2, 0])


def test_thirds_add_up_to_their_whole() -> None:
    parent = np.array([-1, 0, 0, 0])
    counts = round_prefixes(parent, np.array([1.0, 1 / 3, 1 / 3, 1 / 3]))
    np.testing.assert_array_equal(ends(parent, counts), [0, *counts[1:]])
    assert counts[1:].sum() == 1


def test_a_million_children_with_errors_of_floats_leave_nobody_behind() -> None:
    children = 1_000_000
    shares = np.random.default_rng(0).random(children)
    values = np.append(shares.sum(), shares)
    parent = np.append(-1, np.zeros(children, dtype=np.int64))
    counts = round_prefixes(parent, values)
    assert ends(parent, counts)[0] == 0
    assert abs(counts[0] - values[0]) <= 0.5
    # Who is rounded up has a larger remainder than who is not.
    assert shares[counts[1:] == 1].min() >= shares[counts[1:] == 0].max()


def test_a_whole_sum_of_a_million_fractions_is_whole() -> None:
    # If fractions were rounded before they are added, the sum would pass 700,000 by 0.0002, and win
    # over its siblings of 0.0001.
    many, few = 1_000_000, 10_000
    values = np.concatenate([[700_001, 700_000], np.full(few, 1 / few), np.full(many, 0.7)])
    parent = np.concatenate([[-1, 0], np.full(few, 0), np.full(many, 1)])
    counts = round_prefixes(parent, values)
    assert counts[1] == 700_000
    assert counts[2 : 2 + few].sum() == 1
    assert not ends(parent, counts)[:2].any()


def test_no_part_of_many_equal_children_gains_from_its_place() -> None:
    children = 10_000
    parent = np.append(-1, np.zeros(children, dtype=np.int64))
    counts = round_prefixes(parent, np.append(3000.0, np.full(children, 0.3)))
    by_hundred = counts[1:].reshape(100, 100).sum(axis=1)
    assert (by_hundred.min(), by_hundred.max()) == (30, 30)


def test_no_child_gains_from_its_place_among_few_equals() -> None:
    families = 3000
    parent = np.append(np.full(families, -1), np.repeat(np.arange(families), 3))
    counts = round_prefixes(parent, np.append(np.ones(families), np.full(3 * families, 1 / 3)))
    by_place = counts[families:].reshape(families, 3).sum(axis=0)
    np.testing.assert_array_equal(by_place, families // 3)


def test_no_tree_is_rounded_to_no_tree() -> None:
    nobody = np.empty(0, dtype=np.int64)
    assert len(round_prefixes(nobody, np.empty(0))) == 0
    assert len(ends(nobody, nobody)) == 0


@pytest.mark.parametrize("value", [-0.5, np.nan, np.inf, 2.0**32])
def test_what_is_not_a_count_is_not_rounded(value: float) -> None:
    with pytest.raises(ReleaseError, match="rounded to a count"):
        round_prefixes(np.array([-1, -1]), np.array([1.0, value]))


def test_the_largest_counts_are_exact() -> None:
    counts = round_prefixes(np.array([-1, 0]), np.array([2.0**32 - 1, 2.0**32 - 2]))
    np.testing.assert_array_equal(counts, [2**32 - 1, 2**32 - 2])


@pytest.mark.parametrize("values", [[2.0, 1.5, 0.6], [1e6, 1e6, 0.5], [1.0, 4e9, 4e9]])
def test_children_that_exceed_their_parent_are_refused(values: list[float]) -> None:
    with pytest.raises(ReleaseError, match="exceed"):
        round_prefixes(np.array([-1, 0, 0]), np.array(values))


def test_a_tree_out_of_order_is_refused() -> None:
    with pytest.raises(ReleaseError, match="stand before"):
        round_prefixes(np.array([1, -1]), np.ones(2))
    with pytest.raises(ReleaseError, match="stand before"):
        ends(np.array([1, -1]), np.ones(2, dtype=np.int64))
    with pytest.raises(ReleaseError, match="2 nodes got 3"):
        ends(np.array([-1, 0]), np.ones(3, dtype=np.int64))
