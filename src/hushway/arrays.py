"""Types of arrays, by what they hold."""

from typing import Final

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

# A table of all that keys may be takes no more than so many places for a key.
_WIDEST: Final = 4


def whole_below(values: IntArray, length: int, limit: int) -> bool:
    """Says whether an array has the length, and whole numbers from 0 to below the limit in it."""
    if values.dtype != np.int64 or values.shape != (length,):
        return False
    return length == 0 or bool(values.min() >= 0 and values.max() < limit)


def unique_below(keys: IntArray, limit: int) -> tuple[IntArray, IntArray]:
    """Returns the different keys in order, and the place of each key among these.

    The same as `np.unique`, without sorting where a table of all that keys may be is not much
    larger than the keys.
    """
    if limit > _WIDEST * len(keys):
        found, place = np.unique(keys, return_inverse=True)
        return found, place.astype(np.int64)
    occurs = np.zeros(limit, dtype=np.bool_)
    occurs[keys] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[keys]
