"""Exact uniform subsets of several ranges at once, as one ascending list."""

from collections.abc import Sequence

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PrivacyError
from hushway.privacy.noise.uniform import uniform_below
from hushway.privacy.randomness import BitSource


def uniform_subsets(source: BitSource, counts: Sequence[int], ranges: Sequence[int]) -> IntArray:
    """Returns one subset of each of several ranges, uniform among all of its size.

    The ranges are numbered through: the second begins where the first ends. A subset larger than
    half of its range is drawn as its complement, so repeats stay rare and memory grows with the
    answer.

    Raises:
        PrivacyError: A subset would be larger than its range.
    """
    if not all(0 <= count <= size for count, size in zip(counts, ranges, strict=True)):
        raise PrivacyError(
            "A subset cannot be larger than its universe.", advice="Check the universe's size."
        )
    bounds = np.cumsum([0, *ranges], dtype=np.int64)
    fewer = [min(count, size - count) for count, size in zip(counts, ranges, strict=True)]
    drawn = _distinct(source, fewer, bounds)
    swapped = [i for i, count in enumerate(counts) if count != fewer[i]]
    if not swapped:
        return drawn
    pieces = np.split(drawn, np.searchsorted(drawn, bounds[1:-1]))
    for i in swapped:
        everything = np.arange(bounds[i], bounds[i + 1])
        pieces[i] = np.delete(everything, pieces[i] - bounds[i])
    return np.concatenate(pieces)


def _distinct(source: BitSource, counts: Sequence[int], bounds: IntArray) -> IntArray:
    """Draws one number after another from each range, skipping repeats.

    Every round draws as many numbers as are missing, so there are never too many and the order in
    which they came does not matter; by symmetry every subset is equally likely.
    """
    chosen = np.empty(0, dtype=np.int64)
    wanted = np.array(counts, dtype=np.int64)
    missing = wanted
    while missing.any():
        drawn = [chosen]
        for i in np.flatnonzero(missing):
            size = int(bounds[i + 1] - bounds[i])
            drawn.append(bounds[i] + uniform_below(source, int(missing[i]), size))
        chosen = np.sort(np.concatenate(drawn))
        chosen = chosen[np.concatenate([[True], chosen[1:] != chosen[:-1]])]
        missing = wanted - np.diff(np.searchsorted(chosen, bounds))
    return chosen
