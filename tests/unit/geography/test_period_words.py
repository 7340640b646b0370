"""Days in words, and how many days an average is divided by."""

from datetime import date
from typing import Any

import pytest

from hushway.errors import GeographyError, ReleaseError
from hushway.geography.period_words import counted_text, window_text
from hushway.geography.periods import Periods
from hushway.geography.service_day import day_type
from hushway.release.formats.places import periods_csv, read_periods

MARCH = {"first_day": date(2026, 3, 2), "last_day": date(2026, 3, 27)}
TYPES = (
    day_type("weekday", ["Mon", "Tue", "Wed", "Thu", "Fri"]),
    day_type("saturday", ["Sat"]),
    day_type("sunday", ["Sun", "holidays"]),
)


def periods_of(**changes: Any) -> Periods:
    facts: dict[str, Any] = {
        "zone": "Europe/Lisbon",
        "first_day": date(2026, 3, 2),
        "last_day": date(2026, 3, 3),
        "opens": 480,
        "closes": 600,
        "minutes": 60,
    }
    return Periods(**(facts | changes))


def typed(**changes: Any) -> Periods:
    return periods_of(**({"cycle": "day_type", "day_types": TYPES} | MARCH | changes))


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        (date(2026, 3, 2), date(2026, 3, 2), "2 March 2026"),
        (date(2026, 3, 2), date(2026, 3, 31), "2 to 31 March 2026"),
        (date(2026, 2, 2), date(2026, 3, 1), "2 February to 1 March 2026"),
        (date(2025, 12, 30), date(2026, 1, 2), "30 December 2025 to 2 January 2026"),
    ],
)
def test_a_window_is_told_in_words(first: date, last: date, words: str) -> None:
    assert window_text(periods_of(first_day=first, last_day=last)) == words


@pytest.mark.parametrize(
    ("periods", "words"),
    [
        (periods_of(), "sum of 2 days, 2 to 3 March 2026"),
        (periods_of(last_day=date(2026, 3, 2)), "sum of 1 day, 2 March 2026"),
        (periods_of(cycle="window"), "each day by itself, 2 to 3 March 2026"),
        (periods_of(average=True), "average day of 2 days, 2 to 3 March 2026"),
        (
            typed(),
            "sum of 20 days (weekday), 3 days (saturday), 3 days (sunday), 2 to 27 March 2026",
        ),
        (
            typed(average=True, day_types=TYPES[:1]),
            "average weekday of 20 days, 2 to 27 March 2026",
        ),
    ],
)
def test_a_number_says_which_days_it_is_of(periods: Periods, words: str) -> None:
    assert counted_text(periods) == words


def test_days_are_counted_by_the_calendar_of_the_plan() -> None:
    """From a Wednesday to a Tuesday, with a Friday that runs like a Sunday."""
    own = typed(
        first_day=date(2026, 3, 25),
        last_day=date(2026, 4, 7),
        holidays=(date(2026, 4, 3),),
        average=True,
    )
    assert own.kinds_of_days["sunday"] == (date(2026, 3, 29), date(2026, 4, 3), date(2026, 4, 5))
    assert own.days_counted == (9, 9, 2, 2, 3, 3)
    week = periods_of(cycle="week", first_day=date(2026, 3, 25), last_day=date(2026, 4, 1))
    assert week.days_counted[::2] == (1, 1, 2, 1, 1, 1, 1)


def test_a_day_of_23_or_25_hours_is_a_day_and_one_that_never_was_is_none() -> None:
    clocks = periods_of(first_day=date(2026, 3, 29), last_day=date(2026, 10, 25), average=True)
    assert clocks.days_counted == (211, 211)
    samoa = {"first_day": date(2011, 12, 28), "last_day": date(2012, 1, 1)}
    assert periods_of(zone="Pacific/Apia", **samoa).days_counted == (4, 4)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cycle": "window"}, "there is no average of days"),
        ({"cycle": "week"}, "no Wed, so there is no average"),
        ({"cycle": "day_type", "day_types": TYPES}, "no saturday, so there is no average"),
    ],
)
def test_an_average_needs_days(changes: dict[str, Any], words: str) -> None:
    assert periods_of(**changes).days_counted
    with pytest.raises(GeographyError, match=words):
        periods_of(**changes, average=True)


def test_periods_with_their_divisor_are_read_back_and_a_wrong_one_is_not() -> None:
    for periods in (typed(average=True), periods_of(average=True)):
        data = periods_csv(periods)
        assert read_periods(data) == periods
        assert read_periods(data).digest != typed().digest
    with pytest.raises(ReleaseError, match=r"periods\.csv"):
        read_periods(data.replace(b",2\n", b",3\n"))
