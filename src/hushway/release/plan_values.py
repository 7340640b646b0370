"""The kinds of values that a plan is written with."""

import re
from contextlib import suppress
from datetime import date, datetime
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from hushway.errors import PrivacyError
from hushway.privacy.loss import exact

HOUR_MINUTES = 60
DAY_HOURS = 24

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


class Section(BaseModel):
    """A table of a plan.

    Values are of the types that they are meant to be: `true` is no number, 1 is no truth, "7" is
    no 7. What a plan says must not depend on how somebody's library turns one into the other.

    Attributes:
        named_files: The options that name files which must be there before anything is read.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        arbitrary_types_allowed=True,
        strict=True,
        allow_inf_nan=False,
    )
    named_files: ClassVar[tuple[str, ...]] = ()


def exact_positive(value: Any) -> Fraction:
    """Reads a positive number exactly as written.

    Raises:
        ValueError: It is not a finite number above 0.
    """
    try:
        number = exact(value)
    except PrivacyError:
        raise ValueError('must be a finite number, such as "0.5" or "1/3"') from None
    if number <= 0:
        raise ValueError("must be greater than 0")
    return number


def day_of(value: Any) -> date:
    """Reads a day: as TOML writes it, or as text.

    Raises:
        ValueError: It is not a day.
    """
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    # Python would read 2026-W10-1 as well.
    if isinstance(value, str) and _DAY.fullmatch(value):
        with suppress(ValueError):  # such as 2026-02-30
            return date.fromisoformat(value)
    raise ValueError("must be a day, such as 2026-03-02")


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    # No system takes it in the name of a file, and nobody can read it in a title.
    if "\0" in text:
        raise ValueError("must not hold the character 0")
    return text


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _minute_of_day(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    hours, colon, minutes = str(value).partition(":")
    if not (colon and hours.isdigit() and minutes.isdigit() and int(minutes) < HOUR_MINUTES):
        raise ValueError("must be a time of day as HH:MM, from 00:00 to 24:00")
    if int(hours) > DAY_HOURS:
        raise ValueError("must be a time of day as HH:MM, from 00:00 to 24:00")
    return int(hours) * HOUR_MINUTES + int(minutes)


def _below_one(value: Fraction) -> Fraction:
    if value >= 1:
        raise ValueError("must be below 1, and far below one over the number of people")
    return value


def _share(value: Any) -> Fraction:
    try:
        number = exact(value)
    except PrivacyError:
        raise ValueError('must be a number, such as "0.05" or "1/20"') from None
    if not 0 <= number < 1:
        raise ValueError("must be a share, not negative and below 1")
    return number


def _above_zero(value: Fraction) -> Fraction:
    if value == 0:
        raise ValueError("must be a share above 0")
    return value


Exact = Annotated[Fraction, BeforeValidator(exact_positive)]
Share = Annotated[Fraction, BeforeValidator(_share)]
PositiveShare = Annotated[Share, AfterValidator(_above_zero)]
Delta = Annotated[Exact, AfterValidator(_below_one)]
MinuteOfDay = Annotated[int, BeforeValidator(_minute_of_day)]
Day = Annotated[date, BeforeValidator(day_of)]
Text = Annotated[str, AfterValidator(_not_blank)]
# TOML has lists and no tuples.
Texts = Annotated[tuple[Text, ...], BeforeValidator(_listed)]
