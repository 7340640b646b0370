"""How streets run on the ground: nodes along longer pieces, and bent courses of a few points."""

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.city.streets import Streets

_SPLIT = 0.08
_SPLIT_LONG = 0.5
_LONG_M = 250.0

# A straight piece has no point between its ends; the more it bends, the more it has.
_MOST_BETWEEN = 3
_STRAIGHT = 0.03


def with_nodes_between(streets: Streets, rng: np.random.Generator) -> Streets:
    """Returns the streets with a node of no crossing in the middle of some, mostly long ones."""
    share = np.where(streets.reach > _LONG_M, _SPLIT_LONG, _SPLIT)
    split = rng.random(len(streets)) < share
    x, y = points_along(streets.only(split), np.array([0.5]))
    node = len(streets.x) + np.arange(int(split.sum()), dtype=np.int64)
    first, second = streets.only(split), streets.only(split)
    none = np.empty(0)

    def part(half: Streets, tail: IntArray, head: IntArray, at: tuple[FloatArray, ...]) -> Streets:
        # Half of a parabola bends a quarter as much, relative to its own length half of that.
        return Streets(
            x=at[0],
            y=at[1],
            tail=tail,
            head=head,
            road_class=half.road_class,
            one_way=half.one_way,
            bend=half.bend / 2,
            name=half.name,
        )

    whole = streets.only(~split)
    halves = part(first, first.tail, node, (x[:, 0], y[:, 0]))
    return whole.and_more(halves).and_more(part(second, node, second.head, (none, none)))


def points_along(streets: Streets, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Returns points of each piece (row) at shares of the way (column): x and y."""
    east = streets.x[streets.head] - streets.x[streets.tail]
    north = streets.y[streets.head] - streets.y[streets.tail]
    off = streets.bend[:, None] * 4 * shares * (1 - shares)
    x = streets.x[streets.tail][:, None] + east[:, None] * shares - north[:, None] * off
    y = streets.y[streets.tail][:, None] + north[:, None] * shares + east[:, None] * off
    return x, y


def courses(streets: Streets) -> tuple[IntArray, FloatArray, FloatArray]:
    """Returns where the course of each piece begins, and x and y of all points, ends included."""
    between = np.minimum(np.rint(np.abs(streets.bend) / _STRAIGHT).astype(np.int64), _MOST_BETWEEN)
    start = np.concatenate([[0], np.cumsum(between + 2)]).astype(np.int64)
    x, y = np.empty(start[-1]), np.empty(start[-1])
    for count in range(_MOST_BETWEEN + 1):
        chosen = between == count
        shares = np.linspace(0, 1, count + 2)
        place = start[:-1][chosen][:, None] + np.arange(count + 2)
        x[place], y[place] = points_along(streets.only(chosen), shares)
    # Ends exactly where the nodes are, whatever the arithmetic did.
    for point, node in ((start[:-1], streets.tail), (start[1:] - 1, streets.head)):
        x[point], y[point] = streets.x[node], streets.y[node]
    return start, x, y
