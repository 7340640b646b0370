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
