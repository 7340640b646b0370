"""A public grouping of the cells of a vector, and the cells laid out group by group.

Laid out so, every group is one run of places 0 .. size-1. What differs from group to group is then
found by counting in a sorted list of places, whatever the size of the universe.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hushway.arrays import IntArray, whole_below
from hushway.errors import PrivacyError


class Grouping(Protocol):
    """A public partition of the cells 0 .. size-1 into numbered groups."""

    @property
    def count(self) -> int:
        """Number of groups."""

    @property
    def sizes(self) -> IntArray:
        """Number of cells in each group."""

    def of(self, cells: IntArray) -> IntArray:
        """Returns the group of each cell."""

    def rank(self, cells: IntArray) -> IntArray:
        """Returns the place of each cell within its group, from 0."""

    def cell(self, group: IntArray, rank: IntArray) -> IntArray:
        """Returns the cell at a place of a group: the inverse of `of` and `rank`."""


@dataclass(frozen=True)
class OneGroup:
    """All cells in one group, in their own order."""

    size: int

    @property
    def count(self) -> int:
        """Number of groups."""
        return 1

    @property
    def sizes(self) -> IntArray:
        """Number of cells in each group."""
        return np.array([self.size], dtype=np.int64)

    def of(self, cells: IntArray) -> IntArray:
        """Returns the group of each cell."""
        return np.zeros_like(cells)

    def rank(self, cells: IntArray) -> IntArray:
        """Returns the cells themselves."""
        return cells

    def cell(self, group: IntArray, rank: IntArray) -> IntArray:  # noqa: ARG002  there is but one
        """Returns the ranks themselves."""
        return rank


class Layout:
    """The cells laid out group by group.

    Privacy:
        A grouping that gives two cells one place, or a cell two groups, would break the law of what
        is shown. So its answers are checked for the ends of every group, which are public, and
        later for every cell that is looked up.

    Raises:
        PrivacyError: The grouping is not a partition of so many cells.
    """

    def __init__(self, grouping: Grouping, size: int) -> None:
        self._grouping = grouping
        self._size = size
        self._bounds = _bounds(grouping, size)
        filled = np.flatnonzero(self.sizes)
        self.cells_at(np.concatenate([self._bounds[filled], self._bounds[filled + 1] - 1]))

    @property
    def count(self) -> int:
        """Number of groups."""
        return len(self._bounds) - 1

    @property
    def sizes(self) -> IntArray:
        """Number of cells in each group."""
        return np.diff(self._bounds)

    def places_of(self, cells: IntArray) -> IntArray:
        """Returns the place of each cell, which must lie inside the universe."""
        with _no_index_named():
            group, rank = self._looked_up(cells)
            same = _same(self._grouping.cell(group, rank), cells)
        if not same:
            raise _not_a_partition()
        return self._bounds[group] + rank

    def cells_at(self, places: IntArray) -> IntArray:
        """Returns the cell at each place."""
        group = np.searchsorted(self._bounds, places, side="right") - 1
        rank = places - self._bounds[group]
        with _no_index_named():
            cells = self._grouping.cell(group, rank)
            inside = whole_below(cells, len(places), self._size)
            found = self._looked_up(cells) if inside else None
        if found is None or not (_same(found[0], group) and _same(found[1], rank)):
            raise _not_a_partition()
        return cells

    def runs(self, places: IntArray) -> IntArray:
        """Returns where each group begins in ascending places; the last entry is their number."""
        return np.searchsorted(places, self._bounds)

    def _looked_up(self, cells: IntArray) -> tuple[IntArray, IntArray]:
        group = self._grouping.of(cells)
        if not whole_below(group, len(cells), self.count):
            raise _not_a_partition()
        rank = self._grouping.rank(cells)
        if not whole_below(rank, len(cells), self._size) or (rank >= self.sizes[group]).any():
            raise _not_a_partition()
        return group, rank


def _bounds(grouping: Grouping, size: int) -> IntArray:
    """Returns where each group begins, and the size; copied, so that nobody can change it."""
    sizes = grouping.sizes
    if not whole_below(sizes, grouping.count, size + 1):
        raise _not_a_partition()
    # No size is above 2^62, so a sum that overflows turns negative at once.
    ends = np.cumsum(sizes)
    if not len(ends) or ends[-1] != size or ends.min() < 0:
        raise _not_a_partition()
    return np.concatenate([np.zeros(1, dtype=np.int64), ends])


@contextmanager
def _no_index_named() -> Iterator[None]:
    """Turns a failing lookup into a refusal: its own message would name a cell, maybe occupied."""
    try:
        yield
    except LookupError:
        raise _not_a_partition() from None


def _same(found: IntArray, wanted: IntArray) -> bool:
    return found.shape == wanted.shape and bool((found == wanted).all())


def _not_a_partition() -> PrivacyError:
    return PrivacyError(
        "The groups are not a partition of the cells: sizes, groups and ranks do not fit.",
        advice="Build the groups from the universe that is measured.",
    )
