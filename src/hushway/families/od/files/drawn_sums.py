"""Flows between groups of places and their totals, in any periods, with errors of these sums."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray, unique_below
from hushway.families.od.public.cells import ODCells
from hushway.release.questions.cells import AskedCells


@dataclass(frozen=True, kw_only=True, eq=False)
class TimeAxis:
    """What times are told apart.

    Attributes:
        position: Where each cell is on it.
        days: By how many days the sums of each time are divided.
    """

    position: IntArray
    days: IntArray

    def __len__(self) -> int:
        return len(self.days)


def parts_of_days(universe: ODCells, cells: AskedCells) -> TimeAxis:
    """Returns the periods of the release."""
    return TimeAxis(position=cells.dimensions["periods"].position, days=_days(universe))


def whole_days(universe: ODCells, cells: AskedCells) -> TimeAxis:
    """Returns the days, or kinds of days, that periods are parts of."""
    parts = universe.periods.parts
    position = cells.dimensions["periods"].position // parts
    return TimeAxis(position=position, days=_days(universe)[::parts])


def _days(universe: ODCells) -> IntArray:
    periods = universe.periods
    return np.array(periods.days_counted if periods.average else [1] * len(periods), dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class FlowSums:
    """Flows above 0, in the order of their times.

    Attributes:
        time: When.
        origin: The group where they begin.
        destination: The group where they end.
        count: How many.
        error: The standard error of that.
    """

    time: IntArray
    origin: IntArray
    destination: IntArray
    count: FloatArray
    error: FloatArray


def flow_sums(cells: AskedCells, axis: TimeAxis, group: IntArray) -> FlowSums:
    """Returns the flows between groups of places."""
    size = int(group.max()) + 1
    origin, destination = (group[cells.dimensions[end].position] for end in _ENDS)
    keys, key = unique_below(
        (axis.position * size + origin) * size + destination, len(axis) * size**2
    )
    count, error = _sums(cells, key, len(keys))
    some = count > 0
    rest, destination = np.divmod(keys[some], size)
    time, origin = np.divmod(rest, size)
    by = axis.days[time]
    return FlowSums(
        time=time,
        origin=origin,
        destination=destination,
        count=count[some] / by,
        error=error[some] / by,
    )


_ENDS = ("origins", "destinations")


def origin_sums(cells: AskedCells, axis: TimeAxis, group: IntArray) -> tuple[FloatArray, ...]:
    """Returns the trips that start in each group at each time, row by row of groups, and errors."""
    key = group[cells.dimensions["origins"].position] * len(axis) + axis.position
    sums = _sums(cells, key, (int(group.max()) + 1) * len(axis))
    return tuple(one.reshape(-1, len(axis)) / axis.days for one in sums)


def _sums(cells: AskedCells, key: IntArray, size: int) -> tuple[FloatArray, FloatArray]:
    count = np.bincount(key, cells.counts, minlength=size)
    return np.maximum(count, 0.0), np.sqrt(np.maximum(cells.variances(key, size), 0.0))
