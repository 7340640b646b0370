"""The demand of one day: a table counts many days together, and a fleet works one of them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PlanError, ReleaseError
from hushway.families.load import load_plan, prepare
from hushway.families.od.planning.evaluation import exact_trips
from hushway.families.od.public.cells import ODCells
from hushway.families.od.synthetic.published import PublishedTrips, read_published_trips
from hushway.families.verify import verified
from hushway.geography.periods import Periods
from hushway.geography.service_day import WEEKDAYS
from hushway.progress import Progress
from hushway.transit.legs import RiderTrips, draw_trips

Hours = tuple[int, int]

_HOURS = re.compile(r"(\d\d?):([0-5]\d)-(\d\d?):([0-5]\d)", re.ASCII)


@dataclass(frozen=True, kw_only=True, eq=False)
class DayDemand:
    """Trips of an average day among some, kept as exact sums.

    Attributes:
        universe: The cells of one day; its window of days is the first day that was counted.
        cells: Numbers of the cells that have trips, ascending.
        sums: The trips of each, over all days that were counted.
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


def read_od_table(folder: Path) -> PublishedTrips:
    """Verifies an OD release and reads its table.

    Privacy:
        Reads a published release and nothing else: it costs nothing.
    """
    certificate, facts = verified(folder)
    if certificate.terms.release_type != "od":
        raise ReleaseError(
            f"The release {folder.name} is of the release type "
            f"{certificate.terms.release_type!r}; one of OD tables was expected.",
            advice="Give the folder of a release of the release type od.",
        )
    return read_published_trips(folder, certificate, facts)


def published_day(
    table: PublishedTrips, *, day: str | None = None, hours: Hours | None = None
) -> DayDemand:
    """Returns the demand of one day of a release, and of every draw that can be made of it.

    Raises:
        ReleaseError: It counts journeys besides their rides: a fleet would carry people twice.
        PlanError: The day or the hours are not those of its periods.
    """
    if table.universe.locations.journeys:
        raise ReleaseError(
            "The release counts journeys besides their rides, so that a fleet would carry these "
            "people twice.",
            advice='Publish one with taps.count = "journeys" or "rides".',
        )

    def another(seed: int) -> DayDemand:
        drawn = table.drawn(seed)
        return one_day(table.universe, drawn.cells, drawn.counts, day=day, hours=hours)

    best = one_day(table.universe, table.cells, table.counts, day=day, hours=hours)
    return best if table.learnt is None else replace(best, another=another)


def true_day(
    plan: Path, table: PublishedTrips, *, day: str | None, hours: Hours | None, progress: Progress
) -> DayDemand:
    """Returns the demand of one day of the exact trips of a release's plan.

    Privacy:
        All exact trips are counted, nobody's bounded and without noise: for values that stay
        `Internal`.
    """
    exact = exact_trips(prepare(load_plan(plan)), table.universe, progress)
    return one_day(table.universe, exact.cells, exact.values, day=day, hours=hours)


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
        cells: Numbers of the cells that hold trips, ascending.
        day: Which day: a weekday such as Tue where the table has periods of the week, a type such
            as weekday where it has periods of day types, a date such as 2026-03-03 where it has
            periods of the window, nothing where all days are counted together.
        hours: From which minute of the day to which, on borders of periods; all unless given.
    """
    chosen = _chosen_days(universe.periods, day)
    parts = _on_borders(universe.periods, hours)
    kept = replace(
        universe,
        periods=replace(
            universe.periods.only_parts(parts),
            first_day=chosen[0],
            last_day=chosen[0],
            cycle="day",
            day_types=(),
            holidays=(),
        ),
    )
    period, origin, destination = universe.decode(cells)
    period = period - _first_period(universe.periods, chosen[0]) - parts.start
    inside = (period >= 0) & (period < len(kept.periods)) & (counts > 0)
    return DayDemand(
        universe=kept,
        cells=kept.encode(period[inside], origin[inside], destination[inside]),
        sums=counts[inside],
        days=len(chosen),
    )


def hours_of(text: str) -> Hours:
    """Reads hours such as 08:00-10:00 as minutes of the day; one_day says whether they fit."""
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
    chosen = tuple(each for each in periods.days if _is_asked(periods, each, day))
    if not chosen:
        kind, known = _known_days(periods)
        raise PlanError(
            f"A {kind} is needed." if day is None else f"The table has no {kind} {day!r}.",
            advice=f"Name one that the window has: {known}.",
        )
    return chosen


def _is_asked(periods: Periods, each: date, day: str | None) -> bool:
    name = _name(periods, each)
    return day is not None and name is not None and name.casefold() == day.strip().casefold()


def _known_days(periods: Periods) -> tuple[str, str]:
    """Returns what days are called that the table tells apart, and which of them it has."""
    if periods.cycle == "window":
        return "date", f"{periods.first_day} to {periods.last_day}"
    names = {
        first: _name(periods, each)
        for each in periods.days
        if (first := periods.first_period(each)) is not None
    }
    kind = "weekday" if periods.cycle == "week" else "day type"
    return kind, ", ".join(name for _, name in sorted(names.items()) if name is not None)


def _name(periods: Periods, day: date) -> str | None:
    """Returns what a table calls a day; None if it does not count it."""
    if periods.cycle == "window":
        return day.isoformat()
    if periods.cycle == "week":
        return WEEKDAYS[day.weekday()]
    first = periods.first_period(day)
    return None if first is None else periods.day_types[first // periods.parts].name


def _first_period(periods: Periods, day: date) -> int:
    first = periods.first_period(day)
    assert first is not None  # noqa: S101  only days that are counted are asked for
    return first


def _on_borders(periods: Periods, hours: Hours | None) -> range:
    """Returns the parts of the day between two times."""
    parts = periods.day_parts
    if hours is None:
        return range(len(parts))
    starts, ends = [part.starts for part in parts], [part.ends for part in parts]
    if hours[0] not in starts or hours[1] not in ends or hours[0] >= hours[1]:
        lengths = f"last {periods.minutes} minutes, from {parts[0].clocks[0]} to "
        lengths += parts[-1].clocks[1]
        if periods.named:
            lengths = "are " + ", ".join("-".join(part.clocks) for part in parts)
        raise PlanError(
            "The hours do not begin and end with periods of the table.",
            advice=f"Its periods {lengths}.",
        )
    return range(starts.index(hours[0]), ends.index(hours[1]) + 1)
