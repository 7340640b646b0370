"""Public tables that turn what rows say into indexes, by equality joins only."""

from dataclasses import dataclass
from math import gcd

import numpy as np
import pyarrow as pa

from hushway.arrays import IntArray
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.tables.clock import Clock

_MOST_INT64 = (1 << 63) - 1


@dataclass(frozen=True, kw_only=True)
class TimeGrid:
    """Buckets of one length that refine all periods, so that a time finds its period by equality.

    Attributes:
        start_us: Start of the first bucket.
        end_us: End of the last bucket.
        bucket_us: Length of a bucket.
        starts: Start of every bucket that lies in a period.
        periods: The period it lies in.
    """

    start_us: int
    end_us: int
    bucket_us: int
    starts: IntArray
    periods: IntArray

    @property
    def table(self) -> pa.Table:
        """The buckets as a table (bucket, period)."""
        return pa.table({"bucket": self.starts, "period": self.periods})


def time_grid(periods: Periods, clock: Clock) -> TimeGrid:
    """Returns the buckets of the periods on a clock, without times that the clock never showed."""
    slots = periods.wall_slots if clock == "wall" else periods.instant_slots
    skipped = periods.skipped_wall if clock == "wall" else ()
    edges = {edge for slot in slots for edge in (slot.start_us, slot.end_us)}
    if not edges:
        return _nothing(periods)
    start, end = min(edges), max(edges)
    edges |= {min(max(edge, start), end) for gap in skipped for edge in gap}
    bucket = gcd(*(edge - start for edge in edges))
    starts = [np.arange(slot.start_us, slot.end_us, bucket, dtype=np.int64) for slot in slots]
    numbers = [np.full(len(s), slot.period) for s, slot in zip(starts, slots, strict=True)]
    all_starts, all_periods = np.concatenate(starts), np.concatenate(numbers).astype(np.int64)
    real = np.ones(len(all_starts), dtype=np.bool_)
    for low, high in skipped:
        real &= (all_starts < low) | (all_starts >= high)
    return TimeGrid(
        start_us=start,
        end_us=end,
        bucket_us=bucket,
        starts=all_starts[real],
        periods=all_periods[real],
    )


def _nothing(periods: Periods) -> TimeGrid:
    """Returns the grid of a window that no clock ever showed, such as Samoa's skipped day."""
    start = periods.wall_slots[0].start_us
    empty = np.empty(0, dtype=np.int64)
    return TimeGrid(start_us=start, end_us=start + 1, bucket_us=1, starts=empty, periods=empty)


def place_table(locations: Locations, *, integers: bool) -> pa.Table:
    """Returns the table (id, place) to join a column of ids with.

    Ids are compared as text. For a column of integers that is the same as comparing numbers with
    those ids that are written as an integer writes itself; any other id can have no match there.
    """
    if not integers:
        return pa.table({"id": pa.array(locations.ids, pa.string()), "place": _counted(locations)})
    known = [(int(id_), i) for i, id_ in enumerate(locations.ids) if _is_integer(id_)]
    ids, places = zip(*known, strict=True) if known else ((), ())
    return pa.table({"id": pa.array(ids, pa.int64()), "place": pa.array(places, pa.int64())})


def _counted(locations: Locations) -> IntArray:
    return np.arange(len(locations), dtype=np.int64)


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        return False
    number = int(text)
    return str(number) == text and -_MOST_INT64 - 1 <= number <= _MOST_INT64
