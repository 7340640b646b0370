"""A timetable becomes a network: a line for each route and direction, between the busiest hubs."""

import sys
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from hushway.errors import GeographyError
from hushway.geography.locations import Location, Locations
from hushway.geography.transit import BusLine, TransitNetwork, Travel
from hushway.transit.network.gtfs import gtfs_network

MONDAY, SUNDAY, HOLIDAY, FESTIVAL = (date(2026, 3, day) for day in (2, 8, 4, 15))
MORNING = (8 * 60, 9 * 60)
WEEK = "monday,tuesday,wednesday,thursday,friday,saturday,sunday"
TIMES = "trip_id,arrival_time,departure_time,stop_id,stop_sequence\n"


def trip(key: str, *calls: str) -> str:
    """Returns rows of stop_times.txt; a call is "stop arrival departure", or less."""
    rows = []
    for number, call in enumerate(calls):
        stop, *times = call.split()
        arrival, departure = (times * 2)[:2] if times else ("", "")
        rows.append(f"{key},{arrival},{departure},{stop},{number * 10}\n")
    # The rows of a feed need not be in order.
    return "".join(reversed(rows))


FEED = {
    "stops": "stop_id,stop_name,parent_station\n"
    "A,Ash,\nB1,Birch platform 1,B\nB2,Birch platform 2,B\nB,Birch,\n"
    "C,Cedar,\nD,Dogwood,\nE,Elm,\n",
    "routes": "route_id,route_short_name,route_long_name\nr1,Red,\nr2,Blue,\n",
    "trips": "route_id,service_id,trip_id,direction_id\n"
    "r1,wd,t1,0\nr1,wd,t2,0\nr1,wd,t3,0\nr1,wd,t4,0\nr1,wd,t5,1\nr2,fest,t6,0\n",
    "stop_times": TIMES
    + trip("t1", "A 08:00:00", "B1 08:05:00 08:06:00", "D 08:08:00", "C 08:10:00 08:20:00")
    + trip("t2", "A 08:20:00", "B1 08:24:00", "D 08:26:00", "C 08:28:00")
    + trip("t3", "A 08:40:00", "B1 08:50:00", "D 08:55:00", "C 09:00:00")
    + trip("t4", "A 08:50:00", "C 08:55:00")
    + trip("t5", "C 08:59:59", "B2 09:05:00", "A 09:09:00")
    + trip("t6", "A 08:00:00", "C 08:10:00"),
    "calendar": f"service_id,{WEEK},start_date,end_date\nwd,1,1,1,1,1,0,0,20260302,20260313\n",
    "calendar_dates": "service_id,date,exception_type\nwd,20260304,2\nfest,20260315,1\n",
}

Feed = Callable[..., Path]


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    def write(*, zipped: bool = False, **changes: str | None) -> Path:
        files = {name: text for name, text in {**FEED, **changes}.items() if text is not None}
        if zipped:
            with zipfile.ZipFile(tmp_path / "feed.zip", "w") as archive:
                for name, text in files.items():
                    archive.writestr(f"{name}.txt", text)
            return tmp_path / "feed.zip"
        folder = tmp_path / "feed"
        folder.mkdir()
        for name, text in files.items():
            (folder / f"{name}.txt").write_text(text, encoding="utf-8-sig")
        return folder

    return write


def places(*ids: str) -> Locations:
    return Locations(
        tuple(Location(id=key, name="", lon=i / 10, lat=0.0, zone="") for i, key in enumerate(ids))
    )


ABC = places("A", "B", "C")


def monday(path: Path, ids: Locations = ABC, *, most_hubs: int = 20) -> TransitNetwork:
    return gtfs_network(path, ids, day=MONDAY, window=MORNING, most_hubs=most_hubs)


@pytest.mark.parametrize("zipped", [False, True])
def test_a_route_is_a_line_along_its_commonest_pattern(feed: Feed, zipped: bool) -> None:
    made = monday(feed(zipped=zipped))
    assert made.lines == (
        # Rides of 6, 4 and 10 minutes, the stay included, then of 4, 4 and 10, the stay at the end
        # left out; three trips an hour, for the one that runs past Birch is of another pattern.
        BusLine(name="Red", stops=(0, 1, 2), ride_s=(360, 240), headway_s=1_200),
        BusLine(name="Red", stops=(2, 1, 0), ride_s=(301, 240), headway_s=3_600),
    )
    assert made.hubs == (0, 1, 2)
    assert made.travel == Travel()


