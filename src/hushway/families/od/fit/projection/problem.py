"""The projection as an optimisation problem, and its dual.

The fit minimises the weighted squared distance to everything that was measured, over tables that
are non-negative and add up. Cells that no margin tells apart form a group; all a fit needs to know
of a group are its largest cells.

In the dual, element e has multiplier y_e, group g the shift s_g, which is the sum of the
multipliers of the elements it lies in, and every cell of the group is fitted as max(0, value -
shift). Multipliers are best where F(y) = sum of (value - shift)_+^2 / 2 + sum of y_e^2 / (2
weight_e) + sum of count_e y_e is least; its gradient is the residual below.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.errors import ReleaseError
from hushway.numerics.compiled import compiled


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


_EXACT = 1 << 53


@dataclass(frozen=True, kw_only=True, eq=False)
class DualProblem:
    """Margins side by side, the finest first: eliminated in this order, nested ones never fill in.

    Attributes:
        elements: The elements of each group, one column per margin, ascending along a row.
        counts: The noisy count of each element; 0 where it has no group.
        weights: The weight of each element.
        places: For each margin as given, where its elements are.
    """

    elements: Int32Array
    counts: FloatArray
    weights: FloatArray
    places: tuple[slice, ...]

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.elements)

    def shifts(self, multipliers: FloatArray) -> FloatArray:
        """Returns the shift of each group."""
        return _gather(self.elements, multipliers)

    def residual(self, multipliers: FloatArray, excess: FloatArray) -> FloatArray:
        """Returns the gradient: how far the fitted totals are from what the multipliers imply."""
        return _scatter(self.elements, multipliers / self.weights + self.counts, excess)

    def bound(self, residual: FloatArray) -> float:
        """Returns the distance from the best fit that a residual still allows, up to rounding.

        The duality gap is half of the sum below, and the objective is 1-strongly convex.
        """
        return float(np.sqrt(np.sum(self.weights * residual**2)))

    def only(self, groups: IntArray) -> "DualProblem":
        """Returns the problem of some groups; the elements stay."""
        return replace(self, elements=np.ascontiguousarray(self.elements[groups]))

    def capped(self, most: float) -> "DualProblem":
        """Returns the problem with no weight above some value."""
        return replace(self, weights=np.minimum(self.weights, most))


def dual_problem(margins: Sequence[Margin], groups: int) -> DualProblem:
    """Returns the dual problem of some margins.

    Raises:
        ReleaseError: A margin does not fit the groups, or a number is out of range.
    """
    order = sorted(range(len(margins)), key=lambda i: -len(margins[i].counts))
    elements = np.empty((groups, len(margins)), dtype=np.int32)
    counts, weights = [np.empty(0)], [np.empty(0)]
    places = [slice(0)] * len(margins)
    first = 0
    for column, i in enumerate(order):
        margin = margins[i]
        _check(margin, groups)
        size = len(margin.counts)
        elements[:, column] = margin.element + first
        used = np.bincount(margin.element, minlength=size) > 0
        counts.append(np.where(used, margin.counts, 0).astype(np.float64))
        weights.append(np.full(size, float(margin.weight)))
        places[i] = slice(first, first + size)
        first += size
    return DualProblem(
        elements=elements,
        counts=np.concatenate(counts),
        weights=np.concatenate(weights),
        places=tuple(places),
    )


def _check(margin: Margin, groups: int) -> None:
    """Refuses what the fit could only get wrong."""
    element, size = margin.element, len(margin.counts)
    if len(element) != groups or (groups and not 0 <= element.min() <= element.max() < size):
        raise ReleaseError(
            "A margin does not fit the groups.",
            advice="Give every group an element, counted from 0.",
        )
    if not (np.isfinite(margin.weight) and margin.weight > 0):
        raise ReleaseError("A margin's weight is not positive.", advice="Give it a weight above 0.")
    if size and max(-int(margin.counts.min()), int(margin.counts.max())) >= _EXACT:
        raise ReleaseError(
            "A margin's counts are too large to be fitted exactly.",
            advice="Keep counts below 2^53.",
        )


@compiled
def _gather(elements: Int32Array, multipliers: FloatArray) -> FloatArray:
    groups, margins = elements.shape
    shifts = np.zeros(groups)
    for g in range(groups):
        for i in range(margins):
            shifts[g] += multipliers[elements[g, i]]
    return shifts


@compiled
def _scatter(elements: Int32Array, start: FloatArray, excess: FloatArray) -> FloatArray:
    groups, margins = elements.shape
    for g in range(groups):
        for i in range(margins):
            start[elements[g, i]] -= excess[g]
    return start
