"""The shape of a prefix tree: for each node the node above it, and lists of children.

The root of a prefix tree holds everybody, is not measured and constrains nothing. So what is fitted
is a forest: the nodes of the first step, and everything below them.
"""

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.numerics.compiled import compiled


def refuse_misplaced(parent: IntArray) -> None:
    """Refuses a forest in which a node does not stand behind the node above it.

    Raises:
        ReleaseError: A parent is neither -1 nor the place of an earlier node.
    """
    if len(parent) and (parent.min() < -1 or np.any(parent >= np.arange(len(parent)))):
        raise ReleaseError(
            "A node of the prefix tree has a parent that does not stand before it.",
            advice="Order nodes step by step; give -1 as the parent of those of the first step.",
        )


def refuse_unlike(parent: IntArray, one_each: IntArray | FloatArray) -> None:
    """Refuses values that are not one for each node.

    Raises:
        ReleaseError: There are more or fewer of them than nodes.
    """
    if one_each.shape != parent.shape:
        raise ReleaseError(
            f"A prefix tree of {len(parent)} nodes got {len(one_each)} values.",
            advice="Give one value for each node, in the order of the nodes.",
        )


@compiled
def children_of(parent: IntArray) -> tuple[IntArray, IntArray]:
    """Lists the children of every node.

    Returns:
        Where the children of each node begin, one entry more than nodes; and the children, those of
        the first node first, in their order.
    """
    nodes = len(parent)
    start = np.zeros(nodes + 1, dtype=np.int64)
    for v in range(nodes):
        if parent[v] >= 0:
            start[parent[v] + 1] += 1
    for v in range(nodes):
        start[v + 1] += start[v]
    children = np.empty(start[nodes], dtype=np.int64)
    free = start[:nodes].copy()
    for v in range(nodes):
        if parent[v] >= 0:
            children[free[parent[v]]] = v
            free[parent[v]] += 1
    return start, children
