"""Intervals beside standard errors: what the noise alone leaves open, for readers who draw bars."""

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import FloatArray

# So many standard errors to either side hold 95% of a normal law.
ERRORS_95 = 1.96
LOW, HIGH = "low", "high"


def interval_of(
    centres: NDArray[np.number], errors: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Returns the ends of intervals of 95%, cut at 0: no number of trips is below it.

    Args:
        centres: What was published or measured.
        errors: The standard error of each, or of all.
    """
    middle = centres.astype(np.float64)
    half = ERRORS_95 * np.asarray(errors, dtype=np.float64)
    return np.maximum(middle - half, 0.0), np.maximum(middle + half, 0.0)


def are_intervals(
    low: FloatArray, high: FloatArray, centres: NDArray[np.number], errors: FloatArray | float
) -> bool:
    """Whether published ends are those of the intervals."""
    expected = interval_of(centres, errors)
    return np.array_equal(low, expected[0]) and np.array_equal(high, expected[1])
