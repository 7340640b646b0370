"""Every tap of which something is not known has a named reason, and none is lost."""

from pathlib import Path
from typing import Any

import pytest

from hushway.geography.locations import NOT_KNOWN
from hushway.journeys.reasons import REASONS
from hushway.journeys.taps import TapColumns
from hushway.journeys.visits import StopVisits, VehicleLocations, read_visits
from support.bus_feed import bus_feed
from unit.journeys.material import DAY, Tap, Trip, rides_of, source_of, tap, trips_of
from unit.journeys.test_timetable import CALENDAR, DATES, OFTEN

BY_TRIP = TapColumns(person="card", time="when", stop=None, trip="line")
BY_VEHICLE = TapColumns(person="card", time="when", stop=None, vehicle="stop", line="line")


def whys(source: Any) -> dict[str, str]:
    """Returns what is said of every tap, by its time."""
    return {trip[1]: trip[4] for trip in trips_of(source)}


@pytest.mark.parametrize(
    ("taps", "reasons"),
    [
        pytest.param(
            [tap("a", "08:00", "MA", "", "off"), tap("a", "09:00", "E1")],
            {"08:00": "exit_alone", "09:00": "nothing_follows"},
            id="an exit alone",
        ),
        pytest.param(
            [tap("a", "08:00", "MA", ""), tap("a", "09:00", "MC", "", "off")],
            {"08:00": "exit", "09:00": "got_off"},
            id="an exit",
        ),
        pytest.param(
            [tap("a", "08:00", "MA", ""), tap("a", "13:00", "MC", "", "off")],
            {"08:00": "nothing_follows", "13:00": "exit_alone"},
            id="an exit far too late",
        ),
        pytest.param(
            [tap("a", "08:00", "E1"), tap("a", "08:30", "MC", "", "off")],
            {"08:00": "nothing_follows", "08:30": "exit_alone"},
            id="out of a gate without an entry, after a bus",
        ),
        pytest.param(
            [tap("a", "08:00", "MA", ""), tap("a", "08:30", "X9", "", "off")],
            {"08:00": "unknown_exit", "08:30": "got_off"},
            id="an exit nobody knows where",
        ),
        pytest.param(
            [tap("a", "08:00", "E1"), tap("a", "08:20", "N2", "20"), tap("a", "09:00", "", "")],
            {"08:00": "unknown_next", "08:20": "transfer", "09:00": "no_stop"},
            id="a transfer, and a tap without a stop",
        ),
        pytest.param(
            [tap("a", "08:00", "E1"), tap("a", "08:10", "E2", "10", "sale")],
            {"08:00": "nothing_follows", "08:10": "other_action"},
            id="a sale",
        ),
    ],
)
def test_reasons(tmp_path: Path, taps: list[Tap], reasons: dict[str, str]) -> None:
    source = source_of(tmp_path, taps, counted="journeys", all_taps=True, entries=("on",))
    assert whys(source) == reasons
    assert set(reasons.values()) <= set(REASONS)


def test_a_tap_that_is_there_twice(tmp_path: Path) -> None:
    columns = TapColumns(person="card", time="when", stop="stop", tap_id="line")
    taps = [
        tap("a", "08:00", "E1", "1"),
        tap("a", "08:00", "E1", "1"),
        tap("b", "08:00", "E1", "1"),
    ]
    options: dict[str, Any] = {"columns": columns, "exits": ()}
    found = trips_of(source_of(tmp_path, taps, all_taps=True, **options))
    assert [(trip[0], trip[4]) for trip in found] == [
        ("a", "nothing_follows"),
        ("a", "repeated_tap"),
        ("b", "nothing_follows"),
    ]
    assert len(trips_of(source_of(tmp_path, taps, **options))) == 2


@pytest.mark.parametrize(
    ("time", "trip", "found"),
    [
        ("08:02", "east", ("E1", "nothing_follows")),
        ("07:50", "east", ("E1", "nothing_follows")),
        ("07:30", "east", (NOT_KNOWN, "off_trip")),
        ("08:40", "east", ("E4", "nothing_follows")),
        ("09:30", "east", (NOT_KNOWN, "off_trip")),
        ("08:02", "gone", (NOT_KNOWN, "unknown_trip")),
        ("08:02", "", (NOT_KNOWN, "no_stop")),
    ],
)
def test_taps_on_trips(tmp_path: Path, time: str, trip: str, found: tuple[str, str]) -> None:
    (ride,) = trips_of(source_of(tmp_path, [tap("a", time, "", trip)], columns=BY_TRIP, exits=()))
    assert (ride[2], ride[4]) == found


