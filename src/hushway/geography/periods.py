"""Public periods of the day, of the week or of a window of days, on the agency's wall clock.

A period of the day such as 08:00-08:30 is counted over all days of the window together; a period of
the week such as Mon 08:00-08:30 over all Mondays of the window together; a period of a day type
such as weekday am peak over all days of that type; a period of the window is counted by itself, and
there is one for every part of every day. The protected rows carry instants (UTC or with an offset),
wall-clock times of the agency or hours of a service day; all are turned into a period here, by
public tables that an engine can join, so that daylight-saving days need no special case in any
engine.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Literal, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hushway.errors import GeographyError
from hushway.geography.clock import Stretch, clock_stretches, wall_microseconds
from hushway.geography.service_day import (
    DAY_MINUTES,
    MOST_MINUTES,
    WEEKDAYS,
    DayPart,
    DayType,
    equal_parts,
    refuse_unfit_parts,
    refuse_unfit_types,
)
from hushway.privacy.public_facts import digest_of, public_facts

Cycle = Literal["day", "week", "day_type", "window"]

_FIRST_YEAR, _LAST_YEAR = 1900, 2200
_DAY_US = 24 * 60 * 60 * 1_000_000


@public_facts
@dataclass(frozen=True, kw_only=True)
class Slot:
    """A stretch of microseconds since 1970 that falls into one period: [start, end)."""

    start_us: int
    end_us: int
    period: int


@public_facts
@dataclass(frozen=True, kw_only=True)
class Periods:
    """Parts of the service day, on every day from `first_day` to `last_day`.

    With the cycle "day" a period is a part of the day. With the cycle "week" it is a part of a
    weekday, Monday first: 168 periods if the parts are hours. All seven weekdays have periods even
    if the window is too short to hold them all; the periods of a weekday that it lacks are public
    like the others, and no trip falls into them. With the cycle "day_type" it is a part of a type
    of days, likewise; days of no type are not counted. With the cycle "window" every part of every
    day is a period: a series in time. A day has the same periods when the clocks change: the hour
    that is skipped stays empty, the hour that comes twice is one period.

    A service day may go on after midnight, for a day at most: 25:30 is half past one in the night
    that follows, and whoever travels then is counted on the day before.

    Attributes:
        zone: IANA name of the agency's time zone.
        opens: Minutes after midnight at which the first period starts.
        closes: Minutes after midnight at which the last period ends (1440 is midnight).
        minutes: Length of one period; 0 where parts are named.
        cycle: Which days are counted together: all, those of one weekday or type, or none.
        named: Parts of the day with names and lengths of their own, in order; empty for parts of
            one length. There may be gaps between them.
        day_types: With the cycle "day_type", the types.
        holidays: With the cycle "day_type", the days that are holidays, ascending.
        average: Whether numbers are published by average day too: sums divided by `days_counted`.
    """

    zone: str
    first_day: date
    last_day: date
    opens: int
    closes: int
    minutes: int
    cycle: Cycle = "day"
    named: tuple[DayPart, ...] = ()
    day_types: tuple[DayType, ...] = ()
    holidays: tuple[date, ...] = ()
    average: bool = False

    def __post_init__(self) -> None:
        _check_zone(self.zone)
        if self.cycle not in get_args(Cycle):
            raise GeographyError(
                f"Periods cannot be counted by {self.cycle!r}.",
                advice='Set cycle = "day" to count all days together, "week", "day_type" or '
                '"window".',
            )
        if self.last_day < self.first_day:
            raise GeographyError(
                "The window ends before it starts.", advice="Swap first_day and last_day."
            )
        if self.first_day.year < _FIRST_YEAR or self.last_day.year > _LAST_YEAR:
            raise GeographyError(
                f"The window must lie between the years {_FIRST_YEAR} and {_LAST_YEAR}.",
                advice="Check the years of first_day and last_day.",
            )
        self._check_hours()
        self._check_types()
        self._check_average()
        # Only names that people chose can meet: "a" and "b c" with "a b" and "c".
        if self.day_types and len(set(self.labels)) != len(self.labels):
            raise GeographyError(
                "Two periods would have the same label.",
                advice="Give parts of the day and day types names that differ together, too.",
            )

    def _check_hours(self) -> None:
        if self.named:
            refuse_unfit_parts(self.named)
        if not 0 <= self.opens < self.closes <= MOST_MINUTES:
            raise GeographyError(
                "The service day must start before it ends, between 00:00 and 48:00.",
                advice="Give opens and closes as HH:MM, for example 06:00 and 20:00; after "
                "midnight the hours go on: 25:30.",
            )
        if self.closes - self.opens > DAY_MINUTES or self.opens >= DAY_MINUTES:
            raise GeographyError(
                "The service day must start before midnight and last no longer than a day: the "
                "next one would begin before it ends.",
                advice="Let it close when the next one opens, for example 04:00 and 28:00.",
            )
        if self.named:
            hours = (self.named[0].starts, self.named[-1].ends, 0)
            if (self.opens, self.closes, self.minutes) != hours:
                raise GeographyError(
                    "Named parts of the day come with hours that are not theirs.",
                    advice="Leave out opens, closes and minutes: the parts say them.",
                )
        elif self.minutes <= 0 or (self.closes - self.opens) % self.minutes:
            raise GeographyError(
                f"Periods of {self.minutes} minutes do not fill the service day.",
                advice="Choose a length that divides the time from opens to closes.",
            )

    def _check_types(self) -> None:
        typed = self.cycle == "day_type"
        if typed != bool(self.day_types) or (self.holidays and not typed):
            raise GeographyError(
                'Day types and holidays belong to cycle = "day_type", which needs day types.',
                advice='Set cycle = "day_type" and name the types, or leave all of it out.',
            )
        refuse_unfit_types(self.day_types)
        if any(later <= earlier for earlier, later in pairwise(self.holidays)):
            raise GeographyError(
                "The holidays are not in order, or one is named twice.",
                advice="Name every holiday once, in order.",
            )
        if typed and all(self.first_period(day) is None for day in self.days):
            raise GeographyError(
                "No day of the window is of any of the day types.",
                advice="Name the weekdays that the window has.",
            )

    def _check_average(self) -> None:
        if not self.average:
            return
        if self.cycle == "window":
            raise GeographyError(
                "Every day of the window is counted by itself, so there is no average of days.",
                advice='Set cycle = "day", "week" or "day_type", or publish sums.',
            )
        missing = [name for name, days in self.kinds_of_days.items() if not days]
        if missing:
            raise GeographyError(
                f"The window has no {missing[0] or 'day'}, so there is no average one.",
                advice="Choose a longer window, or leave out the type of days.",
            )

    def __len__(self) -> int:
        return self.parts * len(self._day_names)

    @property
    def parts(self) -> int:
        """Number of parts of a day."""
        return len(self.day_parts)

    @cached_property
    def day_parts(self) -> tuple[DayPart, ...]:
        """The parts of a day, in order."""
        return self.named or equal_parts(self.opens, self.closes, self.minutes)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Readable names in index order: 08:00-08:30, Mon 08:00-08:30, 2026-03-02 08:00-08:30."""
        return self._labelled([part.name for part in self.day_parts])

    @cached_property
    def short_labels(self) -> tuple[str, ...]:
        """The labels with the start alone where parts have no names: 08:00, Mon 08:00."""
        if self.named:
            return self.labels
        return self._labelled([start for start, _ in self.part_clocks])

    def _labelled(self, parts: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"{day} {part}".lstrip() for day in self._day_names for part in parts)

    @cached_property
    def _day_names(self) -> tuple[str, ...]:
        """What tells the kinds of days apart that are not counted together."""
        names: dict[Cycle, tuple[str, ...]] = {
            "day": ("",),
            "week": WEEKDAYS,
            "day_type": tuple(each.name for each in self.day_types),
        }
        return names.get(self.cycle) or tuple(day.isoformat() for day in self.days)

    @cached_property
    def part_clocks(self) -> tuple[tuple[str, str], ...]:
        """When each part of a day starts and ends, as HH:MM; midnight is 00:00 at the end too."""
        return tuple(part.clocks for part in self.day_parts)

    @cached_property
    def moments(self) -> tuple[tuple[datetime, datetime], ...]:
        """When each period starts and ends on its example day, in the zone.

        A time that comes twice is meant as it comes first. One that is skipped is told by the
        clock as it was before, which is the moment so long after midnight.
        """
        zone = ZoneInfo(self.zone)
        return tuple(
            (_moment(day, part.starts, zone), _moment(day, part.ends, zone))
            for day in self.example_days[:: self.parts]
            for part in self.day_parts
        )

    @cached_property
    def days(self) -> tuple[date, ...]:
        """The days of the window."""
        count = (self.last_day - self.first_day).days + 1
        return tuple(self.first_day + timedelta(days=i) for i in range(count))

    @cached_property
    def kinds_of_days(self) -> dict[str, tuple[date, ...]]:
        """The days of the window of each kind of days, by its name; "" where all are one kind.

        A day is one however many hours it has. A day that the clocks left out, as Samoa did at the
        date line, never was.
        """
        found: dict[str, list[date]] = {name: [] for name in self._day_names}
        for day in self.days:
            first = self.first_period(day)
            if first is not None and day not in self._skipped_days:
                found[self._day_names[first // self.parts]].append(day)
        return {name: tuple(days) for name, days in found.items()}

    @property
    def days_counted(self) -> tuple[int, ...]:
        """How many days of the window each period is counted on."""
        return tuple(len(days) for days in self.kinds_of_days.values() for _ in range(self.parts))

    @cached_property
    def _skipped_days(self) -> set[date]:
        return {
            day
            for low, high in self.skipped_wall
            if high - low >= _DAY_US
            for day in self.days
            if low <= wall_microseconds(day, 0) and wall_microseconds(day, DAY_MINUTES) <= high
        }

    @property
    def last_touched_day(self) -> date:
        """The last calendar day on which a trip can count: one more if service goes on."""
        return self.last_day + timedelta(days=(self.closes - 1) // DAY_MINUTES)

    @cached_property
    def example_days(self) -> tuple[date, ...]:
        """A day for each period to be drawn on: the first one of the window that it is counted on.

        In a window that lacks the weekday it is the first one after the window; in one that lacks
        the day type, a day after the window that no other type is drawn on.
        """
        if self.cycle == "week":
            waits = ((weekday - self.first_day.weekday()) % 7 for weekday in range(len(WEEKDAYS)))
            firsts = [self.first_day + timedelta(days=wait) for wait in waits]
        else:
            found: dict[int, date] = {}
            for day in self.days:
                if (first := self.first_period(day)) is not None:
                    found.setdefault(first, day)
            numbers = range(0, len(self), self.parts)
            after = [self.last_day + timedelta(days=1 + i) for i in range(len(numbers))]
            firsts = [found.get(number) or after[i] for i, number in enumerate(numbers)]
        return tuple(day for day in firsts for _ in range(self.parts))

    def only_parts(self, kept: range) -> "Periods":
        """Returns the periods of some neighbouring parts of the day alone."""
        parts = self.day_parts[kept.start : kept.stop]
        return replace(
            self,
            opens=parts[0].starts,
            closes=parts[-1].ends,
            named=parts if self.named else (),
        )

    @cached_property
    def wall_slots(self) -> tuple[Slot, ...]:
        """Periods as stretches of wall-clock time (a naive time read as if it were UTC)."""
        return tuple(
            Slot(
                start_us=wall_microseconds(day, part.starts),
                end_us=wall_microseconds(day, part.ends),
                period=first + i,
            )
            for day in self.days
            if (first := self.first_period(day)) is not None
            for i, part in enumerate(self.day_parts)
        )

    @cached_property
    def instant_slots(self) -> tuple[Slot, ...]:
        """Periods as stretches of real time.

        On the day the clocks go forward the skipped period is empty and left out; on the day they
        go back the repeated hour belongs to the same wall-clock period twice, so a period may have
        two stretches that day.
        """
        starts = [slot.start_us for slot in self.wall_slots]
        slots: list[Slot] = []
        for stretch in self._stretches:
            first = max(bisect_right(starts, stretch.wall_start_us) - 1, 0)
            last = bisect_left(starts, stretch.wall_end_us)
            for slot in self.wall_slots[first:last]:
                low = max(slot.start_us, stretch.wall_start_us) - stretch.ahead_us
                high = min(slot.end_us, stretch.wall_end_us) - stretch.ahead_us
                if low < high:
                    slots.append(Slot(start_us=low, end_us=high, period=slot.period))
        return tuple(slots)

    @cached_property
    def skipped_wall(self) -> tuple[tuple[int, int], ...]:
        """Wall-clock stretches [start, end) in microseconds that never happened in the window."""
        opens = wall_microseconds(self.first_day, 0)
        closes = wall_microseconds(self.last_day, max(self.closes, DAY_MINUTES))
        gaps = (
            (max(before.wall_end_us, opens), min(after.wall_start_us, closes))
            for before, after in pairwise(self._stretches)
        )
        return tuple((start, end) for start, end in gaps if start < end)

    def first_period(self, day: date) -> int | None:
        """Returns the first period of a day of the window; None where the day is of no type."""
        if self.cycle == "day_type":
            kinds = [self._is_of(day, each) for each in self.day_types]
            return kinds.index(True) * self.parts if any(kinds) else None
        number = {"day": 0, "week": day.weekday(), "window": (day - self.first_day).days}
        return number[self.cycle] * self.parts

    def _is_of(self, day: date, kind: DayType) -> bool:
        return kind.holidays if day in self.holidays else day.weekday() in kind.weekdays

    @cached_property
    def _stretches(self) -> tuple[Stretch, ...]:
        return clock_stretches(ZoneInfo(self.zone), self.first_day, self.last_day)

    @cached_property
    def digest(self) -> str:
        """A digest of the public choice of periods."""
        facts: dict[str, object] = {
            "zone": self.zone,
            "first_day": self.first_day.isoformat(),
            "last_day": self.last_day.isoformat(),
            "opens": self.opens,
            "closes": self.closes,
            "minutes": self.minutes,
        }
        # Releases with periods of the day are older than the cycle and must keep their digest.
        if self.cycle != "day":
            facts["cycle"] = self.cycle
        if self.named:
            facts["parts"] = [[part.name, part.starts, part.ends] for part in self.named]
        if self.day_types:
            facts["day_types"] = [[each.name, each.members] for each in self.day_types]
            facts["holidays"] = [day.isoformat() for day in self.holidays]
        if self.average:
            facts["average"] = True
        return digest_of(facts)


def _moment(day: date, minute: int, zone: ZoneInfo) -> datetime:
    midnight = datetime.combine(day, time())
    return (midnight + timedelta(minutes=minute)).replace(tzinfo=zone)


def _check_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise GeographyError(
            f"There is no time zone {name!r}.",
            advice="Use an IANA name such as America/Detroit or Europe/Paris.",
        ) from None
