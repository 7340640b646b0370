"""Streets before they become links: pieces of road between two nodes, in metres, open both ways."""

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
        y: Metres north of it.
        tail: The node that each piece begins at.
        head: The node that it ends at.
        road_class: Functional class of each piece.
        one_way: Whether it may be driven from tail to head only.
        bend: How far its middle lies off the straight line, as a share of its length; positive to
            the left.
        name: What the street is called, or "".
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
