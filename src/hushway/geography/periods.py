"""Public periods of the day, on the agency's wall clock, over a window of days.

A period such as 08:00-08:30 is counted over all days of the window together. The protected rows
carry either instants (UTC or with an offset) or wall-clock times of the agency; both are turned
into a period here, by public tables that an engine can join, so that daylight-saving days need no
special case in any engine.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from itertools import pairwise
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hushway.errors import GeographyError
from hushway.geography.digest import digest_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_MINUTES = 24 * 60


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A stretch of microseconds since 1970 that falls into one period: [start, end)."""

    start_us: int
    end_us: int
    period: int


@dataclass(frozen=True, kw_only=True)
class Periods:
    """Equal periods of the service day, on every day from `first_day` to `last_day`.

    Attributes:
        zone: IANA name of the agency's time zone.
        first_day: First day of the window.
        last_day: Last day of the window.
        opens: Minutes after midnight at which the first period starts.
        closes: Minutes after midnight at which the last period ends (1440 is midnight).
        minutes: Length of one period.
    """

    zone: str
    first_day: date
    last_day: date
    opens: int
    closes: int
    minutes: int

    def __post_init__(self) -> None:
        _check_zone(self.zone)
        if self.last_day < self.first_day:
            raise GeographyError(
                "The window ends before it starts.", advice="Swap first_day and last_day."
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
        return (self.closes - self.opens) // self.minutes

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Readable names in index order, such as 08:00-08:30."""
        starts = range(self.opens, self.closes, self.minutes)
        return tuple(f"{_clock(start)}-{_clock(start + self.minutes)}" for start in starts)

    @cached_property
    def days(self) -> tuple[date, ...]:
        """The days of the window."""
        count = (self.last_day - self.first_day).days + 1
        return tuple(self.first_day + timedelta(days=i) for i in range(count))

    @cached_property
    def wall_slots(self) -> tuple[Slot, ...]:
        """Periods as stretches of wall-clock time (a naive time read as if it were UTC)."""
        return tuple(
            Slot(
                start_us=_wall_us(day, start), end_us=_wall_us(day, start + self.minutes), period=i
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
        zone = ZoneInfo(self.zone)
        slots: list[Slot] = []
        for day in self.days:
            for start_us, end_us, wall_minute in _real_stretches(day, zone):
                slots += self._cut(start_us, end_us, wall_minute)
        return tuple(sorted(slots, key=lambda slot: slot.start_us))

    def _cut(self, start_us: int, end_us: int, wall_minute: int) -> list[Slot]:
        """Cuts a stretch of real time with one UTC offset into the periods it covers."""
        last_minute = wall_minute + (end_us - start_us) // 60_000_000
        pieces = []
        for i, opens in enumerate(range(self.opens, self.closes, self.minutes)):
            low, high = max(opens, wall_minute), min(opens + self.minutes, last_minute)
            if low < high:
                pieces.append(
                    Slot(
                        start_us=start_us + (low - wall_minute) * 60_000_000,
                        end_us=start_us + (high - wall_minute) * 60_000_000,
                        period=i,
                    )
                )
        return pieces

    @cached_property
    def skipped_wall(self) -> tuple[tuple[int, int], ...]:
        """Wall-clock stretches [start, end) in microseconds that never happened in the window."""
        zone = ZoneInfo(self.zone)
        gaps = []
        for day in self.days:
            stretches = _real_stretches(day, zone)
            for before, after in pairwise(stretches):
                clock_before = before[2] + (before[1] - before[0]) // 60_000_000
                if after[2] > clock_before:
                    gaps.append((_wall_us(day, clock_before), _wall_us(day, after[2])))
        return tuple(gaps)

    @cached_property
    def digest(self) -> str:
        """A digest of the public choice of periods."""
        return digest_of(
            {
                "zone": self.zone,
                "first_day": self.first_day.isoformat(),
                "last_day": self.last_day.isoformat(),
                "opens": self.opens,
                "closes": self.closes,
                "minutes": self.minutes,
            }
        )


def _real_stretches(day: date, zone: ZoneInfo) -> list[tuple[int, int, int]]:
    """Splits a local day by UTC offset into (start_us, end_us, wall-clock minute at start)."""
    midnight = datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
    next_midnight = datetime.combine(day + timedelta(days=1), time(), tzinfo=zone).astimezone(UTC)
    stretches: list[tuple[int, int, int]] = []
    minute = timedelta(minutes=1)
    start, offset = midnight, midnight.astimezone(zone).utcoffset()
    moment = midnight
    while moment < next_midnight:
        # Offsets change on whole quarter hours in every zone of the database since 1970.
        step = min(moment + 15 * minute, next_midnight)
        changed = step.astimezone(zone).utcoffset()
        if changed != offset or step == next_midnight:
            local = start.astimezone(zone)
            stretches.append((_us(start), _us(step), local.hour * 60 + local.minute))
            start, offset = step, changed
        moment = step
    return stretches


def _us(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _wall_us(day: date, minute: int) -> int:
    return _us(datetime.combine(day, time(), tzinfo=UTC) + timedelta(minutes=minute))


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def _check_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise GeographyError(
            f"There is no time zone {name!r}.",
            advice="Use an IANA name such as America/Detroit or Europe/Paris.",
        ) from None
