"""Features as partitions of a table's rows and columns, as fits take them."""

import numpy as np

from hushway.arrays import Int32Array
from hushway.families.od.fit.partitions import Partition
from hushway.families.od.public.features import Feature


def partition_of(feature: Feature) -> Partition:
    """Returns the partition of periods times pairs of places that a feature stands for."""
    universe = feature.universe
    periods, pairs = feature.periods, feature.pairs
    return Partition(
        period_class=np.zeros(len(universe.periods), dtype=np.int32)
        if periods is None
        else periods.codes,
        pair_class=np.zeros(universe.pairs, dtype=np.int32) if pairs is None else pairs.codes,
        periods=feature.period_classes,
        classes=feature.pair_classes,
    )


def elements_of(partition: Partition) -> Int32Array:
    """Returns the element of every cell; there are fewer than 2^31."""
    rows = partition.period_class * np.int32(partition.classes)
    return (rows[:, None] + partition.pair_class[None, :]).ravel()
