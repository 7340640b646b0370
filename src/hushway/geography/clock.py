"""The agency's wall clock against real time: even stretches, and the changes between them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from importlib.resources import files
from itertools import pairwise
from zoneinfo import ZoneInfo

from hushway.privacy.public_facts import public_facts

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


# Radians: 1,700 km. A city may be as far from the one that its zone is named for, and still nearer
# to it with its numbers swapped.
_FAR = math.radians(15)


@cache
def place_of_zone(zone: str) -> tuple[float, float] | None:
    """Returns longitude and latitude of the city that a zone is named for; None if of no city."""
    listed = (files("tzdata") / "zoneinfo" / "zone.tab").read_text("utf-8").splitlines()
    for line in listed:
        if line.startswith("#"):
            continue
        _, position, name, *_ = line.split("\t")
        if name == zone:
            middle = max(position.rfind("+"), position.rfind("-"))
            return _degrees(position[middle:], whole=3), _degrees(position[:middle], whole=2)
    return None


def _degrees(text: str, *, whole: int) -> float:
    """Reads degrees, minutes and perhaps seconds with a sign, such as "+3845" or "-00908"."""
    sign, digits = (-1 if text[0] == "-" else 1), text[1:]
    parts = (digits[:whole], digits[whole : whole + 2], digits[whole + 2 :] or "0")
    degrees, minutes, seconds = (int(part) for part in parts)
    return sign * (degrees + minutes / 60 + seconds / 3600)


def looks_swapped(lon: float, lat: float, zone: str) -> bool:
    """Says whether a position is far from its time zone, and closer with its numbers swapped.

    Where longitude and latitude are nearly the same, as in Cairo, nobody can tell.
    """
    city = place_of_zone(zone)
    if city is None or abs(lon) > 90:  # noqa: PLR2004  no latitude is larger
        return False
    away = _apart((lon, lat), city)
    return away > _FAR and _apart((lat, lon), city) < away


def _apart(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Returns the angle between two positions, seen from the middle of the Earth."""
    (lon, lat), (lon_b, lat_b) = (map(math.radians, position) for position in (one, other))
    half = (
        math.sin((lat - lat_b) / 2) ** 2
        + math.cos(lat) * math.cos(lat_b) * math.sin((lon - lon_b) / 2) ** 2
    )
    return 2 * math.asin(math.sqrt(min(1.0, half)))
