"""The days of a plan as the window that the ledger keeps."""

from datetime import UTC, date, datetime, timedelta

from hushway.geography.periods import Periods
from hushway.privacy.ledger import Window
from hushway.tables.clock import Clock

_DAY_MINUTES = 24 * 60


def window_of_days(first_day: date, last_day: date, zone: str, *, clock: Clock = "wall") -> Window:
    """Returns the window of some days in a time zone.

    Raises:
        GeographyError: There is no such zone, or the days are in the wrong order.
    """
    days = Periods(
        zone=zone,
        first_day=first_day,
        last_day=last_day,
        opens=0,
        closes=_DAY_MINUTES,
        minutes=_DAY_MINUTES,
    )
    # Midnight may come twice, or not at all. A day that no clock ever showed lies in UTC.
    slots = days.instant_slots or days.wall_slots
    return Window(
        first_day=first_day,
        last_day=last_day,
        clock=clock,
        start=_moment(min(slot.start_us for slot in slots)),
        end=_moment(max(slot.end_us for slot in slots)),
    )


def _moment(microseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
