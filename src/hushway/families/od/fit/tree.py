"""Consistent counts on a tree of noisy ones: the post-processing of the hierarchical mechanism.

Every node of a tree is measured, each level with a noise of its own. Without pruning the result is
the exact weighted least-squares solution among trees whose nodes are the sums of their children,
found in two passes (Hay, Rastogi, Miklau and Suciu 2010; with uneven budgets, Cormode, Procopiuc,
Srivastava, Shen and Yu 2012). Going up, a node's own measurement is averaged with the sum of its
children, by their variances. Going down, what the children lack of their parent's value is shared
among them in proportion to their variances.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeLevel:
    """The noisy counts of one level.

    Attributes:
        variance: Variance of their noise; infinite for a level that was not measured.
        parent: The place of each node's parent in the level above; empty at the top.
    """

    values: IntArray | FloatArray
    variance: float
    parent: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class _Averaged:
    """Best values of a level given the nodes below, and their variances (one for all leaves)."""

    values: FloatArray
    variances: FloatArray | float


def infer_tree(
    levels: Sequence[TreeLevel], *, prune: bool, prune_early: bool = False
) -> tuple[FloatArray, ...]:
    """Makes the levels of a tree add up; returns the values of each.

    A node without children, other than a leaf, stands for nothing and is 0.

    Args:
        levels: From the root, or several roots, down to the leaves, which must be measured.
        prune: Whether a consistent node at or below 0 is set to 0 with all its descendants (the
            heuristic of Hay et al.). What is left then adds up to more than the node above it.
        prune_early: Whether averaged nodes at or below 0 are cut off likewise before the others are
            made to add up. What is left adds up, but may be negative.

    Raises:
        ReleaseError: There is no level, a parent does not exist, or the leaves were not measured.
    """
    _check(levels)
    averaged = _upwards(levels)
    if prune_early:
        averaged = _cut_off(levels, averaged)
    results = [averaged[0].values]
    for level, here in zip(levels[1:], averaged[1:], strict=True):
        results.append(_shared(here, level.parent, results[-1]))
    return _pruned(levels, results) if prune else tuple(results)


def _cut_off(levels: Sequence[TreeLevel], averaged: Sequence[_Averaged]) -> list[_Averaged]:
    """Empties nodes at or below 0 and all below them, so that they take no share of anything."""
    kept = averaged[0].values > 0
    results = [replace(averaged[0], values=np.where(kept, averaged[0].values, 0.0))]
    for level, here in zip(levels[1:], averaged[1:], strict=True):
        kept = kept[level.parent] & (here.values > 0)
        variances = np.where(kept, here.variances, 0.0)
        results.append(_Averaged(values=here.values * kept, variances=variances))
    return results


def _pruned(levels: Sequence[TreeLevel], values: Sequence[FloatArray]) -> tuple[FloatArray, ...]:
    kept = values[0] > 0
    results = [np.where(kept, values[0], 0.0)]
    for level, here in zip(levels[1:], values[1:], strict=True):
        kept = kept[level.parent] & (here > 0)
        results.append(np.where(kept, here, 0.0))
    return tuple(results)


def _upwards(levels: Sequence[TreeLevel]) -> list[_Averaged]:
    leaves = levels[-1]
    averaged = [
        _Averaged(values=leaves.values.astype(np.float64), variances=float(leaves.variance))
    ]
    for level, below in zip(levels[-2::-1], levels[:0:-1], strict=True):
        averaged.append(_averaged(level, averaged[-1], below.parent))
    return averaged[::-1]


def _averaged(level: TreeLevel, below: _Averaged, parent: IntArray) -> _Averaged:
    """Averages the measurements of a level with the sums of the level below."""
    values = _sums(below.values, parent, len(level.values))
    variances = _sums(below.variances, parent, len(level.values))
    own = variances / (variances + level.variance)
    # An unmeasured level has no say, whatever stands in its values.
    if np.isfinite(level.variance):
        values += own * (level.values - values)
        variances = own * level.variance
    return _Averaged(values=values, variances=variances)


def _shared(here: _Averaged, parent: IntArray, above: FloatArray) -> FloatArray:
    """Shares what the children of each node lack of its value, by their variances."""
    lacking = above - _sums(here.values, parent, len(above))
    together = _sums(here.variances, parent, len(above))
    rate = np.divide(lacking, together, out=np.zeros(len(above)), where=together > 0)
    shares = rate[parent]
    shares *= here.variances
    shares += here.values
    return shares


def _sums(weights: FloatArray | float, parent: IntArray, count: int) -> FloatArray:
    """Adds up the children of each node; one weight stands for all of them."""
    if isinstance(weights, float):
        return np.bincount(parent, minlength=count) * np.float64(weights)
    return np.bincount(parent, weights, count).astype(np.float64, copy=False)


def _check(levels: Sequence[TreeLevel]) -> None:
    if not levels:
        raise ReleaseError("A tree needs at least one level.", advice="Give the leaves.")
    for above, level in pairwise(levels):
        if len(level.parent) != len(level.values) or (
            len(level.parent)
            and not 0 <= level.parent.min() <= level.parent.max() < len(above.values)
        ):
            raise ReleaseError(
                "A node of the tree has no parent in the level above.",
                advice="Give each node of a level the place of its parent in the level above.",
            )
    if not all(level.variance > 0 for level in levels) or not np.isfinite(levels[-1].variance):
        raise ReleaseError(
            "A tree needs measured leaves, and noise on every level.",
            advice="Give each level its positive variance; only levels above may be infinite.",
        )
