"""Periods against a slow, obvious reading of the clock: every minute asked one by one."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from hushway.errors import GeographyError
from hushway.geography.periods import Cycle, Periods
from hushway.geography.service_day import WEEKDAYS

HOUR_US = 3_600_000_000
MINUTE = timedelta(minutes=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

ODD_DAYS = {
    "clocks go forward": ("America/Detroit", date(2026, 3, 8)),
    "clocks go back": ("America/Detroit", date(2026, 11, 1)),
    "an ordinary day": ("Europe/Paris", date(2026, 6, 1)),
    "a shift of half an hour": ("Australia/Lord_Howe", date(2024, 4, 7)),
    "back over midnight at one past": ("America/St_Johns", date(2006, 10, 29)),
    "the evening that is repeated by it": ("America/St_Johns", date(2006, 10, 28)),
    "forward at one past midnight": ("America/St_Johns", date(2006, 4, 2)),
    "midnight itself is skipped": ("America/Sao_Paulo", date(2018, 11, 4)),
    "midnight happens twice": ("America/Havana", date(2023, 11, 5)),
    "the day does not exist": ("Pacific/Apia", date(2011, 12, 30)),
    "before 1970": ("Europe/London", date(1965, 3, 21)),
}


def periods(
    zone: str, day: date, *, last: date | None = None, cycle: Cycle = "day", **changes: int
) -> Periods:
    settings = {"opens": 0, "closes": 1440, "minutes": 30, **changes}
    return Periods(zone=zone, first_day=day, last_day=last or day, cycle=cycle, **settings)


def microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def by_asking_every_minute(table: Periods) -> dict[int, int]:
    """The period of each real minute around the window, by Python's own time zones."""
    zone = ZoneInfo(table.zone)
    moment = datetime.combine(table.first_day, datetime.min.time(), tzinfo=UTC) - timedelta(days=2)
    end = datetime.combine(table.last_day, datetime.min.time(), tzinfo=UTC) + timedelta(days=3)
    found = {}
    while moment < end:
        local = moment.astimezone(zone)
        minute = local.hour * 60 + local.minute
        in_window = table.first_day <= local.date() <= table.last_day
        if in_window and table.opens <= minute < table.closes:
            part = (minute - table.opens) // table.minutes
            before = local.weekday() * table.parts if table.cycle == "week" else 0
            found[microseconds(moment)] = before + part
        moment += MINUTE
    return found


def by_slots(table: Periods) -> dict[int, int]:
    return {
        at: slot.period
        for slot in table.instant_slots
        for at in range(slot.start_us, slot.end_us, 60_000_000)
    }


@pytest.mark.parametrize("case", ODD_DAYS)
@pytest.mark.parametrize("hours", [(0, 1440), (390, 1380)])
@pytest.mark.parametrize("cycle", ["day", "week"])
def test_every_real_minute_finds_the_period_that_the_clock_showed(
    case: str, hours: tuple[int, int], cycle: Cycle
) -> None:
    zone, day = ODD_DAYS[case]
    table = periods(zone, day, opens=hours[0], closes=hours[1], cycle=cycle)
    assert by_slots(table) == by_asking_every_minute(table)


@pytest.mark.parametrize("cycle", ["day", "week"])
@pytest.mark.parametrize(
    ("zone", "first", "last"),
    [
        ("America/St_Johns", date(2006, 10, 27), date(2006, 10, 31)),
        ("Pacific/Apia", date(2011, 12, 28), date(2012, 1, 2)),
        ("America/Detroit", date(2026, 3, 5), date(2026, 3, 16)),
        ("America/Detroit", date(2026, 10, 30), date(2026, 11, 2)),
    ],
    ids=["back over midnight", "a skipped Friday", "forward", "back"],
)
def test_every_minute_of_some_days_finds_its_period(
    zone: str, first: date, last: date, cycle: Cycle
) -> None:
    table = periods(zone, first, last=last, cycle=cycle)
    assert by_slots(table) == by_asking_every_minute(table)


