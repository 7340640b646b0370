"""A public table that turns times into days and periods, as a lookup by division."""

from dataclasses import dataclass, replace
from math import gcd

import numpy as np
import pyarrow as pa

from hushway.arrays import Int32Array, IntArray
from hushway.engine.lookup import TimeGrid, time_grid
from hushway.geography.periods import Periods
from hushway.tables.clock import Clock


@dataclass(frozen=True, kw_only=True, eq=False)
class DayGrid:
    """Buckets of one length from the window's start to its end.

    Attributes:
        start_us: Start of the first bucket.
        end_us: End of the last bucket.
        bucket_us: Length of a bucket.
        day: The day of the window that each bucket belongs to; -1 outside service hours.
        period: The period that it lies in; -1 likewise.
    """

    start_us: int
    end_us: int
    bucket_us: int
    day: Int32Array
    period: Int32Array

    @property
    def table(self) -> pa.Table:
        """The buckets that lie in a period, as a table (bucket, day, period)."""
        used = np.flatnonzero(self.day >= 0)
        starts = self.start_us + used * self.bucket_us
        return pa.table({"bucket": starts, "day": self.day[used], "period": self.period[used]})

    def bucket(self, since_us: IntArray) -> IntArray:
        """Returns the bucket of times, given in microseconds from the first bucket's start."""
        return since_us // self.bucket_us


def day_grid(periods: Periods, clock: Clock) -> DayGrid:
    """Returns the days and periods of a window on a clock.

    A day is one of the agency's wall clock, also where the rows carry instants.
    """
    grids: list[tuple[int, TimeGrid]] = []
    for number, day in enumerate(periods.days):
        grid = time_grid(replace(periods, first_day=day, last_day=day), clock)
        # A day that no clock ever showed, such as Samoa's skipped one, has no buckets.
        if len(grid.starts):
            grids.append((number, grid))
    if not grids:
        start = periods.wall_slots[0].start_us
        nowhere = np.full(1, -1, dtype=np.int32)
        return DayGrid(start_us=start, end_us=start, bucket_us=1, day=nowhere, period=nowhere)
    start = min(grid.start_us for _, grid in grids)
    end = max(grid.end_us for _, grid in grids)
    bucket = gcd(*(v for _, g in grids for v in (g.bucket_us, g.start_us - start, end - start)))
    day_of = np.full((end - start) // bucket, -1, dtype=np.int32)
    period_of = day_of.copy()
    for number, grid in grids:
        parts = np.arange(grid.bucket_us // bucket)
        at = ((grid.starts - start) // bucket)[:, None] + parts
        day_of[at] = number
        period_of[at] = grid.periods[:, None]
    return DayGrid(start_us=start, end_us=end, bucket_us=bucket, day=day_of, period=period_of)
