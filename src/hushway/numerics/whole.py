"""Whole numbers in a range."""

import numpy as np

from hushway.arrays import IntArray


def whole_below(values: IntArray, length: int, limit: int) -> bool:
    """Says whether an array has the length, and whole numbers from 0 to below the limit in it."""
    if values.dtype != np.int64 or values.shape != (length,):
        return False
    return length == 0 or bool(values.min() >= 0 and values.max() < limit)