@pytest.mark.parametrize(
    ("case", "gap"),
    [
        ("clocks go forward", ("2026-03-08 02:00", "2026-03-08 03:00")),
        ("forward at one past midnight", ("2006-04-02 00:01", "2006-04-02 01:01")),
        ("midnight itself is skipped", ("2018-11-04 00:00", "2018-11-04 01:00")),
        ("the day does not exist", ("2011-12-30 00:00", "2011-12-31 00:00")),
    ],
)
def test_times_that_the_clock_never_showed_are_known(case: str, gap: tuple[str, str]) -> None:
    expected = tuple(microseconds(datetime.fromisoformat(f"{end}+00:00")) for end in gap)
    assert periods(*ODD_DAYS[case]).skipped_wall == (expected,)


@pytest.mark.parametrize("case", ["clocks go back", "an ordinary day", "midnight happens twice"])
def test_other_days_skip_no_time(case: str) -> None:
    assert periods(*ODD_DAYS[case]).skipped_wall == ()


def test_skipped_and_shown_times_make_up_the_whole_wall_clock() -> None:
    for zone, day in ODD_DAYS.values():
        table = periods(zone, day)
        wall = {s.start_us + i * 60_000_000 for s in table.wall_slots for i in range(30)}
        never = {t for start, end in table.skipped_wall for t in range(start, end, 60_000_000)}
        around = datetime.combine(day, datetime.min.time(), tzinfo=UTC) - timedelta(days=2)
        shown = set()
        for i in range(5 * 1440):
            local = (around + i * MINUTE).astimezone(ZoneInfo(zone)).replace(tzinfo=UTC)
            shown.add(microseconds(local.replace(second=0)))
        assert never <= wall
        assert wall - never == wall & shown


def test_wall_slots_cover_the_service_day_in_order() -> None:
    table = periods("Europe/Paris", date(2026, 6, 1), opens=360, closes=480, last=date(2026, 6, 2))
    assert len(table) == 4
    assert table.labels == ("06:00-06:30", "06:30-07:00", "07:00-07:30", "07:30-08:00")
    assert [slot.period for slot in table.wall_slots] == [0, 1, 2, 3] * 2
    first = microseconds(datetime(2026, 6, 1, 6, tzinfo=UTC))
    assert table.wall_slots[0].start_us == first
    assert table.wall_slots[4].start_us == first + 24 * HOUR_US


def test_hours_of_the_week_start_on_monday() -> None:
    table = periods(
        "Europe/Paris", date(2026, 6, 4), last=date(2026, 6, 14), cycle="week", minutes=60
    )
    assert len(table) == len(table.labels) == len(set(table.labels)) == 168
    assert table.labels[0] == "Mon 00:00-01:00"
    assert table.labels[24 + 8] == "Tue 08:00-09:00"
    assert table.labels[-1] == "Sun 23:00-00:00"
    thursday = microseconds(datetime(2026, 6, 4, tzinfo=UTC))
    assert table.wall_slots[0].start_us == thursday
    assert table.wall_slots[0].period == 3 * 24


def test_a_weekday_is_counted_over_all_weeks_of_the_window() -> None:
    table = periods(
        "Europe/Paris", date(2026, 6, 4), last=date(2026, 6, 14), cycle="week", minutes=720
    )
    on = [slot.start_us for slot in table.wall_slots if slot.period == 2 * 4 + 1]
    assert on == [microseconds(datetime(2026, 6, day, 12, tzinfo=UTC)) for day in (5, 12)], (
        "Friday afternoons"
    )


