"""Windows of days for tests: whole days in hours, in UTC, unless said otherwise."""

from datetime import date
from typing import Any

from hushway.geography.periods import Periods

_USUAL: dict[str, Any] = {"zone": "UTC", "opens": 0, "closes": 1440, "minutes": 60}


def window(first_day: date, last_day: date | None = None, **others: Any) -> Periods:
    """Returns the periods of some days, or of one."""
    last = first_day if last_day is None else last_day
    return Periods(first_day=first_day, last_day=last, **{**_USUAL, **others})
