"""Timetables are read as lines, stops and rides; what is wrong with one is said in a sentence."""

from pathlib import Path

import pytest

from hushway.errors import GeographyError
from hushway.journeys.calendars import day_of, read_calendar
from hushway.journeys.rides import ANY_LINE
from hushway.journeys.timetable import read_timetable
from support.bus_feed import bus_feed
from unit.journeys.material import rides_of

# Of the only kind of days, lines are numbered from -1 on, which is any line.
LINE_0 = (1, 0, 0, 0)


def test_rides_go_down_the_line(tmp_path: Path) -> None:
    rides = rides_of(bus_feed(tmp_path / "feed"))
    timetable = rides.timetable
    number = {stop: index for index, stop in enumerate(timetable.stops)}
    names = dict(enumerate(timetable.routes)) | {ANY_LINE: "any"}
    found = {
        (names[line], timetable.stops[at], timetable.stops[alight]): seconds
        for line, at, alight, seconds in rides._rides - LINE_0
    }
    assert found["10", "E1", "E4"] == found["any", "E1", "E4"] == 15 * 60
    assert ("10", "E4", "E1") not in found
    # A station stands for its platforms, and gates hide lines.
    assert found["M", "MA", "MC1"] == 600
    assert ("any", "MA", "MC1") not in found
    assert number["MA1"] != number["MA"]


def test_times_that_a_feed_leaves_out_are_spread_evenly(tmp_path: Path) -> None:
    times = "trip_id,arrival_time,departure_time,stop_id,stop_sequence\n"
    rows = "east,08:00:00,,E1,1\neast,,,E2,2\neast,,08:20:00,E3,3\n"
    (pattern,) = read_timetable(bus_feed(tmp_path / "feed", stop_times=times + rows)).patterns
    assert pattern.seconds == (0, 600, 1200)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stop_times": None}, "has no stop_times.txt"),
        ({"trips": "trip_id\neast\n"}, "has no column route_id"),
        ({"stops": ""}, "stops.txt of feed cannot be read"),
    ],
)
def test_a_feed_that_lacks_something(
    tmp_path: Path, changes: dict[str, str | None], message: str
) -> None:
    with pytest.raises(GeographyError, match=message):
        read_timetable(bus_feed(tmp_path / "feed", **changes))


def test_another_place_of_the_same_id_is_refused(tmp_path: Path) -> None:
    other = "stop_id,stop_name,stop_lon,stop_lat,parent_station\nE1,other,0.5,0.5,\n"
    feeds = bus_feed(tmp_path / "one"), bus_feed(tmp_path / "two", stops=other)
    with pytest.raises(GeographyError, match="'E1' of two has another place"):
        read_timetable(*feeds)


OFTEN = "trip_id,start_time,end_time,headway_secs,exact_times\n"


@pytest.mark.parametrize(
    ("row", "starts"),
    [
        ("east,08:00:00,09:00:00,1200,1", (28800, 30000, 31200)),
        # Two are on their way at once; or nobody says when each starts.
        ("east,08:00:00,09:00:00,600,1", ()),
        ("east,08:00:00,09:00:00,1200,0", ()),
    ],
)
def test_trips_that_come_again(tmp_path: Path, row: str, starts: tuple[int, ...]) -> None:
    timetable = read_timetable(bus_feed(tmp_path / "feed", frequencies=f"{OFTEN}{row}\n"))
    assert {trip: when for (_, trip), (_, when) in timetable.trips.items()}["east"] == starts


@pytest.mark.parametrize("row", ["east,8 o'clock,09:00:00,600,", "east,08:00:00,09:00:00,0,"])
def test_a_headway_that_is_none_is_refused(tmp_path: Path, row: str) -> None:
    with pytest.raises(GeographyError, match=r"frequencies\.txt of feed has a trip"):
        read_timetable(bus_feed(tmp_path / "feed", frequencies=f"{OFTEN}{row}\n"))


# 2026-03-02 is a Monday.
WEEK = "monday,tuesday,wednesday,thursday,friday,saturday,sunday"
CALENDAR = f"service_id,start_date,end_date,{WEEK}\ndaily,20260302,20260308,1,1,1,1,1,0,0\n"
DATES = "service_id,date,exception_type\ndaily,20260303,2\ndaily,20260307,1\n"


def test_a_calendar_and_its_exceptions(tmp_path: Path) -> None:
    feed = bus_feed(tmp_path / "feed", calendar=CALENDAR, calendar_dates=DATES)
    days = read_calendar(feed)
    assert days is not None
    assert [str(day_of(day)) for day in sorted(days["daily"])] == [
        "2026-03-02",
        "2026-03-04",
        "2026-03-05",
        "2026-03-06",
        "2026-03-07",
    ]


def test_a_calendar_that_cannot_be_read(tmp_path: Path) -> None:
    dates = "service_id,date,exception_type\ndaily,2026-03-03,2\n"
    with pytest.raises(GeographyError, match=r"calendar_dates.txt of feed has a day"):
        read_timetable(bus_feed(tmp_path / "feed", calendar_dates=dates))
