"""Exact uniform draws of whole numbers below a limit."""

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PrivacyError
from hushway.privacy.randomness import BitSource

_LARGEST = 1 << 63


def uniform_below(source: BitSource, count: int, limit: int) -> IntArray:
    """Returns independent whole numbers, uniform on 0 .. limit-1.

    Words at or above the largest multiple of the limit are drawn again: every residue keeps the
    same number of words.
    """
    if not 1 <= limit <= _LARGEST:
        raise PrivacyError(
            "A uniform draw needs a limit between 1 and 2^63.", advice="Check the universe's size."
        )
    accepted = np.uint64((1 << 64) // limit * limit - 1)
    values = np.empty(count, dtype=np.int64)
    missing = np.arange(count)
    while len(missing):
        words = source.words(len(missing))
        kept = words <= accepted
        values[missing[kept]] = words[kept] % np.uint64(limit)
        missing = missing[~kept]
    return values
