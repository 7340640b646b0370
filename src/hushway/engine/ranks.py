"""Counts by the rank of records within their unit, from which every limit's counts follow.

Privacy:
    A unit with n records has one of each rank from 0 to n - 1, whatever its records are. So a range
    of ranks holds at most as many of its records as it is long, and the record of rank k - 1 exists
    exactly if the unit has k records or more. With a cap, records within it have the first ranks:
    those are the ranks of all k records that a unit has within its cap, and no cell has more of
    them than the cap.
"""

from dataclasses import dataclass

import ibis
import ibis.expr.types as ir
import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PrivacyError
from hushway.privacy.query import ExactCounts


@dataclass(frozen=True)
class RankSteps:
    """Ranks in steps, such that each limit of a ladder ends a step and the rank below it is one.

    Attributes:
        ladder: Ascending limits.
    """

    ladder: tuple[int, ...]

    @property
    def ends(self) -> tuple[int, ...]:
        """The rank that ends each step, which is no longer in it."""
        return tuple(sorted({end for limit in self.ladder for end in (limit - 1, limit)} - {0}))

    def of_column(self, rank: ir.IntegerValue) -> ir.IntegerValue:
        """Returns the step of ranks below the last limit, in any engine."""
        *ends, _last = self.ends
        if not ends:
            return rank * 0
        first, *others = ((rank < end, step) for step, end in enumerate(ends))
        return ibis.cases(first, *others, else_=len(ends)).cast("int64")

    def of_array(self, rank: IntArray) -> IntArray:
        """Returns the step of ranks below the last limit."""
        return np.searchsorted(np.array(self.ends), rank, side="right")

    def between(self, counts: ExactCounts, size: int, first: int, last: int) -> ExactCounts:
        """Returns the counts of cells by records of some ranks.

        Args:
            counts: Counts by (step, cell).
            first: The lowest rank, 0 or a limit of the ladder.
            last: The rank that ends the range: a limit of the ladder.
        """
        ends = (0, *self.ends)
        if first not in (0, *self.ladder) or last not in self.ladder:
            raise PrivacyError(
                "This engine does not count by these ranks.",
                advice="Ask for limits that it was made with.",
            )
        start, stop = np.searchsorted(
            counts.cells, [ends.index(first) * size, ends.index(last) * size]
        )
        return summed(counts.cells[start:stop] % size, counts.values[start:stop])

    def part(self, counts: ExactCounts, size: int, number: int) -> ExactCounts:
        """Returns counts by (step, cell) of one of several parts, which follow each other."""
        length = len(self.ends) * size
        start, stop = np.searchsorted(counts.cells, [number * length, (number + 1) * length])
        return ExactCounts(
            cells=counts.cells[start:stop] - number * length, values=counts.values[start:stop]
        )

    def units(self, counts: ExactCounts, size: int) -> ExactCounts:
        """Returns how many units have a number of records from each limit to below the next."""
        step = np.searchsorted(np.array(self.ends), np.array(self.ladder) - 1, side="right")
        by_step = np.zeros(len(self.ends), dtype=np.int64)
        np.add.at(by_step, counts.cells // size, counts.values)
        at_least = np.append(by_step[step], 0)
        return ExactCounts.of_all(at_least[:-1] - at_least[1:])


def summed(cell: IntArray, count: IntArray) -> ExactCounts:
    """Adds up counts of cells that may be named several times."""
    cells, which = np.unique(cell, return_inverse=True)
    values = np.zeros(len(cells), dtype=np.int64)
    np.add.at(values, which, count)
    return ExactCounts(cells=cells, values=values)