def test_only_trips_that_leave_in_the_window_count(feed: Feed) -> None:
    made = gtfs_network(feed(), ABC, day=MONDAY, window=(8 * 60, 8 * 60 + 40))
    assert made.lines == (BusLine(name="Red", stops=(0, 1, 2), ride_s=(300, 240), headway_s=1_200),)


def test_a_day_has_the_services_of_the_calendar_and_its_exceptions(feed: Feed) -> None:
    path = feed()
    made = gtfs_network(path, ABC, day=FESTIVAL, window=MORNING)
    assert made.lines == (BusLine(name="Blue", stops=(0, 2), ride_s=(600,), headway_s=3_600),)
    assert made.hubs == (0, 2)
    for day in (SUNDAY, HOLIDAY, date(2027, 1, 1)):
        with pytest.raises(GeographyError, match="from 2026-03-02 to 2026-03-15") as caught:
            gtfs_network(path, ABC, day=day, window=MORNING)
        assert f"no service on {day}" in str(caught.value)


def test_exceptions_alone_make_a_calendar(feed: Feed) -> None:
    made = gtfs_network(feed(calendar=None), ABC, day=FESTIVAL, window=MORNING)
    assert [line.name for line in made.lines] == ["Blue"]


def test_a_calendar_needs_no_exceptions(feed: Feed) -> None:
    made = gtfs_network(feed(calendar_dates=None), ABC, day=HOLIDAY, window=MORNING)
    assert [line.name for line in made.lines] == ["Red", "Red"]


def test_times_beyond_midnight_belong_to_the_service_day(feed: Feed) -> None:
    path = feed(
        trips="route_id,service_id,trip_id,direction_id\nr1,wd,t1,0\n",
        stop_times=TIMES + trip("t1", "A 23:58:00", "B1 24:03:00", "C 25:00:00"),
    )
    made = gtfs_network(path, places("B", "C"), day=MONDAY, window=(1_440, 1_500))
    assert made.lines == (BusLine(name="Red", stops=(0, 1), ride_s=(57 * 60,), headway_s=3_600),)
    with pytest.raises(GeographyError, match="between 00:00 and 01:00 on 2026-03-02"):
        gtfs_network(path, places("B", "C"), day=MONDAY, window=(0, 60))


def one_way(*trips: str, routes: int = 1) -> dict[str, str]:
    """Returns changes to the feed: trips t0, t1 and so on, whose routes take turns."""
    keys = [rows.split(",")[0] for rows in trips]
    return {
        "trips": "route_id,service_id,trip_id,direction_id\n"
        + "".join(f"r{i % routes + 1},wd,{key},0\n" for i, key in enumerate(keys)),
        "stop_times": TIMES + "".join(trips),
    }


def test_times_that_are_left_out_are_spread_over_the_stops(feed: Feed) -> None:
    changes = one_way(trip("t0", "A 08:00:00 08:01:00", "B1", "E", "C", "D 08:09:00", "E 08:10:00"))
    assert monday(feed(**changes), places("A", "B", "C", "D")).lines[0].ride_s == (120, 240, 120)


def test_a_call_with_one_time_has_both_and_stops_before_the_first_time_are_passed(
    feed: Feed,
) -> None:
    changes = one_way("t0,,,A,1\nt0,08:01:00,,B1,2\nt0,,08:03:00,C,3\nt0,08:04:00,,D,4\nt0,,,E,5\n")
    made = monday(feed(**changes), places("A", "B", "C", "D", "E"))
    assert made.lines == (BusLine(name="Red", stops=(1, 2, 3), ride_s=(120, 60), headway_s=3_600),)


def test_platforms_of_a_station_are_one_call_and_later_calls_are_passed(feed: Feed) -> None:
    changes = one_way(
        trip(
            "t0",
            *("A 08:00:00", "B1 08:02:00", "B2 08:05:00", "C 08:06:00", "B1 08:07:00"),
            *("C 08:08:00", "C 08:09:00", "A 08:10:00", "D 08:11:00"),
        )
    )
    made = monday(feed(**changes), places("A", "B", "C", "D"))
    assert made.lines[0].stops == (0, 1, 2, 3)
    assert made.lines[0].ride_s == (300, 60, 300)


def test_platforms_may_be_locations_themselves(feed: Feed) -> None:
    made = monday(feed(), places("A", "B2", "B", "C"))
    assert [line.stops for line in made.lines] == [(0, 2, 3), (3, 1, 0)]


