"""An average day beside sums over days: further columns, divided by a public number of days.

Sums stay whole and are what a verifier adds up; averages follow from them, number by number.
"""

from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushway.arrays import FloatArray, IntArray
from hushway.geography.periods import Periods
from hushway.release.formats.columns import NUMBER, WHOLE, Column
from hushway.release.formats.places import DAYS_COUNTED, number_array

_DECIMALS: Final = 3


def per_day(numbers: NDArray[Any], days: IntArray | int) -> FloatArray:
    """Returns numbers of an average day, to three decimals."""
    return np.asarray(np.round(numbers / days, _DECIMALS))


def per_day_columns(periods: Periods, *names: str) -> tuple[Column, ...]:
    """Returns the columns that stand behind columns of sums, if an average day is published."""
    if not periods.average:
        return ()
    averages = (
        Column(
            f"{name}_per_day",
            NUMBER,
            f"Of an average day: {name} divided by {DAYS_COUNTED}, to three decimals.",
        )
        for name in names
    )
    days = Column(DAYS_COUNTED, WHOLE, "Days of the window that are counted together.")
    return (days, *averages)


def per_day_arrays(days: IntArray, *numbers: NDArray[Any]) -> list[pa.Array]:
    """Returns what these columns hold."""
    return [number_array(days), *(number_array(per_day(each, days)) for each in numbers)]
