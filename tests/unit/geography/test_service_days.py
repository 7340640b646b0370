"""Service days, named parts and day types against a slow reading of the clock."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from hushway.errors import GeographyError
from hushway.geography.periods import Periods
from hushway.geography.service_day import DayPart, day_type

FRIDAY = date(2026, 12, 25)
MINUTE = timedelta(minutes=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TYPES = (
    day_type("weekday", ["Mon", "Tue", "Wed", "Thu", "Fri"]),
    day_type("saturday", ["Sat"]),
    day_type("sunday", ["Sun", "holidays"]),
)
PARTS = (
    DayPart(name="am peak", starts=390, ends=540),
    DayPart(name="midday", starts=540, ends=900),
    DayPart(name="night", starts=1320, ends=1530),
)


def week(**changes: object) -> Periods:
    facts: dict[str, object] = {
        "zone": "Europe/Paris",
        "first_day": date(2026, 12, 21),
        "last_day": date(2026, 12, 27),
        "opens": 0,
        "closes": 1440,
        "minutes": 60,
    }
    return Periods(**(facts | changes))


def named(**changes: object) -> Periods:
    return week(**({"opens": 390, "closes": 1530, "minutes": 0, "named": PARTS} | changes))


def typed(**changes: object) -> Periods:
    return named(**({"cycle": "day_type", "day_types": TYPES, "holidays": (FRIDAY,)} | changes))


def labels_at(periods: Periods, wall: str) -> list[str]:
    moment = datetime.fromisoformat(wall).replace(tzinfo=UTC)
    us = (moment - EPOCH) // timedelta(microseconds=1)
    return [periods.labels[s.period] for s in periods.wall_slots if s.start_us <= us < s.end_us]


def test_the_night_after_midnight_belongs_to_the_service_day_before() -> None:
    periods = week(opens=300, closes=1530, minutes=30, cycle="week")
    assert labels_at(periods, "2026-12-22T01:15") == ["Mon 01:00-01:30"]
    assert labels_at(periods, "2026-12-21T01:15") == []
    assert labels_at(periods, "2026-12-28T01:15") == ["Sun 01:00-01:30"]
    assert labels_at(periods, "2026-12-28T01:30") == []


def test_a_service_day_that_goes_on_touches_the_day_after_the_window() -> None:
    assert week(closes=1440).last_touched_day == date(2026, 12, 27)
    assert week(opens=240, closes=1680).last_touched_day == date(2026, 12, 28)


@pytest.mark.parametrize("day", [date(2026, 3, 7), date(2026, 3, 8), date(2026, 10, 31)])
def test_every_real_minute_of_a_service_day_finds_its_period(day: date) -> None:
    """Nights in which the clocks change, asked minute by minute."""
    periods = week(
        zone="America/Detroit", first_day=day, last_day=day, opens=240, closes=1680, cycle="day"
    )
    zone = ZoneInfo("America/Detroit")
    moment = datetime.combine(day, datetime.min.time(), tzinfo=UTC)
    expected = {}
    while moment < datetime.combine(day, datetime.min.time(), tzinfo=UTC) + timedelta(days=3):
        wall = moment.astimezone(zone).replace(tzinfo=None)
        since = (wall - datetime.combine(day, datetime.min.time())) // MINUTE
        if 240 <= since < 1680:
            expected[(moment - EPOCH) // MINUTE] = (since - 240) // 60
        moment += MINUTE
    found = {
        us // 60_000_000: slot.period
        for slot in periods.instant_slots
        for us in range(slot.start_us, slot.end_us, 60_000_000)
    }
    assert found == expected


def test_times_skipped_in_the_last_night_are_known() -> None:
    eve = date(2026, 3, 7)
    periods = week(zone="America/Detroit", first_day=eve, last_day=eve, opens=240, closes=1680)
    assert len(periods.skipped_wall) == 1


def test_named_parts_have_their_own_lengths_and_gaps() -> None:
    periods = named()
    assert periods.labels == ("am peak", "midday", "night")
    assert labels_at(periods, "2026-12-22T06:30") == ["am peak"]
    assert labels_at(periods, "2026-12-22T08:59") == ["am peak"]
    assert labels_at(periods, "2026-12-22T16:00") == []
    assert labels_at(periods, "2026-12-22T01:29") == ["night"]
    assert [part.minutes for part in periods.day_parts] == [150, 360, 210]


def test_holidays_are_of_the_type_that_names_them() -> None:
    periods = typed()
    assert len(periods) == 9
    assert labels_at(periods, "2026-12-24T07:00") == ["weekday am peak"]
    assert labels_at(periods, "2026-12-25T07:00") == ["sunday am peak"]
    assert labels_at(periods, "2026-12-26T07:00") == ["saturday am peak"]
    # The night after Christmas Day is still Christmas Day's.
    assert labels_at(periods, "2026-12-26T00:30") == ["sunday night"]


def test_days_of_no_type_are_not_counted() -> None:
    only = named(cycle="day_type", day_types=TYPES[:1], holidays=(FRIDAY,))
    assert labels_at(only, "2026-12-25T07:00") == []
    assert labels_at(only, "2026-12-26T07:00") == []
    assert labels_at(only, "2026-12-24T07:00") == ["weekday am peak"]


def test_every_period_has_an_example_day_of_its_own() -> None:
    alone = typed(first_day=date(2026, 12, 22), last_day=date(2026, 12, 22))
    days = alone.example_days[:: alone.parts]
    assert days[0] == date(2026, 12, 22)
    assert len(set(days)) == 3
    assert typed().example_days[:: alone.parts][2] == FRIDAY


@pytest.mark.parametrize(
    ("make", "wrong", "word"),
    [
        (week, {"opens": 240, "closes": 1740}, "no longer than a day"),
        (week, {"cycle": "day_type"}, "needs day types"),
        (week, {"day_types": TYPES}, "belong to cycle"),
        (week, {"holidays": (FRIDAY,)}, "belong to cycle"),
        (typed, {"holidays": (FRIDAY, FRIDAY)}, "named twice"),
        (typed, {"day_types": (*TYPES, day_type("other", ["Mon"]))}, "Two day types have Mon"),
        (typed, {"day_types": (day_type("a", []),)}, "has no days"),
        (typed, {"day_types": (TYPES[0], TYPES[0])}, "two have the same"),
        (typed, {"day_types": TYPES[1:2], "last_day": date(2026, 12, 24)}, "of any of the day"),
        (named, {"opens": 400}, "hours that are not theirs"),
        (named, {"named": (PARTS[1], PARTS[0])}, "begins before"),
        (named, {"named": (DayPart(name=" ", starts=390, ends=1530),)}, "no names"),
    ],
)
def test_what_makes_no_sense_is_refused(
    make: Callable[..., Periods], wrong: dict[str, object], word: str
) -> None:
    with pytest.raises(GeographyError, match=word) as caught:
        make(**wrong)
    assert caught.value.advice


def test_labels_that_would_meet_are_refused() -> None:
    parts = (DayPart(name="b c", starts=0, ends=60), DayPart(name="c", starts=60, ends=120))
    types = (day_type("a", ["Mon"]), day_type("a b", ["Tue"]))
    with pytest.raises(GeographyError, match="same label"):
        week(opens=0, closes=120, minutes=0, named=parts, cycle="day_type", day_types=types)


def test_a_day_type_names_weekdays_and_holidays_alone() -> None:
    with pytest.raises(GeographyError, match="'Monday'"):
        day_type("weekday", ["Monday"])


def test_the_digest_depends_on_parts_types_and_holidays() -> None:
    moved = (*PARTS[:2], DayPart(name="night", starts=1350, ends=1530))
    tables = [
        week(opens=390, closes=1530, minutes=60),
        named(),
        week(opens=390, closes=1530, minutes=0, named=moved),
        typed(),
        named(cycle="day_type", day_types=TYPES),
        named(cycle="day_type", day_types=TYPES[:2]),
    ]
    assert len({table.digest for table in tables}) == len(tables)


def test_some_parts_alone_keep_their_names() -> None:
    assert named().only_parts(range(1, 3)).labels == ("midday", "night")
    assert week().only_parts(range(6, 8)).labels == ("06:00-07:00", "07:00-08:00")
