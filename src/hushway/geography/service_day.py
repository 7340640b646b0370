"""Parts of a service day, and types of days: public choices of whoever plans a network."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hushway.errors import GeographyError
from hushway.privacy.public_facts import public_facts

WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOLIDAYS: Final = "holidays"

DAY_MINUTES: Final = 24 * 60
# A service day may begin late in the evening, and never lasts longer than a day.
MOST_MINUTES: Final = 2 * DAY_MINUTES


@public_facts
@dataclass(frozen=True, kw_only=True)
class DayPart:
    """A part of the service day.

    Attributes:
        starts: Minutes after the midnight of the day; 1440 and more are after the next midnight.
        ends: The same; not included.
    """

    name: str
    starts: int
    ends: int

    @property
    def minutes(self) -> int:
        """How long it is."""
        return self.ends - self.starts

    @property
    def clocks(self) -> tuple[str, str]:
        """When it starts and ends on the wall clock, as HH:MM."""
        return clock_text(self.starts), clock_text(self.ends)


@public_facts
@dataclass(frozen=True, kw_only=True)
class DayType:
    """Days that are counted together.

    Attributes:
        weekdays: Which days of the week, Monday is 0.
        holidays: Whether holidays are of this type, whatever their weekday.
    """

    name: str
    weekdays: tuple[int, ...]
    holidays: bool = False

    @property
    def members(self) -> str:
        """Its days in words, such as "Sun holidays"."""
        names = [WEEKDAYS[number] for number in self.weekdays]
        return " ".join([*names, *([HOLIDAYS] if self.holidays else [])])


def day_type(name: str, members: Sequence[str]) -> DayType:
    """Returns the type of days with some members."""
    unknown = [member for member in members if member not in (*WEEKDAYS, HOLIDAYS)]
    if unknown:
        raise GeographyError(
            f"The day type {name!r} names {unknown[0]!r}, which is not a weekday or a holiday.",
            advice=f"Name some of {', '.join(WEEKDAYS)} and {HOLIDAYS}.",
        )
    return DayType(
        name=name,
        weekdays=tuple(number for number, day in enumerate(WEEKDAYS) if day in members),
        holidays=HOLIDAYS in members,
    )


def clock_text(minute: int) -> str:
    """Returns what the wall clock shows at a minute of a service day, as HH:MM.

    A service day lasts a day at most, so that no two of its parts start at the same time.
    """
    return f"{minute // 60 % 24:02d}:{minute % 60:02d}"


def equal_parts(opens: int, closes: int, minutes: int) -> tuple[DayPart, ...]:
    """Returns parts of one length, named by their clock: 08:00-08:30."""
    return tuple(
        DayPart(
            name=f"{clock_text(start)}-{clock_text(start + minutes)}",
            starts=start,
            ends=start + minutes,
        )
        for start in range(opens, closes, minutes)
    )


def refuse_unfit_parts(parts: Sequence[DayPart]) -> None:
    """Refuses named parts that have no length, no name, or that overlap."""
    _refuse_names([part.name for part in parts], "parts of the day")
    ends = 0
    for part in parts:
        if not ends <= part.starts < part.ends:
            raise GeographyError(
                f"The part of the day {part.name!r} ends before it starts, or begins before the "
                "part above it ends.",
                advice='Give parts in the order of the day, such as "am peak" = "06:30-09:00"; '
                "after midnight the hours go on: 25:30.",
            )
        ends = part.ends


def refuse_unfit_types(types: Sequence[DayType]) -> None:
    """Refuses types of days that have no days or share some."""
    _refuse_names([each.name for each in types], "day types")
    empty = [each.name for each in types if not each.members]
    if empty:
        raise GeographyError(
            f"The day type {empty[0]!r} has no days.",
            advice=f"Name some of {', '.join(WEEKDAYS)} and {HOLIDAYS}.",
        )
    named = Counter(member for each in types for member in each.members.split())
    twice = [member for member, times in named.items() if times > 1]
    if twice:
        raise GeographyError(
            f"Two day types have {twice[0]}, and a day is counted once.",
            advice="Let one of them have it.",
        )


def _refuse_names(names: Sequence[str], what: str) -> None:
    sound = all(name and name == name.strip() for name in names)
    if not sound or len(set(names)) != len(names):
        raise GeographyError(
            f"The {what} have no names, or two have the same.",
            advice="Give each a name of its own, without spaces around it.",
        )