def test_rides_of_no_time_take_a_second(feed: Feed) -> None:
    changes = one_way(trip("t0", "A 08:00:00", "B1 08:00:00", "C 08:00:00", "D 08:05:00"))
    path = feed(**changes)
    assert monday(path, places("A", "B", "C", "D")).lines[0].ride_s == (1, 1, 300)


def test_places_that_are_passed_in_no_time_add_nothing(feed: Feed) -> None:
    changes = one_way(
        trip("t0", "A 08:00:00", "B1 08:00:00", "C 08:00:00", "D 08:05:00"),
        trip("t1", "D 08:10:00", "A 08:20:00"),
        trip("t2", "D 08:30:00", "A 08:40:00"),
    )
    directions = changes["trips"].replace("t1,0", "t1,1").replace("t2,0", "t2,1")
    path = feed(trips=directions, stop_times=changes["stop_times"])
    made = monday(path, places("A", "B", "C", "D"), most_hubs=2)
    assert [(line.stops, line.ride_s) for line in made.lines] == [
        ((0, 3), (300,)),
        ((3, 0), (600,)),
    ]


def test_without_directions_the_order_of_the_list_tells_the_ways_apart(feed: Feed) -> None:
    made = monday(
        feed(trips="route_id,service_id,trip_id\n" + "".join(f"r1,wd,t{i}\n" for i in range(1, 6)))
    )
    assert [(line.stops, line.headway_s) for line in made.lines] == [
        ((0, 1, 2), 1_200),
        ((2, 1, 0), 3_600),
    ]


def test_frequencies_are_departures(feed: Feed) -> None:
    changes = one_way(trip("t0", "A 00:00:00", "C 00:07:00"))
    frequencies = "trip_id,start_time,end_time,headway_secs\nt0,07:00:00,10:00:00,360\n"
    made = monday(feed(**changes, frequencies=frequencies))
    assert made.lines == (BusLine(name="Red", stops=(0, 2), ride_s=(420,), headway_s=360),)


def test_the_busiest_places_are_hubs_and_lines_pass_the_others(feed: Feed) -> None:
    changes = one_way(
        trip("t0", "A 08:00:00", "B1 08:01:00", "C 08:03:00", "D 08:07:00"),
        trip("t1", "C 08:00:00", "E 08:01:00", "D 08:05:00"),
        routes=2,
    )
    ids = places("E", "D", "C", "B", "A")
    made = monday(feed(**changes), ids, most_hubs=2)
    # Cedar has two departures; of the others with one, Ash comes first by its id.
    assert made.hubs == (2, 4)
    assert made.lines == (BusLine(name="Red", stops=(4, 2), ride_s=(180,), headway_s=3_600),)


def test_departures_outside_the_window_make_no_hub(feed: Feed) -> None:
    changes = one_way(
        trip("t0", "A 08:50:00", "B1 09:01:00", "C 09:03:00"),
        trip("t1", "C 08:50:00", "A 08:55:00"),
        routes=2,
    )
    made = monday(feed(**changes), most_hubs=2)
    assert made.hubs == (0, 2)
    assert [line.stops for line in made.lines] == [(2, 0), (0, 2)]


def test_lines_with_the_same_stops_become_one(feed: Feed) -> None:
    changes = one_way(
        trip("t0", "A 08:00:00", "B1 08:02:00", "C 08:04:00"),
        trip("t1", "A 08:10:00", "D 08:12:00", "C 08:20:00"),
        trip("t2", "A 08:30:00", "B1 08:32:00", "C 08:34:00"),
        routes=2,
    )
    path = feed(**changes)
    made = monday(path, places("A", "B", "C", "D"))
    assert [line.name for line in made.lines] == ["Blue", "Red"]
    made = monday(path, places("A", "C"))
    # 1 / (1 / 1,800 s + 1 / 3,600 s), and the mean of 4 and 10 minutes.
    assert made.lines == (BusLine(name="Blue / Red", stops=(0, 1), ride_s=(420,), headway_s=1_200),)


def test_equal_patterns_are_told_apart_by_their_length(feed: Feed) -> None:
    changes = one_way(
        trip("t0", "A 08:00:00", "C 08:04:00"),
        trip("t1", "A 08:10:00", "B1 08:12:00", "C 08:20:00"),
    )
    assert [line.stops for line in monday(feed(**changes)).lines] == [(0, 1, 2)]


