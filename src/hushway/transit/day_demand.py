"""The demand of one day: a table counts many days together, and a fleet works one of them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PlanError
from hushway.families.od.public.cells import ODCells
from hushway.families.published_trips import PublishedTrips
from hushway.geography.periods import WEEKDAYS, Periods
from hushway.transit.rider_trips import RiderTrips, draw_trips

Hours = tuple[int, int]

_HOURS = re.compile(r"(\d\d?):([0-5]\d)-(\d\d?):([0-5]\d)", re.ASCII)


@dataclass(frozen=True, kw_only=True, eq=False)
class DayDemand:
    """Trips of an average day among some, kept as exact sums.

    Attributes:
        universe: The cells of one day; its window of days is the first day that was counted.
        cells: Numbers of the cells that have trips, ascending.
        sums: The trips of each, over all days that were counted.
        days: How many days were counted.
        another: Gives the same demand as another draw of the table has it, if there are draws.
    """

    universe: ODCells
    cells: IntArray
    sums: IntArray
    days: int
    another: "Callable[[int], DayDemand] | None" = None

    @property
    def mean_trips(self) -> FloatArray:
        """The trips of each cell on an average day."""
        return self.sums / self.days

    @property
    def window_s(self) -> Hours:
        """From when to when trips begin, in seconds after midnight."""
        return self.universe.periods.opens * 60, self.universe.periods.closes * 60

    def draw(self, seed: int) -> RiderTrips:
        """Returns a day of whole trips that has the average number in every cell, on average.

        A cell has the whole part of its average, and with the chance of the remainder one trip
        more; each trip begins at a moment drawn within its period. Where a table can be drawn
        again, every day has a draw of its own.
        """
        if self.another is not None:
            return self.another(seed).draw(seed)
        whole, rest = np.divmod(self.sums, self.days)
        # A stream of its own: the moments come from the seed itself.
        rng = np.random.Generator(np.random.PCG64([seed, 1]))
        one_more = rng.integers(self.days, size=len(rest)) < rest
        return draw_trips(self.universe, self.cells, whole + one_more, seed=seed)


def published_day(
    table: PublishedTrips, *, day: str | None = None, hours: Hours | None = None
) -> DayDemand:
    """Returns the demand of one day of a release, and of every draw that can be made of it."""

    def another(seed: int) -> DayDemand:
        drawn = table.drawn(seed)
        return one_day(table.universe, drawn.cells, drawn.counts, day=day, hours=hours)

    best = one_day(table.universe, table.cells, table.counts, day=day, hours=hours)
    return best if table.estimates is None else replace(best, another=another)


def one_day(
    universe: ODCells,
    cells: IntArray,
    counts: IntArray,
    *,
    day: str | None = None,
    hours: Hours | None = None,
) -> DayDemand:
    """Returns the demand of one day in a table over a window of days.

    Args:
        universe: The cells of the table.
        cells: Numbers of the cells that hold trips, ascending.
        counts: The trips of each.
        day: Which day: a weekday such as Tue where the table has periods of the week, a date such
            as 2026-03-03 where it has periods of the window, nothing where all days are counted
            together.
        hours: From which minute of the day to which, on borders of periods; all unless given.

    Raises:
        PlanError: The table does not have that day or these hours.
    """
    chosen = _chosen_days(universe.periods, day)
    opens, closes = _on_borders(universe.periods, hours)
    kept = replace(
        universe,
        periods=replace(
            universe.periods,
            first_day=chosen[0],
            last_day=chosen[0],
            opens=opens,
            closes=closes,
            cycle="day",
        ),
    )
    period, origin, destination = universe.decode(cells)
    first = _first_period(universe.periods, chosen[0])
    first += (opens - universe.periods.opens) // universe.periods.minutes
    period = period - first
    inside = (period >= 0) & (period < len(kept.periods)) & (counts > 0)
    return DayDemand(
        universe=kept,
        cells=kept.encode(period[inside], origin[inside], destination[inside]),
        sums=counts[inside],
        days=len(chosen),
    )


def hours_of(text: str) -> Hours:
    """Reads hours such as 08:00-10:00 as minutes of the day; one_day says whether they fit.

    Raises:
        PlanError: The text is not two times of the day.
    """
    found = _HOURS.fullmatch(text.strip())
    if found is None:
        raise PlanError(
            f"{text!r} are not hours of a day.", advice="Write them like this: 08:00-10:00."
        )
    since_h, since_min, until_h, until_min = (int(part) for part in found.groups())
    return since_h * 60 + since_min, until_h * 60 + until_min


def _chosen_days(periods: Periods, day: str | None) -> tuple[date, ...]:
    """Returns the days of the window that are counted together for the day asked for."""
    if periods.cycle == "day":
        if day is not None:
            raise PlanError(
                "The table counts all days together, so none of them can be looked at alone.",
                advice="Leave the day out: the average day is taken.",
            )
        return periods.days
    weekly = periods.cycle == "week"
    chosen = tuple(each for each in periods.days if _name(each, weekly=weekly) == _asked(day))
    if not chosen:
        present = sorted({each.weekday() for each in periods.days})
        weekdays = ", ".join(WEEKDAYS[number] for number in present)
        dates = f"{periods.first_day} to {periods.last_day}"
        kind, known = ("weekday", weekdays) if weekly else ("date", dates)
        raise PlanError(
            f"A {kind} is needed." if day is None else f"The table has no {kind} {day!r}.",
            advice=f"Name one that the window has: {known}.",
        )
    return chosen


def _asked(day: str | None) -> str | None:
    return None if day is None else day.strip().capitalize()


def _name(day: date, *, weekly: bool) -> str:
    return WEEKDAYS[day.weekday()] if weekly else day.isoformat()


def _first_period(periods: Periods, day: date) -> int:
    return periods.wall_slots[(day - periods.first_day).days * periods.parts].period


def _on_borders(periods: Periods, hours: Hours | None) -> Hours:
    if hours is None:
        return periods.opens, periods.closes
    inside = periods.opens <= hours[0] < hours[1] <= periods.closes
    if not inside or any((minute - periods.opens) % periods.minutes for minute in hours):
        (opens, _), (_, closes) = periods.part_clocks[0], periods.part_clocks[-1]
        raise PlanError(
            "The hours do not begin and end with periods of the table.",
            advice=f"Its periods last {periods.minutes} minutes, from {opens} to {closes}.",
        )
    return hours
