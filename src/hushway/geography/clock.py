"""The agency's wall clock against real time: even stretches, and the changes between them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
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
