"""Partitions and cells that tests of OD fits are about."""

from collections.abc import Sequence

import numpy as np

from hushway.arrays import Int32Array, IntArray
from hushway.families.od.fit.partitions import Partition
from hushway.families.od.fit.projection.dense_cells import DenseCells


def partition(pairs: IntArray | Int32Array, periods: Sequence[int] | IntArray) -> Partition:
    """Returns a partition by the class of each pair and of each period."""
    return Partition(
        period_class=np.array(periods, dtype=np.int32),
        pair_class=pairs.astype(np.int32),
        periods=int(max(periods)) + 1,
        classes=int(pairs.max()) + 1,
    )


def cells_by_group(values: IntArray, groups: IntArray, count: int) -> DenseCells:
    """Returns arbitrary groups of arbitrary cells: one period."""
    return DenseCells(
        values=values,
        pair_class=groups.astype(np.int32),
        pair_classes=count,
        period_class=np.zeros(1, dtype=np.int32),
        period_classes=1,
    )
