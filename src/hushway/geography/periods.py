"""Public periods of the day, of the week or of a window of days, on the agency's wall clock.

A period of the day such as 08:00-08:30 is counted over all days of the window together; a period of
the week such as Mon 08:00-08:30 over all Mondays of the window together; a period of the window is
counted by itself, and there is one for every part of every day. The protected rows
carry either instants (UTC or with an offset) or wall-clock times of the agency; both are turned
into a period here, by public tables that an engine can join, so that daylight-saving days need no
special case in any engine.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hushway.errors import GeographyError
from hushway.privacy.public_facts import digest_of, public_facts

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)
_HOUR = timedelta(hours=1)
# No clock is more than a day away from UTC, and clocks have jumped by a whole day at the date line.
_MARGIN = timedelta(days=2)


@public_facts
@dataclass(frozen=True, kw_only=True)
class Stretch:
    """Real time [start, end) in microseconds since 1970, while the clock was `ahead_us` of UTC."""

    start_us: int
    end_us: int
    ahead_us: int

    @property
    def wall_start_us(self) -> int:
        """What the clock showed at the start, read as if it were UTC."""
        return self.start_us + self.ahead_us

    @property
    def wall_end_us(self) -> int:
        """What the clock was about to show at the end, read as if it were UTC."""
        return self.end_us + self.ahead_us


def clock_stretches(zone: ZoneInfo, first_day: date, last_day: date) -> tuple[Stretch, ...]:
    """Returns the even stretches of a clock that cover some local days, in order.

    Clocks do not only change at full hours, nor only within a day: Newfoundland's went back from
    00:01 to 23:01 of the day before until 2011, Brazil's skipped midnight until 2018, and Samoa's
    skipped a day. So days play no part here; the changes are looked for in real time.
    """
    moment = datetime.combine(first_day, time(), tzinfo=UTC) - _MARGIN
    end = datetime.combine(last_day, time(), tzinfo=UTC) + _MARGIN + timedelta(days=1)

    def ahead(at: datetime) -> timedelta:
        return at.astimezone(zone).utcoffset() or timedelta()

    bounds = [moment]
    shown = ahead(moment)
    while moment < end:
        step = min(moment + _HOUR, end)
        if (then := ahead(step)) != shown:
            bounds.append(_change(ahead, moment, step))
        moment, shown = step, then
    bounds.append(end)
    return tuple(
        Stretch(
            start_us=microseconds(low),
            end_us=microseconds(high),
            ahead_us=ahead(low) // timedelta(microseconds=1),
        )
        for low, high in pairwise(bounds)
        if low < high
    )


def microseconds(moment: datetime) -> int:
    """Returns a moment as microseconds since 1970."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def wall_microseconds(day: date, minute: int) -> int:
    """Returns a minute of a day on the wall clock, read as if it were UTC."""
    return microseconds(datetime.combine(day, time(), tzinfo=UTC) + timedelta(minutes=minute))


def _change(ahead: Callable[[datetime], timedelta], before: datetime, after: datetime) -> datetime:
    """Returns the first second with the offset of `after`, given that `before` has another."""
    while after - before > _SECOND:
        middle = before + (after - before) // _SECOND // 2 * _SECOND
        if ahead(middle) == ahead(after):
            after = middle
        else:
            before = middle
    return after


Cycle = Literal["day", "week", "window"]

WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

