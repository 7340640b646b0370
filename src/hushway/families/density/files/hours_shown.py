"""Which bins of a density its picture shows as maps."""

from datetime import date

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.geography.periods import WEEKDAYS, Periods

MOST_MAPS = 4

_SATURDAY = 5
# Night, morning, midday and evening, in minutes after midnight.
_MOMENTS = (4 * 60, 9 * 60, 13 * 60, 21 * 60)


def bins_shown(periods: Periods, totals: FloatArray) -> IntArray:
    """Returns the bins to show: night, morning, midday and evening of the busiest working day.

    Days of few parts are shown with all of them; a series of days with some days of the window.

    Args:
        periods: The bins.
        totals: Visits of the whole city by bin.
    """
    parts = periods.parts
    if parts == 1:
        shown = np.linspace(0, len(periods) - 1, min(MOST_MAPS, len(periods)))
        return np.rint(shown).astype(np.int64)
    if parts <= MOST_MAPS:
        part = np.arange(parts)
    else:
        wanted = (np.array(_MOMENTS) - periods.opens) // periods.minutes
        part = np.unique(np.clip(wanted, 0, parts - 1))
    return np.asarray(_busiest_day(periods, totals) * parts + part, dtype=np.int64)


def bin_words(periods: Periods, at: int) -> str:
    """Returns when a bin is, for readers: Thu 13 Sep, 09:00-10:00."""
    day, part = divmod(at, periods.parts)
    start, end = periods.part_clocks[part]
    words = day_words(periods.days[day])
    return words if periods.parts == 1 else f"{words}, {start}-{end}"


def day_words(day: date) -> str:
    """Returns a day for readers: Thu 13 Sep."""
    return f"{WEEKDAYS[day.weekday()]} {day.day} {day:%b}"


def _busiest_day(periods: Periods, totals: FloatArray) -> int:
    by_day = totals.reshape(len(periods.days), periods.parts).sum(axis=1)
    working = [i for i, day in enumerate(periods.days) if day.weekday() < _SATURDAY]
    days = working or list(range(len(periods.days)))
    return max(days, key=lambda day: float(by_day[day]))
