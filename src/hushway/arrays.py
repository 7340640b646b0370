"""Types of arrays, by what they hold."""

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
# Positions in lists that are never longer than two thousand million, and marks.
Int32Array = NDArray[np.int32]
Int8Array = NDArray[np.int8]
# 64 bits that are not a number: random words, hashes, keys.
WordArray = NDArray[np.uint64]
TextArray = NDArray[np.str_]


def whole_below(values: IntArray, length: int, limit: int) -> bool:
    """Says whether an array has the length, and whole numbers from 0 to below the limit in it."""
    if values.dtype != np.int64 or values.shape != (length,):
        return False
    return length == 0 or bool(values.min() >= 0 and values.max() < limit)