_DAY_MINUTES = 24 * 60
_FIRST_YEAR, _LAST_YEAR = 1900, 2200


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
    """Equal parts of the service day, on every day from `first_day` to `last_day`.

    With the cycle "day" a period is a part of the day. With the cycle "week" it is a part of a
    weekday, Monday first: 168 periods if the parts are hours. All seven weekdays have periods even
    if the window is too short to hold them all; the periods of a weekday that it lacks are public
    like the others, and no trip falls into them. With the cycle "window" every part of every day is
    a period: a series in time. A day has the same periods when the clocks change: the hour that is
    skipped stays empty, the hour that comes twice is one period.

    Attributes:
        zone: IANA name of the agency's time zone.
        first_day: First day of the window.
        last_day: Last day of the window.
        opens: Minutes after midnight at which the first period starts.
        closes: Minutes after midnight at which the last period ends (1440 is midnight).
        minutes: Length of one period.
        cycle: Which days are counted together: all, those of one weekday, or none.
    """

    zone: str
    first_day: date
    last_day: date
    opens: int
    closes: int
    minutes: int
    cycle: Cycle = "day"

    def __post_init__(self) -> None:
        _check_zone(self.zone)
        if self.cycle not in get_args(Cycle):
            raise GeographyError(
                f"Periods cannot be counted by {self.cycle!r}.",
                advice='Set cycle = "day" to count all days together, "week" or "window".',
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
        if not 0 <= self.opens < self.closes <= _DAY_MINUTES:
            raise GeographyError(
                "The service day must start before it ends, between 00:00 and 24:00.",
                advice="Give opens and closes as HH:MM, for example 06:00 and 20:00.",
            )
        if self.minutes <= 0 or (self.closes - self.opens) % self.minutes:
            raise GeographyError(
                f"Periods of {self.minutes} minutes do not fill the service day.",
                advice="Choose a length that divides the time from opens to closes.",
            )

    def __len__(self) -> int:
        days = {"day": 1, "week": len(WEEKDAYS), "window": len(self.days)}
        return self.parts * days[self.cycle]

    @property
    def parts(self) -> int:
        """Number of parts of a day."""
        return (self.closes - self.opens) // self.minutes

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Readable names in index order: 08:00-08:30, Mon 08:00-08:30, 2026-03-02 08:00-08:30."""
        parts = [f"{start}-{end}" for start, end in self.part_clocks]
        if self.cycle == "day":
            return tuple(parts)
        days = WEEKDAYS if self.cycle == "week" else [day.isoformat() for day in self.days]
        return tuple(f"{day} {part}" for day in days for part in parts)

    @cached_property
    def part_clocks(self) -> tuple[tuple[str, str], ...]:
        """When each part of a day starts and ends, as HH:MM; midnight is 00:00 at the end too."""
        starts = range(self.opens, self.closes, self.minutes)
        return tuple((_clock(start), _clock(start + self.minutes)) for start in starts)

    @cached_property
    def moments(self) -> tuple[tuple[datetime, datetime], ...]:
        """When each period starts and ends on its example day, in the zone.

        A time that comes twice is meant as it comes first. One that is skipped is told by the
        clock as it was before, which is the moment so long after midnight.
        """
        zone = ZoneInfo(self.zone)
        minutes = range(self.opens, self.closes, self.minutes)
        days = self.example_days[:: self.parts]
        return tuple(
            (_moment(day, start, zone), _moment(day, start + self.minutes, zone))
            for day in days
            for start in minutes
        )

    @cached_property
    def days(self) -> tuple[date, ...]:
        """The days of the window."""
        count = (self.last_day - self.first_day).days + 1
        return tuple(self.first_day + timedelta(days=i) for i in range(count))

    @cached_property
    def example_days(self) -> tuple[date, ...]:
        """A day for each period to be drawn on: the window's first, or the first such weekday.

        In a window that lacks the weekday it is the first one after the window.
        """
        if self.cycle == "day":
            return (self.first_day,) * len(self)
        if self.cycle == "window":
            return tuple(day for day in self.days for _ in range(self.parts))
        waits = ((weekday - self.first_day.weekday()) % 7 for weekday in range(len(WEEKDAYS)))
        firsts = (self.first_day + timedelta(days=wait) for wait in waits)
        return tuple(day for day in firsts for _ in range(self.parts))

    @cached_property
    def wall_slots(self) -> tuple[Slot, ...]:
        """Periods as stretches of wall-clock time (a naive time read as if it were UTC)."""
        return tuple(
            Slot(
                start_us=wall_microseconds(day, start),
                end_us=wall_microseconds(day, start + self.minutes),
                period=self._first_period(day) + i,
            )
            for day in self.days
            for i, start in enumerate(range(self.opens, self.closes, self.minutes))
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
        closes = wall_microseconds(self.last_day, _DAY_MINUTES)
        gaps = (
            (max(before.wall_end_us, opens), min(after.wall_start_us, closes))
            for before, after in pairwise(self._stretches)
        )
        return tuple((start, end) for start, end in gaps if start < end)

    def _first_period(self, day: date) -> int:
        number = {"day": 0, "week": day.weekday(), "window": (day - self.first_day).days}
        return number[self.cycle] * self.parts

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
        return digest_of(facts)


def _clock(minute: int) -> str:
    return f"{minute // 60 % 24:02d}:{minute % 60:02d}"


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
