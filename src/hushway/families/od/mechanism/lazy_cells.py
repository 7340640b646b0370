"""The cells of a huge noisy table, as a fit asks for them: the largest of every group."""

import math
from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PrivacyError
from hushway.families.od.fit.forecast import TailForecast, noise_forecast
from hushway.families.od.fit.problem import GroupedCells
from hushway.families.od.public.groups import Groups
from hushway.privacy.measured import MeasuredSparse


@dataclass(frozen=True, kw_only=True, eq=False)
class LazyCells:
    """A sparse measurement seen group by group. A `hushway.families.od.fit.problem.CellSource`.

    Privacy:
        Looking is post-processing: all cells were paid for when they were measured.

    Attributes:
        measured: The measurement.
        groups: The groups that the fit works with; those that were measured.
    """

    measured: MeasuredSparse
    groups: Groups

    def __post_init__(self) -> None:
        measured = self.measured.groups
        if measured is None or not np.array_equal(measured.sizes, self.groups.sizes):
            raise PrivacyError(
                "The cells were not measured by the groups of this fit.",
                advice="Measure and fit with the same features.",
            )

    @property
    def sizes(self) -> IntArray:
        """Number of cells in each group."""
        return self.groups.sizes

    def forecast(self) -> TailForecast:
        """Returns where the noise of empty cells ends, so that the fit looks there first."""
        # Exact for Laplace noise, whose mean size is its deviation over the square root of 2.
        return noise_forecast(self.groups.sizes, math.sqrt(self.measured.variance / 2))

    def above(self, thresholds: IntArray) -> GroupedCells:
        """Returns every cell whose value is at or above its group's threshold.

        Largest values first within a group; of equal values, the smaller cell number first.

        Raises:
            PrivacyError: There is not one threshold for each group, or too many cells would show.
        """
        shown = self.measured.reveal_groups(thresholds)
        group = np.repeat(np.arange(self.groups.count), np.diff(shown.start))
        # The sort is stable, and the cells of a group are shown in ascending order.
        order = np.lexsort((-shown.values, group))
        return GroupedCells(start=shown.start, cells=shown.cells[order], values=shown.values[order])