def test_weekdays_that_the_window_lacks_have_periods_without_slots() -> None:
    table = periods("Europe/Paris", date(2026, 6, 6), last=date(2026, 6, 7), cycle="week")
    assert len(table) == 7 * 48
    assert {slot.period // 48 for slot in table.wall_slots} == {5, 6}
    assert {slot.period // 48 for slot in table.instant_slots} == {5, 6}


def test_a_friday_that_samoa_skipped_has_no_real_time() -> None:
    table = periods("Pacific/Apia", date(2011, 12, 29), last=date(2011, 12, 31), cycle="week")
    assert {slot.period // 48 for slot in table.wall_slots} == {3, 4, 5}
    assert {slot.period // 48 for slot in table.instant_slots} == {3, 5}


def test_example_days_are_the_first_with_the_weekday_of_the_period() -> None:
    first = date(2026, 6, 4)
    table = periods("Europe/Paris", first, cycle="week", minutes=720)
    assert len(table.example_days) == len(table) == 14
    for label, day in zip(table.labels, table.example_days, strict=True):
        assert WEEKDAYS[day.weekday()] == label[:3]
        assert first <= day < first + timedelta(days=7)
    assert set(periods("Europe/Paris", first).example_days) == {first}


def test_midnight_is_written_as_24_00() -> None:
    assert periods("UTC", date(2026, 6, 1), minutes=720).labels == ("00:00-12:00", "12:00-00:00")


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"zone": "Mars/Olympus"}, "time zone"),
        ({"zone": "../../etc/passwd"}, "time zone"),
        ({"zone": ""}, "time zone"),
        ({"last_day": date(2026, 5, 31)}, "ends before"),
        ({"first_day": date(1, 1, 1)}, "between the years"),
        ({"last_day": date(9999, 12, 31)}, "between the years"),
        ({"opens": 600, "closes": 600}, "start before it ends"),
        ({"opens": -30}, "start before it ends"),
        ({"closes": 2910}, "start before it ends"),
        ({"closes": 1470}, "no longer than a day"),
        ({"opens": 1440, "closes": 1500}, "start before midnight"),
        ({"minutes": 0}, "do not fill"),
        ({"minutes": -30}, "do not fill"),
        ({"minutes": 50}, "do not fill"),
        ({"cycle": "month"}, "counted by 'month'"),
    ],
)
def test_periods_that_make_no_sense_are_refused(wrong: dict[str, object], word: str) -> None:
    settings: dict[str, object] = {
        "zone": "Europe/Paris",
        "first_day": date(2026, 6, 1),
        "last_day": date(2026, 6, 2),
        "opens": 0,
        "closes": 1440,
        "minutes": 30,
    }
    with pytest.raises(GeographyError, match=word) as caught:
        Periods(**(settings | wrong))
    assert caught.value.advice


def test_the_digest_depends_on_every_choice() -> None:
    one = periods("Europe/Paris", date(2026, 6, 1))
    others = [
        periods("Europe/Berlin", date(2026, 6, 1)),
        periods("Europe/Paris", date(2026, 6, 2)),
        periods("Europe/Paris", date(2026, 6, 1), last=date(2026, 6, 2)),
        periods("Europe/Paris", date(2026, 6, 1), minutes=60),
        periods("Europe/Paris", date(2026, 6, 1), opens=60),
        periods("Europe/Paris", date(2026, 6, 1), closes=1380),
        periods("Europe/Paris", date(2026, 6, 1), cycle="week"),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 8
    assert one.digest == periods("Europe/Paris", date(2026, 6, 1)).digest


def test_periods_of_the_day_keep_the_digest_of_old_releases() -> None:
    table = periods(
        "America/Detroit", date(2026, 3, 2), last=date(2026, 3, 31), opens=480, closes=600
    )
    known = "a04fa67c322bc1ddca317498a2886c81ce64e1fdf1427ef7d688192dbf3a8092"
    assert table.digest == f"sha256:{known}"


def test_moments_have_the_offset_of_their_day() -> None:
    hours = periods("America/Detroit", date(2026, 3, 8), minutes=60).moments
    assert hours[0][0].isoformat() == "2026-03-08T00:00:00-05:00"
    # The skipped hour has a bin too; every later one is told by the new clock.
    assert hours[2][0].isoformat() == "2026-03-08T02:00:00-05:00"
    assert hours[3][0].isoformat() == "2026-03-08T03:00:00-04:00"
    assert hours[-1][1].isoformat() == "2026-03-09T00:00:00-04:00"


def test_moments_of_a_week_are_on_the_first_such_day() -> None:
    first = date(2026, 3, 4)
    moments = periods("Europe/Paris", first, cycle="week", minutes=1440).moments
    assert [start.day for start, _ in moments] == [9, 10, 4, 5, 6, 7, 8]
