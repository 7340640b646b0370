"""The public window of an OD plan: service days, parts of the day and types of days."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from hushway.errors import GeographyError
from hushway.geography.periods import Periods
from hushway.geography.service_day import DAY_MINUTES, HOLIDAYS, DayPart, DayType, day_type
from hushway.release.plans.sections import Section
from hushway.release.plans.values import Day, Text, Texts, day_of
from hushway.tables.first_lines import open_text
from hushway.tables.unpacking import refuse_unfit

_HOUR: Final = 60
_LAST_HOUR: Final = 48

# What most networks tell apart; holidays run like Sundays.
_USUAL_TYPES: Final = {
    "weekday": ("Mon", "Tue", "Wed", "Thu", "Fri"),
    "saturday": ("Sat",),
    "sunday": ("Sun", HOLIDAYS),
}


def _service_minute(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    hours, colon, minutes = str(value).partition(":")
    digits = colon and hours.isdigit() and minutes.isdigit()
    if not digits or int(minutes) >= _HOUR or int(hours) > _LAST_HOUR:
        raise ValueError(
            "must be a time of day as HH:MM, from 00:00 to 48:00; after midnight the hours go on: "
            "25:30"
        )
    return int(hours) * _HOUR + int(minutes)


def _stretch(value: Any) -> tuple[int, int]:
    starts, dash, ends = str(value).partition("-")
    if not dash:
        raise ValueError('must be two times of the service day, such as "06:30-09:00"')
    return _service_minute(starts.strip()), _service_minute(ends.strip())


def _days(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


# What editors are told: a plan is written otherwise than it is kept.
ServiceMinute = Annotated[
    int,
    BeforeValidator(_service_minute),
    WithJsonSchema({"type": "string", "pattern": r"^\d{1,2}:\d{2}$"}),
]
Stretch = Annotated[
    tuple[int, int],
    BeforeValidator(_stretch),
    WithJsonSchema({"type": "string", "pattern": r"^\d{1,2}:\d{2} *- *\d{1,2}:\d{2}$"}),
]


class ServiceTimePlan(Section):
    """The public window and its periods, on the agency's wall clock."""

    file_options: ClassVar[tuple[str, ...]] = ("holidays_file",)

    zone: Text = Field(description="The time zone of the clock, an IANA name such as Europe/Paris.")
    first_day: Day = Field(description="The first day of the public window.")
    last_day: Day = Field(description="The last day of the public window, included.")
    opens: ServiceMinute = Field(
        default=0, description="When the first period of a day begins, as HH:MM."
    )
    closes: ServiceMinute = Field(
        default=DAY_MINUTES,
        description="When the last period of a day ends, as HH:MM; after midnight the hours go on: "
        "25:30.",
    )
    minutes: int = Field(default=60, gt=0, description="Length of a period in minutes.")
    parts: dict[Text, Stretch] = Field(
        default_factory=dict, description="Named parts of the day instead of equal ones."
    )
    cycle: Literal["day", "week", "day_type", "window"] = Field(
        default="day",
        description="Whether all days are counted together, or weekdays, day types or days apart.",
    )
    day_types: dict[Text, Texts] | None = Field(
        default=None, description="Names of day types with their weekdays, and holidays for one."
    )
    holidays: Annotated[tuple[Day, ...], BeforeValidator(_days)] = Field(
        default=(), description="Days that run like holidays, whatever their weekday."
    )
    holidays_file: Text | None = Field(default=None, description="One day a line.")

    publish: Literal["sums", "average day"] = Field(
        default="sums",
        description="Whether numbers are sums over days alone, or those of an average day, "
        "weekday or day of a type too.",
    )

    @model_validator(mode="after")
    def _parts_or_minutes(self) -> "ServiceTimePlan":
        equal = {"opens", "closes", "minutes"} & self.model_fields_set
        if self.parts and equal:
            raise ValueError(f"parts say when the day begins and ends: leave out {min(equal)}")
        return self

    @model_validator(mode="after")
    def _types_need_their_cycle(self) -> "ServiceTimePlan":
        given = {"day_types", "holidays", "holidays_file"} & self.model_fields_set
        if given and self.cycle != "day_type":
            raise ValueError(f'{min(given)} has a meaning only with cycle = "day_type"')
        if self.holidays and self.holidays_file is not None:
            raise ValueError("holidays are listed here or in holidays_file, not in both")
        return self

    def periods(self, path: Callable[[str], Path]) -> Periods:
        """Returns the periods.

        Args:
            path: Gives the path of a file that the plan names.

        Raises:
            GeographyError: They make no sense, or the file of holidays cannot be read.
        """
        parts = tuple(
            DayPart(name=name, starts=starts, ends=ends)
            for name, (starts, ends) in self.parts.items()
        )
        typed = self.cycle == "day_type"
        return Periods(
            zone=self.zone,
            first_day=self.first_day,
            last_day=self.last_day,
            opens=parts[0].starts if parts else self.opens,
            closes=parts[-1].ends if parts else self.closes,
            minutes=0 if parts else self.minutes,
            cycle=self.cycle,
            named=parts,
            day_types=self._types() if typed else (),
            holidays=self._holidays(path) if typed else (),
            average=self.publish == "average day",
        )

    def _types(self) -> tuple[DayType, ...]:
        members = _USUAL_TYPES if self.day_types is None else self.day_types
        return tuple(day_type(name, days) for name, days in members.items())

    def _holidays(self, path: Callable[[str], Path]) -> tuple[date, ...]:
        """Returns the holidays of the window, in order; those of other years mean nothing here."""
        listed = set(self.holidays)
        if self.holidays_file is not None:
            listed = set(_read_days(path(self.holidays_file)))
        return tuple(sorted(day for day in listed if self.first_day <= day <= self.last_day))


def _read_days(file: Path) -> list[date]:
    refuse_unfit(file)
    try:
        with open_text(file) as opened:
            lines = [line.strip() for line in opened]
    except (OSError, EOFError, UnicodeDecodeError):
        raise GeographyError(
            f"The file of holidays {file.name} cannot be read.",
            advice="Give a small text in UTF-8 with one day a line, such as 2026-12-25.",
        ) from None
    days = []
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            days.append(day_of(line))
        except ValueError:
            raise GeographyError(
                f"Line {number} of the file of holidays {file.name} is no day.",
                advice="Write one day a line, such as 2026-12-25, and nothing else.",
            ) from None
    return days
