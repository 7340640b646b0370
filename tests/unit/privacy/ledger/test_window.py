from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushway.errors import GeographyError, LedgerError
from hushway.geography.periods import Periods
from hushway.privacy.ledger import Window
from hushway.privacy.ledger.window import Clock
from hushway.release.job import window_of_days


def days(first: str, last: str, zone: str = "America/New_York", clock: Clock = "local") -> Window:
    return window_of_days(date.fromisoformat(first), date.fromisoformat(last), zone, clock=clock)


def test_a_window_lasts_from_midnight_to_midnight_on_the_agency_s_clock() -> None:
    march = days("2026-03-01", "2026-03-31")
    assert march.start == datetime(2026, 3, 1, 5, tzinfo=UTC)
    assert march.end == datetime(2026, 4, 1, 4, tzinfo=UTC)
    assert march.to_text() == (
        "2026-03-01/2026-03-31 wall 2026-03-01T05:00:00Z/2026-04-01T04:00:00Z"
    )
    assert str(march) == "2026-03-01 to 2026-03-31"
    assert str(days("2026-03-01", "2026-03-01")) == "2026-03-01"


@pytest.mark.parametrize("clock", ["local", "utc"])
def test_months_of_one_agency_follow_each_other_without_overlap(clock: Clock) -> None:
    months = [days(f"2026-{m:02}-01", f"2026-{m:02}-28", clock=clock) for m in range(1, 13)]
    starts = [days(f"2026-{m:02}-01", f"2026-{m:02}-01", clock=clock).start for m in range(1, 13)]
    february = days("2026-02-01", "2026-02-28", clock=clock)
    assert february.end == starts[2]
    for one in months:
        assert [other for other in months if one.overlaps(other)] == [one]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("2026-03-01", "2026-03-31"), ("2026-03-31", "2026-04-30")),
        (("2026-03-01", "2026-03-31"), ("2026-03-10", "2026-03-10")),
        # The same moments, by another zone: rows that hold instants.
        (
            ("2026-03-01", "2026-03-01", "Europe/Paris", "utc"),
            ("2026-03-02", "2026-03-02", "Pacific/Auckland", "utc"),
        ),
        # The same dates, by zones more than a day apart: rows that hold times of a wall clock.
        (
            ("2026-03-01", "2026-03-01", "Pacific/Kiritimati"),
            ("2026-03-01", "2026-03-01", "Pacific/Niue"),
        ),
        # The same moments in two files: one holds times of a wall clock, the other instants.
        (
            ("2026-03-31", "2026-03-31", "Pacific/Niue", "local"),
            ("2026-04-01", "2026-04-01", "UTC", "utc"),
        ),
        # A file without offsets, read as wall clock and then as UTC: its evening is counted twice.
        (
            ("2026-03-31", "2026-03-31", "Pacific/Kiritimati", "local"),
            ("2026-04-01", "2026-04-01", "Pacific/Kiritimati", "utc"),
        ),
    ],
)
def test_windows_that_may_hold_the_same_rows_overlap(
    one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    first, second = days(*one), days(*other)
    assert first.overlaps(second)
    assert second.overlaps(first)


ZONES = ["UTC", "America/New_York", "Pacific/Kiritimati", "Pacific/Niue", "America/St_Johns"]


@given(
    moment=st.integers(0, 10 * 24 * 60),
    plans=st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 3), st.sampled_from(ZONES), st.booleans()),
        min_size=2,
        max_size=2,
    ),
)
def test_two_plans_that_count_one_row_have_windows_that_overlap(
    moment: int, plans: list[tuple[int, int, str, bool]]
) -> None:
    # Around the first of November 2009, when the clocks of St. John's went back past midnight.
    written_us = int(datetime(2009, 10, 27, tzinfo=UTC).timestamp() * 10**6) + moment * 60 * 10**6
    windows = []
    for start, length, zone, wall in plans:
        first = date.fromordinal(date(2009, 10, 27).toordinal() + start)
        last = date.fromordinal(first.toordinal() + length)
        periods = Periods(
            zone=zone, first_day=first, last_day=last, opens=0, closes=1440, minutes=60
        )
        slots = periods.wall_slots if wall else periods.instant_slots
        if any(slot.start_us <= written_us < slot.end_us for slot in slots):
            clock: Clock = "local" if wall else "utc"
            windows.append(window_of_days(first, last, zone, clock=clock))
    if len(windows) == 2:
        assert windows[0].overlaps(windows[1])


def test_rows_without_times_may_be_of_any_day() -> None:
    always = Window.always()
    for other in (always, days("1900-01-01", "1900-01-01"), days("2200-12-31", "2200-12-31")):
        assert always.overlaps(other)
        assert other.overlaps(always)
        assert always.has_days_in(other.first_day, other.last_day)
    assert always.to_text() == "always"
    assert "rows without times" in str(always)


def test_a_day_that_no_clock_ever_showed_still_overlaps_itself() -> None:
    skipped = days("2011-12-30", "2011-12-30", "Pacific/Apia")
    assert skipped.overlaps(skipped)


@pytest.mark.parametrize(
    "window",
    [
        Window.always(),
        days("2026-03-01", "2026-03-31"),
        days("2007-10-01", "2007-10-01", "Europe/Paris", "utc"),
        days("1900-01-01", "2200-12-31", "Asia/Kathmandu"),
    ],
)
def test_a_window_survives_being_written_down(window: Window) -> None:
    assert Window.from_text(window.to_text()) == window


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Always",
        "2026-03-01/2026-03-31",
        "2026-03-01/2026-13-31 wall 2026-03-01T05:00:00Z/2026-04-01T04:00:00Z",
        "2026-03-01/2026-03-31 moon 2026-03-01T05:00:00Z/2026-04-01T04:00:00Z",
        "2026-03-01/2026-03-31 wall 2026-03-01T05:00:00Z/2026-04-01T24:00:00Z",
        "2026-03-01/2026-03-31 wall 2026-03-01T05:00:00Z/2026-04-01T04:00:00Z\n",
        b"always",
        None,
    ],
)
def test_what_is_no_window_is_refused(text: str) -> None:
    with pytest.raises(LedgerError, match="days of an entry"):
        Window.from_text(text)


def test_a_zone_that_does_not_exist_makes_no_window() -> None:
    with pytest.raises(GeographyError, match="no time zone"):
        days("2026-03-01", "2026-03-31", "Mars/Olympus")


@pytest.mark.parametrize(
    ("first", "last", "inside"),
    [
        (None, None, True),
        ("2026-03-31", None, True),
        ("2026-04-01", None, False),
        (None, "2026-03-01", True),
        (None, "2026-02-28", False),
        ("2026-03-10", "2026-03-12", True),
        ("2026-01-01", "2026-12-31", True),
    ],
)
def test_a_span_meets_a_window_if_it_holds_one_of_its_days(
    first: str | None, last: str | None, inside: bool
) -> None:
    march = days("2026-03-01", "2026-03-31")
    ends = [None if day is None else date.fromisoformat(day) for day in (first, last)]
    assert march.has_days_in(*ends) is inside
