"""Values of plans: how each is written in TOML, read exactly, and described to editors."""

import re
from contextlib import suppress
from datetime import date, datetime
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from hushway.errors import PrivacyError
from hushway.privacy.accounting import USUAL_DELTA
from hushway.privacy.loss import exact
from hushway.tables.time_format import problem_of

HOUR_MINUTES = 60
DAY_HOURS = 24

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MAIL = re.compile(r"[^\s@:/<>]+@[^\s@:/<>]+\.[^\s@:/<>]+")
_WEB = re.compile(r"https?://[^\s<>\"{}|\\^`]+", re.ASCII)
# Names of the SPDX list are made of these.
_LICENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*", re.ASCII)


def exact_positive(value: Any) -> Fraction:
    """Reads a positive number exactly as written."""
    number = _fraction(value, 'a finite number, such as "0.5" or "1/3"')
    if number <= 0:
        raise ValueError("must be greater than 0")
    return number


def day_of(value: Any) -> date:
    """Reads a day: as TOML writes it, or as text."""
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


def _contact(text: str) -> str:
    if not _MAIL.fullmatch(text) and not _WEB.fullmatch(text):
        raise ValueError("must be a mail address or a web address, such as data@city.example")
    return text


def _licence(text: str) -> str:
    if not _LICENCE.fullmatch(text) and not _WEB.fullmatch(text):
        raise ValueError("must be a name of the SPDX list, such as CC-BY-4.0, or a web address")
    return text


def _time_format(text: str) -> str:
    problem = problem_of(text)
    if problem is not None:
        raise ValueError(problem)
    return text


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _minute_of_day(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    hours, colon, minutes = str(value).partition(":")
    digits = colon and hours.isdigit() and minutes.isdigit()
    if not digits or int(minutes) >= HOUR_MINUTES or int(hours) > DAY_HOURS:
        raise ValueError("must be a time of day as HH:MM, from 00:00 to 24:00")
    return int(hours) * HOUR_MINUTES + int(minutes)


def _below_one(value: Fraction) -> Fraction:
    if value >= 1:
        raise ValueError("must be below 1, and far below one over the number of people")
    return value


def number_of(value: Fraction) -> str:
    """Writes a small number as plans do: 1e-5, or 1/3000."""
    return "1e-5" if value == USUAL_DELTA else str(value)


def _fraction(value: Any, example: str) -> Fraction:
    try:
        return exact(value)
    except PrivacyError:
        raise ValueError(f"must be {example}") from None


def _share(value: Any) -> Fraction:
    number = _fraction(value, 'a number, such as "0.05" or "1/20"')
    if not 0 <= number < 1:
        raise ValueError("must be a share, not negative and below 1")
    return number


def _part_or_all(value: Any) -> Fraction:
    number = _fraction(value, 'a number, such as "0.5" or "1/2"')
    if not 0 <= number <= 1:
        raise ValueError("must be a share, from 0 to 1")
    return number


_MOST = 1_000_000


def _number_or_auto(value: Any) -> Any:
    if value == "auto" or (type(value) is int and 1 <= value <= _MOST):
        return value
    raise ValueError(f'must be "auto", or a whole number from 1 to {_MOST:,}')


def _above_zero(value: Fraction) -> Fraction:
    if value == 0:
        raise ValueError("must be a share above 0")
    return value


# What editors are told: a plan is written otherwise than it is kept.
_WRITTEN_NUMBER = WithJsonSchema({"type": ["string", "number"]})
_WRITTEN_TIME = WithJsonSchema({"type": "string", "pattern": r"^\d{1,2}:\d{2}$"})

Exact = Annotated[Fraction, BeforeValidator(exact_positive), _WRITTEN_NUMBER]
Share = Annotated[Fraction, BeforeValidator(_share), _WRITTEN_NUMBER]
PartOrAll = Annotated[Fraction, BeforeValidator(_part_or_all), _WRITTEN_NUMBER]
# A contribution limit, or "auto" if it is to be chosen.
Limit = Annotated[
    Annotated[int, Field(ge=1, le=_MOST)] | Literal["auto"], BeforeValidator(_number_or_auto)
]
PositiveShare = Annotated[Share, AfterValidator(_above_zero)]
Delta = Annotated[Exact, AfterValidator(_below_one)]
MinuteOfDay = Annotated[int, BeforeValidator(_minute_of_day), _WRITTEN_TIME]
Day = Annotated[date, BeforeValidator(day_of)]
Text = Annotated[str, AfterValidator(_not_blank)]
Contact = Annotated[str, AfterValidator(_contact)]
Licence = Annotated[str, AfterValidator(_licence)]
# TOML has lists and no tuples.
TimeFormat = Annotated[Text, AfterValidator(_time_format)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_listed)]
