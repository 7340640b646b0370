"""Exact counts, which only auditors and mutants look at."""

import numpy as np

from hushway.arrays import IntArray
from hushway.privacy.query import ExactCounts, PartitionQuery, Query


def dense(exact: ExactCounts, query: Query | PartitionQuery) -> IntArray:
    """Returns exact counts of all cells, 0 where there are none."""
    values = np.zeros(query.cells.size, dtype=np.int64)
    values[exact.cells] = exact.values
    return values
