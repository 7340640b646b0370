"""Rectangles: the shortest cycles of a large table, cancelled before any search for longer ones.

Two rows and two columns that meet in four fractional cells are a cycle, and a push along it makes
one of them whole. Rows are compared in pairs, then pairs of rows with pairs, and so on: a column
that has a fractional cell on both sides meets the last one whose cells are in the same two rows.
Each round leaves about half of the cells, and runs over memory in order.
"""

from typing import Final

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.families.od.fit.rounding.cycle_cancelling import DRIFT_PRICE, ONE
from hushway.numerics.compiled import compiled

# Afterwards too few columns have cells in the same two rows.
_ROUNDS: Final = 4
# What fills an empty place.
_NONE: Final = -1


def cancel_rectangles(
    flows: IntArray,
    prices: IntArray,
    ends: tuple[Int32Array, Int32Array],
    others: IntArray,
    drift: FloatArray,
) -> IntArray:
    """Moves flows along rectangles, in place; returns which groups are still fractional.

    Args:
        flows: What each group carries above its floor, of `ONE`.
        prices: What raising each by one costs.
        ends: The row and the column of each group.
        others: For each margin that rectangles do not keep, the element of each group.
        drift: How far each of these elements has moved; changed in place.
    """
    row, column = sorted(ends, key=lambda end: int(np.count_nonzero(end[1:] < end[:-1])))
    listed = np.argsort(row, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(row))])
    for turn in range(_ROUNDS):
        listed, starts = _round(
            (flows, prices), (row, column), (listed, starts), 1 << turn, others, drift
        )
    return np.sort(listed)


@compiled
def _round(  # noqa: PLR0917  compiled code takes plain arrays
    state: tuple[IntArray, IntArray],
    ends: tuple[Int32Array, Int32Array],
    blocks: tuple[IntArray, IntArray],
    size: int,
    others: IntArray,
    drift: FloatArray,
) -> tuple[IntArray, IntArray]:
    """Compares blocks of `size` rows two by two, and returns what is left in blocks twice as large.

    `blocks` lists the groups of each block, and says where each block begins.
    """
    flows, (row, column), (listed, starts) = state[0], ends, blocks
    above = np.full(column.max() + 1, _NONE, dtype=np.int64)
    waiting = np.empty((size * size, 2), dtype=np.int64)
    left, end = np.empty_like(listed), 0
    larger = np.zeros(len(starts) // 2 + 1, dtype=np.int64)
    for pair in range(len(starts) // 2):
        first, middle = starts[2 * pair], starts[2 * pair + 1]
        last = starts[min(2 * pair + 2, len(starts) - 1)]
        for at in range(first, middle):
            above[column[listed[at]]] = listed[at]
        waiting[:] = _NONE
        for at in range(middle, last):
            here = listed[at]
            there = above[column[here]]
            if there != _NONE and not (_is_whole(flows[there]) or _is_whole(flows[here])):
                rows = row[there] % size * size + row[here] % size
                _meet(state, (there, here), waiting, rows, others, drift)
        for at in range(first, middle):
            above[column[listed[at]]] = _NONE
        for at in range(first, last):
            left[end] = listed[at]
            end += not _is_whole(flows[listed[at]])
        larger[pair + 1] = end
    return left[:end], larger


@compiled
def _meet(  # noqa: PLR0917  compiled code takes plain arrays
    state: tuple[IntArray, IntArray],
    pair: tuple[int, int],
    waiting: IntArray,
    rows: int,
    others: IntArray,
    drift: FloatArray,
) -> None:
    """Pushes along two cells of a column and those that wait; two that stay fractional wait."""
    flows, one, two = state[0], waiting[rows, 0], waiting[rows, 1]
    if one != _NONE:
        _push(state, (pair[0], pair[1], two, one), others, drift)
        if not (_is_whole(flows[one]) or _is_whole(flows[two])):
            return
    waits = not (_is_whole(flows[pair[0]]) or _is_whole(flows[pair[1]]))
    waiting[rows, 0], waiting[rows, 1] = pair if waits else (_NONE, _NONE)


@compiled
def _push(
    state: tuple[IntArray, IntArray],
    cycle: tuple[int, int, int, int],
    others: IntArray,
    drift: FloatArray,
) -> None:
    """Raises the first and third cell and lowers the others, or the other way round."""
    flows, prices = state
    a, b, c, d = cycle
    up = min(ONE - flows[a], flows[b], ONE - flows[c], flows[d])
    down = min(flows[a], ONE - flows[b], flows[c], ONE - flows[d])
    linear, square = (prices[a] - prices[b] + prices[c] - prices[d]) / ONE, 0.0
    for margin in range(len(others)):
        more = _steepness(others, margin, cycle, drift)
        linear, square = linear + DRIFT_PRICE * more[0], square + DRIFT_PRICE * more[1]
    one, two = up / ONE, -down / ONE
    push = up if one * (linear + one * square) <= two * (linear + two * square) else -down
    moved = push / ONE
    flows[a] += push
    flows[b] -= push
    flows[c] += push
    flows[d] -= push
    for margin in range(len(others)):
        drift[others[margin, a]] += moved
        drift[others[margin, b]] -= moved
        drift[others[margin, c]] += moved
        drift[others[margin, d]] -= moved


@compiled
def _steepness(
    others: IntArray, margin: int, cycle: tuple[int, int, int, int], drift: FloatArray
) -> tuple[float, float]:
    """Returns what a push does to a margin's squared drifts: the linear and the square term."""
    a, b, c, d = cycle
    a, b, c, d = others[margin, a], others[margin, b], others[margin, c], others[margin, d]
    # Cells of one element move it by as much as they move together.
    square = 4.0 + 2 * ((a == c) + (b == d)) - 2 * ((a == b) + (a == d) + (b == c) + (c == d))
    return 2 * (drift[a] - drift[b] + drift[c] - drift[d]), square


@compiled
def _is_whole(flow: int) -> bool:
    return flow == 0 or flow == ONE  # noqa: PLR1714  (a tuple is slower in compiled code)
