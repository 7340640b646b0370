"""The grid of a synthetic city: jittered lines, blocks, avenues, a river, one-ways, dead ends."""

import math
from dataclasses import dataclass, fields
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import BoolArray, FloatArray, IntArray, TextArray

# Distances between the lines of the street grid.
BLOCK_X_M: Final = 130.0
BLOCK_Y_M: Final = 100.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Streets:
    """Pieces of road between nodes.

    Attributes:
        x: Metres east of the middle, for each node.
        one_way: Whether it may be driven from tail to head only.
        bend: How far its middle lies off the straight line, as a share of its length; positive to
            the left.
    """

    x: FloatArray
    y: FloatArray
    tail: IntArray
    head: IntArray
    road_class: IntArray
    one_way: BoolArray
    bend: FloatArray
    name: TextArray

    def __len__(self) -> int:
        return len(self.tail)

    @property
    def reach(self) -> FloatArray:
        """Distance between the two ends of each piece."""
        east, north = self.x[self.head] - self.x[self.tail], self.y[self.head] - self.y[self.tail]
        return np.asarray(np.hypot(east, north), dtype=np.float64)

    def only(self, kept: BoolArray) -> Self:
        """Returns the streets with some of the pieces; all nodes stay."""
        return self._with({name: getattr(self, name)[kept] for name in _OF_PIECES})

    def and_more(self, more: "Streets") -> Self:
        """Returns the streets with further ones whose nodes are counted on from these."""
        return self._with(
            {f.name: np.concatenate([getattr(self, f.name), getattr(more, f.name)])
             for f in fields(self)}
        )  # fmt: skip

    def _with(self, columns: dict[str, NDArray[np.generic]]) -> Self:
        return type(self)(**{f.name: getattr(self, f.name) for f in fields(self)} | columns)


_OF_PIECES = ("tail", "head", "road_class", "one_way", "bend", "name")


# Line numbers modulo 16: one line is a primary road, one a secondary, two are tertiary.
_LINE_CLASS = np.array([3, 5, 5, 5, 4, 5, 5, 5, 2, 5, 5, 5, 4, 5, 5, 5], dtype=np.int64)
_JITTER = 0.15
_MISSING = 0.16
_MISSING_WIDE = 0.03
_DEAD_ENDS = 0.10
_DOWNTOWN = 0.3
_ONE_WAY_DOWNTOWN = 0.75
_ONE_WAY_ELSEWHERE = 0.06
_RIVER_SWING = 0.06


def street_grid(columns: int, rows: int, rng: np.random.Generator) -> Streets:
    """Returns the streets of a grid city of so many lines each way."""
    count = columns * rows
    column, row = np.divmod(np.arange(count, dtype=np.int64), rows)
    x = (column - (columns - 1) / 2 + _JITTER * (2 * rng.random(count) - 1)) * BLOCK_X_M
    y = (row - (rows - 1) / 2 + _JITTER * (2 * rng.random(count) - 1)) * BLOCK_Y_M
    tail, head, road_class, name = _pieces(columns, rows)
    streets = Streets(
        x=x,
        y=y,
        tail=tail,
        head=head,
        road_class=road_class,
        one_way=_one_ways((x, y), tail, head, road_class, rng),
        bend=np.where(road_class == 5, 0.12, 0.05) * (2 * rng.random(len(tail)) - 1),
        name=name,
    )
    missing = rng.random(len(tail)) < np.where(road_class == 5, _MISSING, _MISSING_WIDE)
    return _with_dead_ends(streets.only(~missing & ~_drowned(streets)), rng)