@pytest.mark.parametrize(
    ("time", "exact", "found"),
    [
        ("07:55", 1, ("E1", "nothing_follows")),
        ("08:06", 1, ("E2", "nothing_follows")),
        # The bus has come to the end of the line, and people wait for the next.
        ("08:17", 1, ("E1", "nothing_follows")),
        ("08:26", 1, ("E2", "nothing_follows")),
        ("09:45", 1, (NOT_KNOWN, "off_trip")),
        ("08:06", 0, (NOT_KNOWN, "by_headway")),
    ],
)
def test_taps_on_trips_that_come_again(
    tmp_path: Path, time: str, exact: int, found: tuple[str, str]
) -> None:
    often = f"{OFTEN}east,08:00:00,09:00:00,1200,{exact}\n"
    rides = rides_of(bus_feed(tmp_path / "often", frequencies=often))
    taps = [tap("a", time, "", "east")]
    (ride,) = trips_of(source_of(tmp_path, taps, columns=BY_TRIP, exits=(), rides=rides))
    assert (ride[2], ride[4]) == found


def test_days_that_the_timetable_does_not_cover(tmp_path: Path) -> None:
    feed = bus_feed(tmp_path / "dated", calendar=CALENDAR, calendar_dates=DATES)
    taps = [
        tap(card, f"2026-03-0{day}T{time}", stop)
        for card, day in (("a", 2), ("b", 3))
        for time, stop in (("08:00", "E1"), ("17:00", "W4"))
    ]
    found = trips_of(source_of(tmp_path, taps, rides=rides_of(feed)))
    assert [trip[4] for trip in found] == ["next_tap", "first_stop", "no_service", "no_service"]
    on_trip = [tap("b", "2026-03-03T08:02", "", "east")]
    source = source_of(tmp_path, on_trip, rides=rides_of(feed), columns=BY_TRIP, exits=())
    assert trips_of(source)[0][4] == "unknown_trip"


def test_feeds_that_follow_each_other(tmp_path: Path) -> None:
    """The second one has other times for the same trip ids, and lacks a line."""
    days = [CALENDAR.replace("20260308", "20260302"), CALENDAR.replace("20260302", "20260303")]
    times = "trip_id,arrival_time,departure_time,stop_id,stop_sequence\n"
    times += "east,09:00:00,09:00:00,E1,1\neast,09:30:00,09:30:00,E2,2\n"
    feeds = (
        bus_feed(tmp_path / "first", calendar=days[0]),
        bus_feed(tmp_path / "then", calendar=days[1], stop_times=times),
    )
    taps = [
        tap("a", "2026-03-02T08:06", "", "east"),
        tap("b", "2026-03-03T09:06", "", "east"),
        tap("c", "2026-03-03T08:06", "", "west"),
    ]
    source = source_of(tmp_path, taps, rides=rides_of(*feeds), columns=BY_TRIP, exits=())
    assert [(trip[2], trip[4]) for trip in trips_of(source)] == [
        ("E2", "nothing_follows"),
        ("E1", "nothing_follows"),
        (NOT_KNOWN, "unknown_trip"),
    ]


def by_vehicle(folder: Path, visits: str, columns: StopVisits | VehicleLocations) -> list[Trip]:
    (folder / "visits.csv").write_text(visits, encoding="utf-8")
    rides = rides_of(bus_feed(folder / "feed"))
    seen = read_visits(folder / "visits.csv", columns, "local", rides)
    taps = [
        tap("a", "08:06", "v1"),
        tap("a", "17:00", "v2"),
        tap("b", "12:00", "v1"),
        tap("b", "13:00", "v3"),
    ]
    return trips_of(source_of(folder, taps, rides=rides, columns=BY_VEHICLE, visits=seen, exits=()))


ENDS = [("E2", "E4"), ("W4", "W2"), (NOT_KNOWN, NOT_KNOWN), (NOT_KNOWN, NOT_KNOWN)]


def test_stops_by_the_visits_of_vehicles(tmp_path: Path) -> None:
    rows = "v1,08:01:00,E1\nv1,08:06:30,E2\nv1,08:20:00,E3\nv2,16:58:00,W4\nv2,16:59:00,X9\n"
    visits = "vehicle_id,actual_arrival_time,stop_id\n" + rows.replace(",0", f",{DAY}T0").replace(
        ",1", f",{DAY}T1"
    )
    found = by_vehicle(tmp_path, visits, StopVisits())
    assert [(trip[2], trip[3]) for trip in found] == ENDS
    assert {trip[4] for trip in found if trip[0] == "b"} == {"no_vehicle"}


def test_stops_by_the_positions_of_vehicles(tmp_path: Path) -> None:
    visits = (
        "vehicle_id,event_timestamp,longitude,latitude\n"
        f"v1,{DAY}T08:06:30,0.0201,0.0\nv1,{DAY}T08:06:40,0.025,0.0\nv2,{DAY}T16:58:00,0.04,0.0006\n"
    )
    found = by_vehicle(tmp_path, visits, VehicleLocations())
    assert [(trip[2], trip[3]) for trip in found] == ENDS
