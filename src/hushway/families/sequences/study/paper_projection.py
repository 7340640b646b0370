"""The two-phase consistency of Chen, Fung, Desai and Sossou (KDD 2012, section 4.2), as published.

For comparison only. Their result can be negative, and a node's children can exceed it: a node of 60
with children of 100 and 8 becomes 70 with 71 and -1. The closest tree is in `prefix_projection`.

Phase one fits every path from a leaf to the top by the closest rising sequence, and takes for each
node the mean over all paths through it. Paths share their upper parts, and so does the work: the
blocks of equal values on a path are kept as a list from its lower end upwards, and the list of a
node begins with a block of its own and goes on with the list of a node above. A block then counts
for as many leaves as have it in their list, and for the nodes it covers. Finding the blocks takes
as many steps as blocks are joined, at most the depth for each node; the rest is linear.
"""

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.mechanism.forest import refuse_misplaced, refuse_unlike
from hushway.numerics.compiled import compiled


def faithful_consistency(parent: IntArray, measured: IntArray) -> FloatArray:
    """Returns the published procedure's estimates, which need not be consistent.

    Args:
        parent: The node above each node, -1 for those of level 1; parents stand before their
            children. The paper leaves out the nodes of groups.
        measured: The noisy count of each node.

    Privacy:
        Everything here is computed from noisy counts: post-processing, which costs nothing.

    Raises:
        ReleaseError: The input does not fit together.
    """
    refuse_misplaced(parent)
    refuse_unlike(parent, measured)
    return _corrected(parent, _means_over_leaves(parent, measured.astype(np.float64)))


@compiled
def _means_over_leaves(parent: IntArray, measured: FloatArray) -> FloatArray:
    """Returns, for each node, the mean of its rising fits on the paths from all leaves below it."""
    nodes = len(parent)
    block = np.empty(nodes)
    size = np.empty(nodes, dtype=np.int64)
    beyond = np.empty(nodes, dtype=np.int64)
    uses = np.ones(nodes)
    for v in range(nodes):
        total, count, above = measured[v], 1, parent[v]
        while above >= 0 and block[above] * count < total:
            total += block[above] * size[above]
            count += size[above]
            above = beyond[above]
        block[v], size[v], beyond[v] = total / count, count, above
        if parent[v] >= 0:
            uses[parent[v]] = 0
    leaves = uses.copy()
    # A block covers the nodes from its own up to, but without, the one its list goes on with.
    sums = np.zeros(nodes)
    for v in range(nodes - 1, -1, -1):
        sums[v] += uses[v] * block[v]
        if beyond[v] >= 0:
            uses[beyond[v]] += uses[v]
            sums[beyond[v]] -= uses[v] * block[v]
        if parent[v] >= 0:
            sums[parent[v]] += sums[v]
            leaves[parent[v]] += leaves[v]
    return sums / leaves


@compiled
def _corrected(parent: IntArray, means: FloatArray) -> FloatArray:
    """Lowers the children of a node by equal amounts to its own corrected value, from the top."""
    nodes = len(parent)
    below = np.zeros(nodes)
    fan_out = np.zeros(nodes)
    for v in range(nodes):
        if parent[v] >= 0:
            below[parent[v]] += means[v]
            fan_out[parent[v]] += 1
    values = means.copy()
    for v in range(nodes):
        above = parent[v]
        if above >= 0:
            values[v] += min(0.0, (values[above] - below[above]) / fan_out[above])
    return values
