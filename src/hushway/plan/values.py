"""The kinds of values that a plan is written with."""

from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from hushway.errors import PrivacyError
from hushway.privacy.loss import exact

HOUR_MINUTES = 60
DAY_HOURS = 24


class Section(BaseModel):
    """A table of a plan."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


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
