"""Windows: the days whose rows a release may have counted."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal

from hushway.errors import LedgerError

Clock = Literal["local", "utc"]

_MOMENT = "%Y-%m-%dT%H:%M:%SZ"
_ALWAYS = "always"
# Entries are sealed in the words of the first version.
_STORED: Final[dict[Clock, str]] = {"local": "wall", "utc": "instant"}
_WRITTEN = re.compile(
    r"(\d{4}-\d\d-\d\d)/(\d{4}-\d\d-\d\d) (wall|instant) "
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)",
    re.ASCII,
)


@dataclass(frozen=True, kw_only=True)
class Window:
    """Whole days of an agency, and the real time that they lasted.

    Days are whole even if a release counts a few hours of each: the same people travel in the
    morning and in the evening.

    Privacy:
        If two releases may have counted the same row, or rows of the same moment, their windows
        overlap. Two spans are compared for that. `start` and `end` are real time, by the zone that
        the plan names. The other span is what is written in rows that are counted: real time if
        they hold instants; if they hold times of a wall clock, the days themselves, whatever zone
        the plan names. A file without offsets can be read either way, so naming another zone or
        another clock leads to no second budget.

    Attributes:
        first_day: First day, on the agency's wall clock.
        last_day: Last day, likewise.
        clock: What the rows hold: times of the wall clock, or instants.
        start: The first moment that the clock showed one of the days, in UTC.
        end: The moment after the last one.
    """

    first_day: date
    last_day: date
    clock: Clock
    start: datetime
    end: datetime

    @classmethod
    def always(cls) -> "Window":
        """Returns the window of rows that carry no time: any day may be in them."""
        return ALWAYS

    @classmethod
    def from_text(cls, text: str) -> "Window":
        """Reads a window back."""
        if text == _ALWAYS:
            return ALWAYS
        found = _WRITTEN.fullmatch(text) if isinstance(text, str) else None
        if found is not None:
            try:
                return cls(
                    first_day=date.fromisoformat(found[1]),
                    last_day=date.fromisoformat(found[2]),
                    clock="local" if found[3] == "wall" else "utc",
                    start=_read(found[4]),
                    end=_read(found[5]),
                )
            except ValueError:
                pass
        raise LedgerError(
            "The days of an entry in the ledger cannot be read.",
            advice="Compare the ledger with a backup before spending again: it was edited.",
        )

    def to_text(self) -> str:
        """Returns the window as it is stored and sealed."""
        if self == ALWAYS:
            return _ALWAYS
        return (
            f"{self.first_day}/{self.last_day} {_STORED[self.clock]} "
            f"{self.start:{_MOMENT}}/{self.end:{_MOMENT}}"
        )

    def __str__(self) -> str:
        if self == ALWAYS:
            return "all days (rows without times)"
        if self.first_day == self.last_day:
            return self.first_day.isoformat()
        return f"{self.first_day} to {self.last_day}"

    def overlaps(self, other: "Window") -> bool:
        """Whether both may cover the same row, or rows of the same moment."""
        if ALWAYS in (self, other):
            return True
        return _meet((self.start, self.end), (other.start, other.end)) or _meet(
            self.as_written, other.as_written
        )

    def has_days_in(self, first_day: date | None, last_day: date | None) -> bool:
        """Whether a day of it lies in a span of days; an end that is None is open."""
        return (last_day is None or self.first_day <= last_day) and (
            first_day is None or self.last_day >= first_day
        )

    @property
    def as_written(self) -> tuple[datetime, datetime]:
        """The times that rows of the window may hold, as they are written, read as UTC."""
        if self.clock == "utc":
            return self.start, self.end
        midnight = time(tzinfo=UTC)
        return (
            datetime.combine(self.first_day, midnight),
            datetime.combine(self.last_day, midnight) + timedelta(days=1),
        )


ALWAYS: Final = Window(
    first_day=date.min,
    last_day=date.max,
    clock="utc",
    start=datetime.min.replace(tzinfo=UTC),
    end=datetime.max.replace(tzinfo=UTC),
)


def _meet(one: tuple[datetime, datetime], other: tuple[datetime, datetime]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _read(text: str) -> datetime:
    return datetime.strptime(text, _MOMENT).replace(tzinfo=UTC)
