"""The public window of a plan, its types of days and its holidays."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field, model_validator

from hushway.errors import GeographyError
from hushway.geography.service_day import HOLIDAYS, DayType, day_type
from hushway.release.plans.sections import Section
from hushway.release.plans.values import Day, Text, Texts, day_of
from hushway.tables.first_lines import open_text
from hushway.tables.unpacking import refuse_unfit

# What most networks tell apart; holidays run like Sundays.
_USUAL_TYPES: Final = {
    "weekday": ("Mon", "Tue", "Wed", "Thu", "Fri"),
    "saturday": ("Sat",),
    "sunday": ("Sun", HOLIDAYS),
}


def _days(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class CalendarPlan(Section):
    """The public window, and which of its days are alike."""

    file_options: ClassVar[tuple[str, ...]] = ("holidays_file",)

    zone: Text = Field(description="The time zone of the clock, an IANA name such as Europe/Paris.")
    first_day: Day = Field(description="The first day of the public window.")
    last_day: Day = Field(description="The last day of the public window, included.")
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
    def _holidays_once(self) -> "CalendarPlan":
        if self.holidays and self.holidays_file is not None:
            raise ValueError("holidays are listed here or in holidays_file, not in both")
        return self

    @property
    def average(self) -> bool:
        """Whether an average day is published."""
        return self.publish == "average day"

    def types(self) -> tuple[DayType, ...]:
        """Returns the day types: those of the plan, or what most networks tell apart."""
        members = _USUAL_TYPES if self.day_types is None else self.day_types
        return tuple(day_type(name, days) for name, days in members.items())

    def days_off(self, path: Callable[[str], Path]) -> tuple[date, ...]:
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
                f"Line {number} of the file of holidays {file.name} is not a date.",
                advice="Write one day a line, such as 2026-12-25, and nothing else.",
            ) from None
    return days
