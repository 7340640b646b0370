"""What a fit is given: noisy cells by group, and the noisy counts of coarser partitions.

The fit minimises the weighted squared distance to everything that was measured, over tables that
are non-negative and add up. Cells that no margin tells apart form a group; all a fit needs to know
of a group are its largest cells.
"""

from dataclasses import dataclass
from typing import Protocol

from hushway.arrays import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Margin:
    """The noisy counts of one coarse partition.

    Attributes:
        element: The element that each group lies in.
        counts: The noisy count of each element; an element without a group is left alone.
        weight: Weight of one squared error, where that of a cell is 1.
    """

    element: IntArray
    counts: IntArray
    weight: float


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupedCells:
    """Some cells of every group, ordered by group and descending by value within one.

    Attributes:
        start: Where each group begins; one entry more than groups, the last is the length.
        cells: Cell numbers.
        values: Their noisy values.
    """

    start: IntArray
    cells: IntArray
    values: IntArray


class CellSource(Protocol):
    """The noisy cells of a universe, which may be too large to be looked at whole."""

    @property
    def sizes(self) -> IntArray:
        """Number of cells in each group."""
        ...

    def above(self, thresholds: IntArray) -> GroupedCells:
        """Returns every cell whose value is at or above its group's threshold.

        Called again with lower thresholds, it returns the same cells and more.
        """
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Tails:
    """What lies above the shift of each group.

    Attributes:
        counts: Number of cells above the shift; a fraction if it is an expectation.
        excess: The sum of what they have above it.
    """

    counts: FloatArray
    excess: FloatArray
