"""The nearest series that are never negative and sum to what they should."""

import numpy as np

from hushway.arrays import FloatArray


def onto_totals(series: FloatArray, totals: FloatArray) -> FloatArray:
    """Returns, for each row, the nearest row without negative entries and with the given sum.

    The nearest one lowers (or raises) all entries by the same amount and cuts off at 0 (Held, Wolfe
    and Crowder 1974).

    Args:
        series: Any rows.
        totals: What each row is to sum to; not negative.
    """
    descending = -np.sort(-series, axis=1)
    over = np.cumsum(descending, axis=1) - totals[:, None]
    shift = over / np.arange(1, series.shape[1] + 1)
    # The last position at which an entry stays above 0 after the shift; there is always one.
    last = np.maximum((descending > shift).sum(axis=1), 1) - 1
    lowered = series - shift[np.arange(len(series)), last][:, None]
    return np.asarray(np.maximum(lowered, 0.0), dtype=np.float64)
