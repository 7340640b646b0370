"""Timetables are read as lines, stops and rides; what is wrong with one is said in a sentence."""

from pathlib import Path

import pytest

from hushway.errors import GeographyError
from hushway.journeys.rides import ANY_LINE, PublicRides
from hushway.journeys.timetable import read_timetable
from support.bus_feed import bus_feed


def test_rides_go_down_the_line(tmp_path: Path) -> None:
    timetable = read_timetable(bus_feed(tmp_path / "feed"))
    number = {stop: index for index, stop in enumerate(timetable.stops)}
    names = dict(enumerate(timetable.routes)) | {ANY_LINE: "any"}
    found = {
        (names[line], timetable.stops[at], timetable.stops[alight]): seconds
        for line, at, alight, seconds in PublicRides(timetable=timetable, walk_m=500)._rides
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