def _pieces(columns: int, rows: int) -> tuple[IntArray, IntArray, IntArray, TextArray]:
    node = np.arange(columns * rows, dtype=np.int64).reshape(columns, rows)
    avenue = np.repeat(np.arange(columns), rows - 1)
    street = np.tile(np.arange(rows), columns - 1)
    # Two avenues cut through the blocks from corner to corner.
    step = np.arange(min(columns, rows))
    left, low = (columns - len(step)) // 2, (rows - len(step)) // 2
    rising, falling = node[left + step, low + step], node[left + step, low + len(step) - 1 - step]
    ends = [
        _alternating(node[:, :-1].ravel(), node[:, 1:].ravel(), avenue),
        _alternating(node[:-1].ravel(), node[1:].ravel(), street),
        (rising[:-1], rising[1:]),
        (falling[:-1], falling[1:]),
    ]
    wide = np.full(len(step) - 1, 2, dtype=np.int64)
    names = [
        np.char.add("Avenue ", (avenue + 1).astype(str)),
        np.char.add("Street ", (street + 1).astype(str)),
        np.full(len(wide), "Diagonal 1"),
        np.full(len(wide), "Diagonal 2"),
    ]
    return (
        np.concatenate([tail for tail, _ in ends]),
        np.concatenate([head for _, head in ends]),
        np.concatenate([_LINE_CLASS[avenue % 16], _LINE_CLASS[street % 16], wide, wide]),
        np.concatenate(names).astype(np.str_),
    )


def _alternating(low: IntArray, high: IntArray, line: IntArray) -> tuple[IntArray, IntArray]:
    """Returns tails and heads that run up on even lines and down on odd ones, as one-ways do."""
    up = line % 2 == 0
    return np.where(up, low, high), np.where(up, high, low)


def _one_ways(
    position: tuple[FloatArray, FloatArray],
    tail: IntArray,
    head: IntArray,
    road_class: IntArray,
    rng: np.random.Generator,
) -> BoolArray:
    far = np.max([np.abs(axis) / np.abs(axis).max() for axis in position], axis=0)
    downtown = (far[tail] < _DOWNTOWN) & (far[head] < _DOWNTOWN)
    share = np.where(downtown, _ONE_WAY_DOWNTOWN, _ONE_WAY_ELSEWHERE)
    return np.asarray((rng.random(len(tail)) < share) & (road_class >= 4), dtype=np.bool_)


def river_y(x: FloatArray, half_width: float) -> FloatArray:
    """Returns how far north the river runs at each place."""
    swing = _RIVER_SWING * half_width
    wave = np.sin(2 * math.pi * x / max(half_width, 1.0)) + 0.4 * np.sin(x / 900.0)
    return np.asarray(-0.22 * half_width + swing * wave, dtype=np.float64)


def _drowned(streets: Streets) -> BoolArray:
    """Returns which pieces would cross the river without a bridge: only wide roads have one."""
    north = streets.y > river_y(streets.x, float(np.abs(streets.x).max()))
    crosses = north[streets.tail] != north[streets.head]
    upright = np.char.startswith(streets.name, "Avenue")
    return np.asarray(crosses & ~(upright & (streets.road_class <= 2)), dtype=np.bool_)


def _with_dead_ends(streets: Streets, rng: np.random.Generator) -> Streets:
    """Adds dead ends that run from corners into the blocks."""
    corner = np.flatnonzero(rng.random(len(streets.x)) < _DEAD_ENDS)
    count = len(corner)
    east, north = (np.where(rng.random(count) < 0.5, 1.0, -1.0) for _ in range(2))
    depth = 0.35 + 0.2 * rng.random(count)
    return streets.and_more(
        Streets(
            x=streets.x[corner] + east * depth * BLOCK_X_M,
            y=streets.y[corner] + north * depth * BLOCK_Y_M,
            tail=corner.astype(np.int64),
            head=len(streets.x) + np.arange(count, dtype=np.int64),
            road_class=np.full(count, 5, dtype=np.int64),
            one_way=np.zeros(count, dtype=np.bool_),
            bend=0.3 * (2 * rng.random(count) - 1),
            name=np.full(count, "", dtype="<U1"),
        )
    )
