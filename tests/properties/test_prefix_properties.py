"""Consistent prefix trees against their definitions, on trees nobody chose."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.fit.projection import project_prefixes
from hushway.families.sequences.fit.rounding import ends, round_prefixes

EXAMPLES = settings(max_examples=150, deadline=None)

Tree = tuple[IntArray, IntArray, FloatArray]


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """A forest with counts and weights, some of which may be 0."""
    nodes = draw(st.integers(1, 40))
    reach = draw(st.integers(1, nodes))
    parent = [draw(st.integers(max(-1, v - reach), v - 1)) for v in range(nodes)]
    count = st.integers(*draw(st.sampled_from([(0, 2), (-20, 60), (-(10**6), 10**6)])))
    measured = draw(st.lists(count, min_size=nodes, max_size=nodes))
    weight = st.sampled_from(draw(st.sampled_from([[1.0], [0.0, 1.0], [0.1, 1.0, 7.3, 40.0]])))
    weights = draw(st.lists(weight, min_size=nodes, max_size=nodes))
    return np.array(parent), np.array(measured), np.array(weights)


def ending(parent: IntArray, values: FloatArray) -> FloatArray:
    below = parent >= 0
    return values - np.bincount(parent[below], values[below], len(parent))


@EXAMPLES
@given(tree=trees())
def test_a_fit_fulfils_the_conditions_of_a_minimum(tree: Tree) -> None:
    parent, measured, weights = tree
    fit = project_prefixes(parent, measured, weights)
    left = ending(parent, fit.values)
    # The slope of the objective in the number of sequences that end at each node.
    slopes = weights * (fit.values - measured)
    for v in np.flatnonzero(parent >= 0):
        slopes[v] += slopes[parent[v]]
    size = 1 + np.abs(measured).max()
    assert fit.values.min() >= 0
    assert left.min() >= -1e-11 * size
    assert slopes.min() >= -1e-9 * size
    assert np.abs(np.minimum(left, slopes)).max() <= 1e-9 * size


@EXAMPLES
@given(tree=trees())
def test_fitting_a_fitted_tree_again_changes_nothing(tree: Tree) -> None:
    parent, measured, weights = tree
    counts = round_prefixes(parent, project_prefixes(parent, measured, weights).values)
    again = project_prefixes(parent, counts, np.where(weights > 0, weights, 1.0))
    np.testing.assert_array_equal(again.values, counts)


@EXAMPLES
@given(tree=trees(), shift=st.integers(0, 5))
def test_more_at_the_top_never_means_less_anywhere(tree: Tree, shift: int) -> None:
    parent, measured, weights = tree
    raised = measured + shift * (parent < 0)
    before = project_prefixes(parent, measured, weights).values
    after = project_prefixes(parent, raised, weights).values
    assert np.all(after >= before - 1e-9 * (1 + np.abs(measured).max()))


@EXAMPLES
@given(tree=trees())
def test_whole_counts_are_consistent_and_within_one_of_the_fit(tree: Tree) -> None:
    parent, measured, weights = tree
    values = project_prefixes(parent, measured, weights).values
    counts = round_prefixes(parent, values)
    left = ends(parent, counts)
    assert left.min() >= 0
    assert np.abs(counts - values).max() < 1 + 1e-8
    assert np.abs(left - ending(parent, values)).max() < 1 + 1e-8
    assert np.abs(counts - values)[parent < 0].max() <= 0.5 + 1e-6
