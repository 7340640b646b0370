"""Errors of counts that cannot be negative: wide enough for the further of two ends.

What a count may be off by is known as a variance. Where that is large beside the count, the truth
cannot be as far below as it can be above: most of what noise hides is a little smaller than what is
published, and some is much larger. A gamma law has that shape, given a mean and a variance. Its
upper end is further off than 1.96 standard deviations, and the published error says so.
"""

import numpy as np
from scipy.special import gammaincinv, ndtri

from hushway.arrays import FloatArray

# The end that an interval of 95 % has above, and how many deviations off a normal law has it.
_UPPER = 0.975
_NORMAL = float(ndtri(_UPPER))
# Deviations, as multiples of the mean, at which the factor is tabulated.
_RATIOS = np.geomspace(1e-3, 4.0, 200)


def _factors() -> FloatArray:
    shape = _RATIOS**-2
    # In deviations of a gamma law, whose mean is its shape and whose deviation is its root.
    upper = (gammaincinv(shape, _UPPER) - shape) / np.sqrt(shape)
    # A law whose mean is next to nothing is nearly all at 0; it is no reason for a smaller error.
    return np.asarray(np.maximum.accumulate(np.maximum(upper / _NORMAL, 1.0)))


_FACTORS = _factors()


def wide_enough(counts: FloatArray, deviation: FloatArray) -> FloatArray:
    """Returns errors of which 1.96 reach the upper end of what a count may be.

    Args:
        counts: Expected counts; not negative.
        deviation: Roots of the expected squares that they are off by.
    """
    ratio = deviation / np.maximum(counts, 1e-9)
    return np.asarray(deviation * np.interp(ratio, _RATIOS, _FACTORS), dtype=np.float64)
