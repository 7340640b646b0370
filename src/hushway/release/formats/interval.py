"""Intervals of 95% beside published numbers: the same two columns in the tables of all families."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import FloatArray
from hushway.release.formats.columns import NUMBER, Column

# So many standard errors to either side hold 95% of a normal distribution.
ERRORS_95: Final = 1.96
_DECIMALS: Final = 2
LOW, HIGH = "low", "high"
INTERVAL = (
    Column(
        LOW, NUMBER, "Lower end of an interval of 95%: 1.96 standard errors below the count, or 0."
    ),
    Column(HIGH, NUMBER, "Upper end of it: 1.96 standard errors above the count."),
)


def interval_of(
    centres: NDArray[np.number], errors: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Returns the ends of 95% intervals to two decimals, cut at 0: no number is below it."""
    middle = centres.astype(np.float64)
    half = ERRORS_95 * np.asarray(errors, dtype=np.float64)
    return _at_least_0(middle - half), _at_least_0(middle + half)


def _at_least_0(ends: FloatArray) -> FloatArray:
    return np.maximum(np.round(ends, _DECIMALS), 0.0)


def are_intervals(
    low: FloatArray, high: FloatArray, centres: NDArray[np.number], errors: FloatArray
) -> bool:
    """Says whether columns hold the intervals of their numbers."""
    return all(map(np.array_equal, (low, high), interval_of(centres, errors)))
