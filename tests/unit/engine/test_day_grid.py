"""Every time of the window has the day and the period of the agency's clock, on odd days too."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from hushway.engine.grids import day_grid
from hushway.geography.periods import Periods
from hushway.tables.header import Clock

US = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def window(zone: str, first: date, last: date, **changes: Any) -> Periods:
    settings: dict[str, Any] = {"opens": 90, "closes": 1380, "minutes": 30, **changes}
    return Periods(zone=zone, first_day=first, last_day=last, **settings)


WINDOWS = {
    "plain": window("UTC", date(2026, 3, 2), date(2026, 3, 4)),
    "forward": window("Europe/Paris", date(2026, 3, 28), date(2026, 3, 30)),
    "back": window("Europe/Paris", date(2026, 10, 24), date(2026, 10, 26)),
    "back over midnight": window(
        "America/St_Johns", date(2010, 11, 6), date(2010, 11, 8), opens=0, closes=1440
    ),
    "a week": window("Asia/Kolkata", date(2026, 3, 2), date(2026, 3, 8), cycle="week"),
}


@pytest.mark.parametrize("clock", ["local", "utc"])
@pytest.mark.parametrize("name", WINDOWS)
def test_days_and_periods_agree_with_the_clock_on_the_wall(name: str, clock: Clock) -> None:
    periods = WINDOWS[name]
    grid = day_grid(periods, clock)
    zone = ZoneInfo(periods.zone)
    seen = set()
    moment = datetime.combine(periods.first_day, datetime.min.time(), tzinfo=UTC)
    for quarter in range(-96, 96 * (len(periods.days) + 1)):
        then = moment + quarter * timedelta(minutes=15)
        us = (then - EPOCH) // US
        shown = then.astimezone(zone) if clock == "utc" else then
        minute = shown.hour * 60 + shown.minute
        inside = periods.opens <= minute < periods.closes and shown.date() in periods.days
        skipped = any(low <= us < high for low, high in periods.skipped_wall)
        expected = (-1, -1)
        if inside and not (clock == "local" and skipped):
            part = (minute - periods.opens) // periods.minutes
            weekday = shown.weekday() * periods.parts if periods.cycle == "week" else 0
            expected = (periods.days.index(shown.date()), weekday + part)
        found = (-1, -1)
        if grid.start_us <= us < grid.end_us:
            bucket = grid.bucket(np.array([us - grid.start_us]))[0]
            found = (int(grid.day[bucket]), int(grid.period[bucket]))
        assert found == expected, (then, shown)
        seen.add(expected)
    assert len(seen) > len(periods.days) * 20


def test_a_day_that_never_was_has_no_times() -> None:
    # Samoa skipped this day at the date line.
    nothing = day_grid(window("Pacific/Apia", date(2011, 12, 30), date(2011, 12, 30)), "utc")
    assert nothing.start_us == nothing.end_us
    around = day_grid(window("Pacific/Apia", date(2011, 12, 29), date(2011, 12, 31)), "utc")
    assert set(around.day.tolist()) == {-1, 0, 2}
    assert len(around.day) < 10_000


def test_the_table_has_the_buckets_of_service_hours() -> None:
    grid = day_grid(WINDOWS["plain"], "local")
    table = grid.table.to_pydict()
    assert len(table["bucket"]) == int((grid.day >= 0).sum())
    assert table["bucket"][0] == grid.start_us
    assert table["day"][0] == table["period"][0] == 0
