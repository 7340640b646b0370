"""Exact uniform draws: whole numbers below a limit, and subsets without replacement."""

import numpy as np

from hushway.errors import PrivacyError
from hushway.privacy.noise.inversion import IntArray
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


def uniform_subset(source: BitSource, count: int, universe: int) -> IntArray:
    """Returns an ascending subset of 0 .. universe-1, uniform among all of that size.

    Draws one number after another and skips repeats; by symmetry every subset is equally likely. A
    subset larger than half the universe is drawn as its complement, so repeats stay rare and memory
    grows with the answer.
    """
    if not 0 <= count <= universe:
        raise PrivacyError(
            "A subset cannot be larger than its universe.", advice="Check the universe's size."
        )
    if 2 * count > universe:
        left_out = uniform_subset(source, universe - count, universe)
        return np.delete(np.arange(universe, dtype=np.int64), left_out)
    chosen = np.empty(0, dtype=np.int64)
    while len(chosen) < count:
        drawn = np.concatenate([chosen, uniform_below(source, count - len(chosen), universe)])
        # Keep the first appearance of each number: which numbers stay must not depend on their
        # size.
        _, first = np.unique(drawn, return_index=True)
        chosen = drawn[np.sort(first)]
    return np.sort(chosen)
