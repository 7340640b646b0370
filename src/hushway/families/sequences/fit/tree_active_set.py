"""The active set of the tree projection: nodes with nothing left for sequences that end there.

The fit minimises half the sum of weight * (x - measured)^2 over x with x_v >= sum of the children
(isotonic regression on a tree). With a multiplier (price) y_v >= 0 for the constraint of node v,
and that of the node above written p, the best x_v = measured_v + (y_v - p) / weight_v. A node is
loose if y_v = 0, else it is tight: its children use up all of it. A leaf is tight if it is 0.

So a subtree answers a price p from above with x_v, a falling function, linear in pieces. That of a
tight node follows from the sum of its children's: x_v = S - T y for y up to the next place where a
child's function bends. Here these functions are never written down. Nodes are taken from the last
to the first, each with price 0 from above. If that is not enough, the prices below it rise, bend by
bend, until it is; a bend is a node that turns from loose to tight. Prices never fall, so a node
turns once, and what was found below is never undone. Loose nodes hide all that is below them, and
a heap in each tight node knows which child bends next.

This is the dynamic programme on piecewise-linear derivatives, evaluated only as far as needed. A
bend costs a step for each tight node above it, and the logarithm of its number of children.
"""

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.numerics.compiled import compiled

# Columns of the table of nodes. The node's value is LEVEL - SLOPE * price from above, for prices up
# to its bend; the sum of its children's is BELOW - FALL * its own price. TIGHT is 0 or 1.
_MEASURED, _WEIGHT, _LEVEL, _SLOPE, _BELOW, _FALL, _TIGHT = range(7)

# Columns of the table of links: the node above, and where the list of children begins.
_PARENT, _FIRST = range(2)

# Children are looked at together where there are so many, and once more if one in so many turned.
_MANY = 16
_STILL_MANY = 8


@compiled
def tight_nodes(parent: IntArray, measured: FloatArray, weights: FloatArray) -> BoolArray:
    """Finds the nodes that are tight in the closest consistent tree.

    A node of weight 0 is always tight: nothing was measured that could exceed its children.

    Args:
        parent: The node above each node, -1 for none; parents stand before their children.
        weights: One over the variance of each measurement; 0 where nothing was measured.
    """
    nodes = len(parent)
    start, children = children_of(parent)
    links = np.empty((nodes + 1, 2), dtype=np.int64)
    # One by one: numba takes seconds to compile what it would say of unequal lengths.
    for v in range(nodes + 1):
        links[v, _FIRST] = start[v]
    for v in range(nodes):
        links[v, _PARENT] = parent[v]
    table = np.zeros((nodes, 7))
    # Apart from the table, because heaps compare nothing else.
    bends = np.empty(nodes)
    for v in range(nodes - 1, -1, -1):
        table[v, _MEASURED], table[v, _WEIGHT] = measured[v], weights[v]
        if weights[v] > 0:
            table[v, _LEVEL], table[v, _SLOPE] = measured[v], 1 / weights[v]
            bends[v] = weights[v] * (measured[v] - table[v, _BELOW])
        if weights[v] == 0 or bends[v] < 0:
            if start[v + 1] - start[v] >= _MANY:
                _turn_many(v, table, bends, links, children)
            _turn(v, table, bends, links, children)
            while bends[v] < 0:
                _turn_next(v, table, bends, links, children)
        if parent[v] >= 0:
            table[parent[v], _BELOW] += table[v, _LEVEL]
            table[parent[v], _FALL] += table[v, _SLOPE]
    return table[:, _TIGHT] > 0


@compiled
def _turn_many(
    v: int, table: FloatArray, bends: FloatArray, links: IntArray, children: IntArray
) -> None:
    """Turns children of a node that is about to turn, as long as many are known to follow it.

    A subtree falls more slowly after each bend. So the price at which the sum of the children would
    have fallen to the node's own value, did nothing bend, is at most its price in the end: a loose
    child that bends before it will be tight. One look at all children finds most of these, where a
    heap would bring them one by one.
    """
    weight, measured = table[v, _WEIGHT], table[v, _MEASURED]
    first, last = links[v, _FIRST], links[v + 1, _FIRST]
    turned = last - first
    while turned * _STILL_MANY >= last - first:
        turned = 0
        below, fall = table[v, _BELOW], table[v, _FALL]
        price = weight * (below - measured) / (1 + weight * fall)
        for place in range(first, last):
            child = children[place]
            if bends[child] < price and table[child, _TIGHT] == 0:
                below -= table[child, _LEVEL]
                fall -= table[child, _SLOPE]
                _turn(child, table, bends, links, children)
                below += table[child, _LEVEL]
                fall += table[child, _SLOPE]
                turned += 1
        table[v, _BELOW], table[v, _FALL] = below, fall


@compiled
def _turn_next(
    top: int, table: FloatArray, bends: FloatArray, links: IntArray, children: IntArray
) -> None:
    """Turns the loose node below a tight one that is the first to turn as prices rise."""
    v = top
    while table[v, _TIGHT] > 0:
        v = children[links[v, _FIRST]]
    level, slope = table[v, _LEVEL], table[v, _SLOPE]
    _turn(v, table, bends, links, children)
    while v != top:
        above = links[v, _PARENT]
        table[above, _BELOW] += table[v, _LEVEL] - level
        table[above, _FALL] += table[v, _SLOPE] - slope
        _sink(children, links[above, _FIRST], links[above + 1, _FIRST], 0, bends)
        level, slope = table[above, _LEVEL], table[above, _SLOPE]
        _follow_children(above, table, bends, links, children)
        v = above


@compiled
def _turn(
    v: int, table: FloatArray, bends: FloatArray, links: IntArray, children: IntArray
) -> None:
    """Makes a loose node tight: from now on its value is the sum of its children's."""
    table[v, _TIGHT] = 1
    first, last = links[v, _FIRST], links[v + 1, _FIRST]
    for place in range((last - first) // 2 - 1, -1, -1):
        _sink(children, first, last, place, bends)
    _follow_children(v, table, bends, links, children)


@compiled
def _follow_children(
    v: int, table: FloatArray, bends: FloatArray, links: IntArray, children: IntArray
) -> None:
    """Derives the value of a tight node from the sum of its children's values."""
    weight, measured = table[v, _WEIGHT], table[v, _MEASURED]
    below, fall = table[v, _BELOW], table[v, _FALL]
    stretch = 1 + weight * fall
    table[v, _LEVEL] = (below + weight * fall * measured) / stretch
    table[v, _SLOPE] = fall / stretch
    first = links[v, _FIRST]
    if first == links[v + 1, _FIRST]:
        bends[v] = np.inf
    else:
        bends[v] = bends[children[first]] * stretch + weight * (measured - below)


@compiled
def _sink(children: IntArray, first: int, last: int, place: int, bends: FloatArray) -> None:
    """Moves a child down the heap of its siblings, until none below it bends earlier."""
    child = children[first + place]
    bend = bends[child]
    while True:
        next_place = 2 * place + 1
        if first + next_place >= last:
            break
        least = bends[children[first + next_place]]
        if first + next_place + 1 < last:
            other = bends[children[first + next_place + 1]]
            if other < least:
                least = other
                next_place += 1
        if least >= bend:
            break
        children[first + place] = children[first + next_place]
        place = next_place
    children[first + place] = child


# The shape of a prefix tree: for each node the node above it, and lists of children.
#
# The root of a prefix tree holds everybody, is not measured and constrains nothing. So what is
# fitted is a forest: the nodes of the first step, and everything below them.


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
    """Returns where the children of each node begin (one entry more), and the children."""
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
