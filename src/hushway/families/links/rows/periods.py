"""The period of any second of a window, by division."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.engine.lookup import time_grid
from hushway.geography.periods import Periods
from hushway.tables.clock import Clock

_US = 1e6


@dataclass(frozen=True, kw_only=True, eq=False)
class PeriodLookup:
    """Buckets of one length from the window's start to its end.

    Attributes:
        start_us: Start of the first bucket, microseconds since 1970.
        end_us: End of the last bucket.
        bucket_us: Length of a bucket.
        period: The period that each bucket lies in; -1 outside service hours, and where the wall
            clock never was.
    """

    start_us: int
    end_us: int
    bucket_us: int
    period: IntArray

    @classmethod
    def of(cls, periods: Periods, clock: Clock) -> "PeriodLookup":
        """Returns the buckets of periods on a clock."""
        grid = time_grid(periods, clock)
        period = np.full((grid.end_us - grid.start_us) // grid.bucket_us, -1, dtype=np.int64)
        period[(grid.starts - grid.start_us) // grid.bucket_us] = grid.periods
        return cls(
            start_us=grid.start_us,
            end_us=grid.end_us,
            bucket_us=grid.bucket_us,
            period=period,
        )

    def at(self, seconds: FloatArray) -> IntArray:
        """Returns the period of times in seconds since the first bucket's start; -1 for none."""
        bucket = np.floor(seconds * (_US / self.bucket_us))
        inside = (bucket >= 0) & (bucket < len(self.period))
        return np.where(inside, self.period[np.where(inside, bucket, 0).astype(np.int64)], -1)