@pytest.mark.parametrize(
    ("routes", "names"),
    [
        ("route_id\nr1\nr2\n", ["r1", "r2"]),
        ("route_id,route_short_name,route_long_name\nr1,7,\nr2,,Long\n", ["7", "Long"]),
        ("route_id,route_short_name\nr1,7\nr2,7\n", ["7 (r1)", "7 (r2)"]),
    ],
)
def test_lines_have_the_names_of_routes(feed: Feed, routes: str, names: list[str]) -> None:
    changes = one_way(
        trip("t0", "A 08:00:00", "B1 08:04:00"), trip("t1", "B1 08:00:00", "C 08:20:00"), routes=2
    )
    made = monday(feed(**changes, routes=routes))
    assert [line.name for line in made.lines] == names


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stops": None}, "no stops.txt"),
        ({"stop_times": TIMES}, "no stop_times.txt, or nothing in it"),
        ({"calendar": None, "calendar_dates": None}, "no calendar.txt or calendar_dates.txt"),
        ({"trips": "route_id,trip_id\nr1,t1\n"}, "trips.txt of feed.zip has no column service_id"),
        ({"calendar": "service_id,monday\nwd,1\n"}, "no column start_date, end_date, tuesday"),
        ({"frequencies": "trip_id\nt1\n"}, "no column start_time, end_time, headway_secs"),
        ({"calendar": FEED["calendar"].replace("wd,1", "wd,yes")}, "feed.zip cannot be read"),
        ({"stops": 'stop_id,stop_name\nA,"Ash\n'}, "feed.zip cannot be read"),
        (
            {"calendar": FEED["calendar"].replace("20260302", "2/3/26"), "calendar_dates": None},
            "not written as YYYYMMDD",
        ),
    ],
)
def test_a_damaged_feed_is_refused_in_one_sentence(
    feed: Feed, changes: dict[str, str | None], words: str
) -> None:
    with pytest.raises(GeographyError) as caught:
        monday(feed(zipped=True, **changes))
    assert words in str(caught.value)
    assert caught.value.advice


def test_columns_that_no_one_needs_may_hold_anything(feed: Feed) -> None:
    # A table of this size is read in parts, of which the last alone has a text in it.
    wide = "," * 200
    many = "".join(f"s{number},,{number}{wide}\n" for number in range(5_000))
    header = "stop_id,parent_station,note" + "".join(f",x{number}" for number in range(200))
    made = monday(feed(stops=f"{header}\nA,,1{wide}\nC,,2{wide}\n{many}Z,,text{wide}\n"))
    assert made.hubs == (0, 2)


def test_what_is_no_feed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GeographyError, match=r"There is no gone\.zip"):
        monday(tmp_path / "gone.zip")
    (tmp_path / "text.zip").write_text("no archive", encoding="utf-8")
    with pytest.raises(GeographyError, match=r"text\.zip cannot be read"):
        monday(tmp_path / "text.zip")
    (tmp_path / "empty").mkdir()
    with pytest.raises(GeographyError, match=r"no stops\.txt, routes\.txt, trips\.txt, stop_times"):
        monday(tmp_path / "empty")


def test_a_cut_off_archive_is_refused(feed: Feed) -> None:
    whole = feed(zipped=True)
    whole.write_bytes(whole.read_bytes()[:-100])
    with pytest.raises(GeographyError, match="cannot be read"):
        monday(whole)


def test_places_that_the_feed_does_not_have_are_refused_only_if_it_has_none(feed: Feed) -> None:
    path = feed()
    assert monday(path, places("nowhere", "A", "C")).hubs == (1, 2)
    with pytest.raises(GeographyError, match="None of the places is in the timetable feed"):
        monday(path, places("nowhere"))
    with pytest.raises(GeographyError, match="No trip of feed goes from one hub to another"):
        monday(path, places("nowhere", "A"))


@pytest.mark.parametrize("window", [(540, 480), (480, 480), (-60, 480)])
def test_a_window_needs_a_length(feed: Feed, window: tuple[int, int]) -> None:
    with pytest.raises(GeographyError, match="window from minute"):
        gtfs_network(feed(), ABC, day=MONDAY, window=window)


def test_two_hubs_are_the_fewest(feed: Feed) -> None:
    with pytest.raises(GeographyError, match="two hubs"):
        monday(feed(), most_hubs=1)


def test_without_the_library_the_error_says_how_to_install_it(
    feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gtfs_kit", None)
    with pytest.raises(GeographyError, match="gtfs-kit") as caught:
        monday(feed())
    assert 'pip install "hushway[gtfs]"' in caught.value.advice
