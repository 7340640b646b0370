"""The closest table where margins cross so finely that hardly two cells are in all the same sums.

`fit.projection` sorts the cells of every group and factors the matrix of all margins. Where origins
and destinations are measured by period, every cell is a group and the matrix fills in: seconds to
minutes. The same table is found by `fit.joining`, which only ever passes over the cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.families.od.fit.partitions import Partition
from hushway.families.od.fit.reconciling.joining import Joined, MeasuredSums, join

_EXACT = 1 << 53


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightedSums:
    """The noisy counts of one coarse partition.

    Attributes:
        partition: What is summed.
        counts: The noisy counts.
        weight: Weight of one squared error, where that of a cell is 1.
    """

    partition: Partition
    counts: IntArray
    weight: float


def project_crossing(values: IntArray, sums: Sequence[WeightedSums], *, tolerance: float) -> Joined:
    """Returns the closest non-negative table, as `projection.project` does.

    Half the squared distance of the cells plus half of `weight` times that of each family of sums
    is to be least. Joining minimises half of every squared distance over its variance. With the
    same variance V for all cells, and V / weight for a family, that is the same function over V:
    both have the same minimum, and distances between tables know nothing of V. It is the largest
    weight here, so that no variance is below 1.

    Args:
        values: The noisy cells, one period a row.
        sums: The noisy counts of coarser partitions.
        tolerance: The largest distance from the exact minimum, relative to the fitted total.

    Privacy:
        Everything here is computed from noisy values: post-processing, which costs nothing.

    Raises:
        OutOfReachError: The tolerance could not be reached: sums that weigh much contradict each
            other by much. `projection.project`, in double-double, reaches it.
        ReleaseError: A number is too large to be exact.
    """
    for each in (values, *(one.counts for one in sums)):
        if each.size and max(-int(each.min()), int(each.max())) >= _EXACT:
            raise ReleaseError(
                "A noisy count is too large to be fitted exactly.",
                advice="Keep noisy counts below 2^53.",
            )
    largest = max([1.0, *(each.weight for each in sums)])
    return join(
        values.astype(np.float64),
        np.full(values.shape, largest),
        [
            MeasuredSums(
                partition=each.partition, counts=each.counts, variance=largest / each.weight
            )
            for each in sums
        ],
        tolerance=tolerance,
    )


def relative_bound(joined: Joined) -> float:
    """Returns the bound as a share of the fitted total, or of 1 if that is less."""
    return joined.bound / max(1.0, float(joined.values.sum()))
