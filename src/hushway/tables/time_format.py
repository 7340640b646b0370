"""How times are written where that is not ISO 8601: strptime directives, or a count since 1970."""

import re
from datetime import datetime
from itertools import product
from typing import Final

# Microseconds in one unit of a count since 1970, by what plans call it.
SINCE_1970: Final = {"epoch_s": 1_000_000, "epoch_ms": 1_000}
_DIRECTIVES: Final = frozenset("dmYybBaAHIMSfpz")
_TWELVE_HOURS: Final = {"I", "p"}
_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)?")
_PART: Final = re.compile(r"\d+|[A-Za-z]+|[+-]\d\d:?\d\d$|.")
_ORDERS: Final = ("%Y %m %d", "%d %m %Y", "%m %d %Y", "%d %m %y", "%m %d %y")
_ORDERS_WITH_NAMES: Final = ("%d %b %Y", "%d %b %y", "%b %d %Y", "%d %B %Y", "%d %B %y", "%B %d %Y")
_CLOCKS: Final = ("%H %M", "%H %M %S", "%H %M %S %f", "%I %M %p", "%I %M %S %p")
# By number of digits.
_RUNS: Final = {10: "epoch_s", 12: "%Y%m%d%H%M", 13: "epoch_ms", 14: "%Y%m%d%H%M%S"}


def problem_of(time_format: str) -> str | None:
    """Returns what a format lacks to tell the minute of a day; None if it lacks nothing."""
    used = set(re.findall("%(.?)", time_format))
    if used - _DIRECTIVES:
        return f"must not use %{min(used - _DIRECTIVES)}; %d, %m, %Y, %H, %M and the like are known"
    hours = "H" in used or used >= _TWELVE_HOURS
    days = "d" in used and used & {"m", "b", "B"} and used & {"Y", "y"}
    if time_format in SINCE_1970 or (hours and days and "M" in used):
        return None
    return (
        'must tell year, month, day, hour and minute, such as "%d/%m/%Y %H:%M" or '
        f'"%m/%d/%Y %I:%M %p", or be one of {", ".join(SINCE_1970)}'
    )


def has_instants(time_format: str | None) -> bool:
    """Whether times of a format are instants, whatever a wall clock shows."""
    return time_format is not None and (time_format in SINCE_1970 or "%z" in time_format)


def formats_of(example: str) -> tuple[str, ...]:
    """Returns the formats that an example of a time may be written in, none for ISO 8601.

    Raises:
        ValueError: No usual format fits.
    """
    if _ISO.fullmatch(example):
        return ()
    if example.isdecimal():
        found = [_RUNS[len(example)]] if len(example) in _RUNS else []
    else:
        found = [one for one in _usual(example) if _fits(example, one)]
    if not found:
        raise ValueError(example)
    # May is its own abbreviation.
    return tuple(one for one in found if one.replace("%B", "%b") not in found or "%B" not in one)


def _usual(example: str) -> list[str]:
    """Returns usual orders of days and times, with what stands between the parts of an example."""
    parts = _PART.findall(example)
    told = [part.isalnum() or len(part) > 1 for part in parts]
    names = any(part.isalpha() and part.lower() not in {"am", "pm", "t"} for part in parts)
    offset = " %z" if parts and len(parts[-1]) > 1 and not parts[-1].isalnum() else ""
    wanted = []
    for date, clock in product(_ORDERS_WITH_NAMES if names else _ORDERS, _CLOCKS):
        directives = f"{date} {clock}{offset}".split()
        values = [place for place, one in enumerate(told) if one and parts[place] != "T"]
        if len(values) == len(directives):
            shape = list(parts)
            for place, directive in zip(values, directives, strict=True):
                shape[place] = directive
            wanted.append("".join(shape))
    return wanted


def _fits(example: str, time_format: str) -> bool:
    try:
        datetime.strptime(example, time_format)  # noqa: DTZ007  only whether it fits
    except ValueError:
        return False
    return True
