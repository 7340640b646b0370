"""Public tables that turn ids and times into indexes: places, and buckets of time."""

from dataclasses import dataclass, replace
from math import gcd

import ibis
import numpy as np
import pyarrow as pa

from hushway.arrays import Int32Array, IntArray
from hushway.engine.session import Session
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.tables.header import Clock

_MOST_INT64 = (1 << 63) - 1


@dataclass(frozen=True, kw_only=True)
class TimeGrid:
    """Buckets of one length that refine all periods, so that a time finds its period by equality.

    Attributes:
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
    """Returns the buckets of the periods on a clock, without times that the clock never showed.

    Hours of a service day are counted from its beginning, so that none of them is skipped.
    """
    slots = periods.instant_slots if clock == "utc" else periods.wall_slots
    skipped = periods.skipped_wall if clock == "local" else ()
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


def load_places(session: Session, locations: Locations, *, integers: bool) -> ibis.Table:
    """Puts the public table (id, place) into an engine."""
    return session.load("public_places", place_table(locations, integers=integers))


def place_table(locations: Locations, *, integers: bool) -> pa.Table:
    """Returns the table (id, place) to join a column of ids with.

    Ids are compared as text. For a column of integers that is the same as comparing numbers with
    those ids that are written as an integer writes itself; any other id can have no match there.
    """
    if not integers:
        named = locations.places_of_ids
        numbers = pa.array(named.values(), pa.int64())
        return pa.table({"id": pa.array(named, pa.string()), "place": numbers})
    known = [(int(id_), i) for id_, i in locations.places_of_ids.items() if _is_integer(id_)]
    ids, places = zip(*known, strict=True) if known else ((), ())
    return pa.table({"id": pa.array(ids, pa.int64()), "place": pa.array(places, pa.int64())})


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        return False
    number = int(text)
    return str(number) == text and -_MOST_INT64 - 1 <= number <= _MOST_INT64


@dataclass(frozen=True, kw_only=True, eq=False)
class DayGrid:
    """Buckets of one length from the window's start to its end.

    Attributes:
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
