"""The public window of an OD plan: service days, parts of the day and types of days."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from hushway.geography.periods import Periods
from hushway.geography.service_day import DAY_MINUTES, DayPart
from hushway.release.plans.calendar import CalendarPlan
from hushway.release.plans.values import Text

_HOUR: Final = 60
_LAST_HOUR: Final = 48


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


class ServiceTimePlan(CalendarPlan):
    """The public window and its periods, on the agency's wall clock."""

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
            day_types=self.types() if typed else (),
            holidays=self.days_off(path) if typed else (),
            average=self.average,
        )
