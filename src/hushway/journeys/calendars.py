"""On which days the services of a feed run: `calendar.txt` and `calendar_dates.txt`."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from hushway.errors import GeographyError
from hushway.tables.gtfs_feed import feed_columns, has_part

_WEEK: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ADDED: Final = "1"
_FIRST: Final = date(1970, 1, 1).toordinal()


def day_number(day: date) -> int:
    """Returns the number of a day, counted from 1970."""
    return day.toordinal() - _FIRST


def day_of(number: int) -> date:
    """Returns the day of a number."""
    return date.fromordinal(number + _FIRST)


def read_calendar(feed: Path) -> dict[str, frozenset[int]] | None:
    """Returns the days of every service; None for a feed that has no calendar.

    Raises:
        GeographyError: A day is not written as GTFS demands.
    """
    weekly = has_part(feed, "calendar.txt")
    dated = has_part(feed, "calendar_dates.txt")
    if not (weekly or dated):
        return None
    days: dict[str, set[int]] = {}
    if weekly:
        named = ("service_id", "start_date", "end_date", *_WEEK)
        table = feed_columns(feed, "calendar.txt", named)
        for service, start, end, *week in zip(*table.values(), strict=True):
            first, last = (_day(feed, "calendar.txt", text) for text in (start, end))
            # Day 0 was a Thursday.
            runs = {day for day in range(first, last + 1) if week[(day + 3) % 7].strip() == "1"}
            days.setdefault(service, set()).update(runs)
    if dated:
        table = feed_columns(feed, "calendar_dates.txt", ("service_id", "date", "exception_type"))
        for service, text, change in zip(*table.values(), strict=True):
            day, runs = _day(feed, "calendar_dates.txt", text), days.setdefault(service, set())
            (runs.add if change.strip() == _ADDED else runs.discard)(day)
    return {service: frozenset(runs) for service, runs in days.items()}


def _day(feed: Path, name: str, text: str) -> int:
    try:
        return day_number(datetime.strptime(text.strip(), "%Y%m%d").replace(tzinfo=UTC).date())
    except ValueError:
        raise GeographyError(
            f"The {name} of {feed.name} has a day that is not written as YYYYMMDD.",
            advice="Write 20260302 for 2 March 2026.",
        ) from None
