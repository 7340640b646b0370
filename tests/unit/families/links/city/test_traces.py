from datetime import date
from itertools import pairwise

import numpy as np
import pytest
import shapely

from hushway.errors import PlanError
from hushway.families.links.city import simulate as traces_simulate
from hushway.families.links.city.positions import times_of
from hushway.families.links.city.road_city import road_city
from hushway.families.links.city.simulate import (
    Devices,
    Habits,
    TraceCity,
    joined,
    simulate_traces,
    some_trips,
    trace_parts,
)
from hushway.families.links.public.roads import RoadNetwork

# Friday, so that the second day is the weekend.
_TWO_DAYS = Habits(first_day=date(2026, 3, 6), days=2)
_CLEAN = Devices(noise_m=0.0, gaps=0.0, jumps=0.0, duplicates=0.0, interval_s=(7, 7))


@pytest.fixture(scope="module")
def roads() -> RoadNetwork:
    return road_city(5, links=3_000)


@pytest.fixture(scope="module")
def city(roads: RoadNetwork) -> TraceCity:
    return simulate_traces(roads, 3, people=1_200, habits=_TWO_DAYS)


@pytest.fixture(scope="module")
def clean(roads: RoadNetwork) -> TraceCity:
    return simulate_traces(roads, 3, people=300, devices=_CLEAN)


def _first(city: TraceCity) -> np.ndarray:
    return city.truth.start[:-1]


def test_true_ways_are_connected_and_never_turn_on_the_spot(city: TraceCity) -> None:
    roads, way = city.roads, city.truth
    inside = ~way.fresh[1:]
    before, after = way.link[:-1][inside], way.link[1:][inside]
    assert np.array_equal(roads.head[before], roads.tail[after])
    dead_end = np.bincount(roads.tail, minlength=roads.nodes)[roads.head[before]] == 1
    back = roads.head[after] == roads.tail[before]
    assert not (back & ~dead_end).any()
    assert np.array_equal(np.flatnonzero(way.fresh), _first(city))


def test_every_trip_has_two_links_and_two_positions_at_least(city: TraceCity) -> None:
    assert np.diff(city.truth.start).min() >= 2
    assert np.diff(city.start).min() >= 2
    assert city.truth.start[-1] == len(city.truth.link)
    assert city.start[-1] == len(city.lon) == len(city.truth.point_link)


def test_links_are_left_when_the_next_one_is_entered(city: TraceCity) -> None:
    way = city.truth
    assert (way.left > way.entered).all()
    inside = ~way.fresh[1:]
    assert np.array_equal(way.left[:-1][inside], way.entered[1:][inside])


def test_trips_are_in_the_order_of_persons_and_do_not_overlap(city: TraceCity) -> None:
    begins, ends = city.truth.entered[_first(city)], city.truth.left[city.truth.start[1:] - 1]
    same = city.person[1:] == city.person[:-1]
    assert (np.diff(city.person) >= 0).all()
    assert (begins[1:][same] >= ends[:-1][same] + 60).all()
    assert np.array_equal(city.trip[1:], np.where(same, city.trip[:-1] + 1, 0))
    assert begins.min() >= 0
    assert ends.max() < 2 * 86_400


def test_whoever_is_late_leaves_a_minute_after_arriving(roads: RoadNetwork) -> None:
    courses = np.array([0, 1, 2, 3]), np.array([0, 1, 2]), np.zeros(3), np.ones(3)
    planned = np.array([7, 7, 8]), np.full(3, 50_000.0)
    times = times_of(roads, courses, planned, np.ones(3), np.zeros(3))
    assert times.entered[0] == times.entered[2] == 50_000
    assert times.entered[1] == np.ceil(times.left[0] + 60)


def test_clean_positions_lie_on_their_true_links(clean: TraceCity) -> None:
    points, start = clean.roads.points, clean.roads.start
    lines = np.array(
        [shapely.LineString(points[start[i] : start[i + 1]]) for i in range(clean.roads.links)]
    )
    away = shapely.distance(
        lines[clean.truth.point_link], shapely.points(clean.traces.x, clean.traces.y)
    )
    # Devices round to six decimals: about a tenth of a metre.
    assert away.max() < 0.2


def test_positions_are_taken_while_their_links_are_driven(clean: TraceCity) -> None:
    way = clean.truth
    for trip in range(0, len(clean), 7):
        links = slice(way.start[trip], way.start[trip + 1])
        points = slice(clean.start[trip], clean.start[trip + 1])
        seconds = clean.seconds[points]
        assert seconds[0] == way.entered[links][0]
        assert 0 <= seconds[-1] - way.left[links][-1] < 1
        assert (np.diff(seconds)[:-1] == 7).all()
        place = np.searchsorted(way.left[links], seconds[:-1], side="right")
        assert np.array_equal(clean.truth.point_link[points][:-1], way.link[links][place])
        assert clean.truth.point_link[points][-1] == way.link[links][-1]


def test_no_vehicle_is_faster_than_its_roads_allow(clean: TraceCity) -> None:
    trip = np.repeat(np.arange(len(clean)), np.diff(clean.start))
    same = trip[1:] == trip[:-1]
    metres = np.hypot(np.diff(clean.traces.x), np.diff(clean.traces.y))[same]
    # Ten centimetres at either end come from rounding.
    assert (metres - 0.3 <= np.diff(clean.seconds)[same] * 100 / 3.6).all()


def test_noise_has_the_deviation_that_was_asked_for_and_forgets_slowly(roads: RoadNetwork) -> None:
    noisy = simulate_traces(
        roads, 3, people=300, devices=Devices(noise_m=10, gaps=0, jumps=0, duplicates=0)
    )
    exact = simulate_traces(
        roads, 3, people=300, devices=Devices(noise_m=0, gaps=0, jumps=0, duplicates=0)
    )
    east = noisy.traces.x - exact.traces.x
    assert 8.5 < east.std() < 12
    same = np.ones(len(east) - 1, dtype=bool)
    same[noisy.start[1:-1] - 1] = False
    short = same & (np.diff(noisy.seconds) <= 10)
    likeness = np.corrcoef(east[:-1][short], east[1:][short])[0, 1]
    assert 0.8 < likeness < 0.95


def test_jumps_gaps_and_duplicates_come_at_their_rates(roads: RoadNetwork) -> None:
    rates = Devices(noise_m=0, gaps=0.5, jumps=0.05, duplicates=0.1, interval_s=(5, 5))
    broken = simulate_traces(roads, 3, people=400, devices=rates)
    trip = np.repeat(np.arange(len(broken)), np.diff(broken.start))
    same = trip[1:] == trip[:-1]
    step = np.diff(broken.seconds)[same]
    assert (step >= 0).all()
    assert 0.08 < (step == 0).mean() < 0.12
    lost = np.zeros(len(broken), dtype=bool)
    lost[trip[1:][same][step > 60]] = True
    assert 0.25 < lost.mean() < 0.5
    points, start = broken.roads.points, broken.roads.start
    lines = np.array(
        [shapely.LineString(points[start[i] : start[i + 1]]) for i in range(broken.roads.links)]
    )
    at = shapely.points(broken.traces.x, broken.traces.y)
    assert 0.03 < (shapely.distance(lines[broken.truth.point_link], at) > 50).mean() < 0.07


def test_some_devices_report_speed_and_heading(city: TraceCity) -> None:
    assert np.array_equal(np.isnan(city.speed), np.isnan(city.heading))
    silent = np.array([np.isnan(city.speed[city.start[i]]) for i in range(len(city))])
    by_person = [set(silent[city.person == person]) for person in np.unique(city.person)[:100]]
    assert all(len(kinds) == 1 for kinds in by_person)
    assert 0.5 < 1 - silent.mean() < 0.7
    assert np.nanmin(city.speed) == 0
    assert np.nanmax(city.heading) < 360


def test_weekdays_have_two_rush_hours_and_weekends_have_none(city: TraceCity) -> None:
    begins = city.truth.entered[_first(city)]
    hourly = np.bincount((begins // 3_600).astype(np.int64), minlength=48).reshape(2, 24)
    friday, saturday = hourly
    noon = friday[10:15].mean()
    assert friday[7:9].mean() > 1.5 * noon
    assert friday[16:18].mean() > 1.3 * noon
    assert friday[:5].max() < noon / 4
    assert saturday[7:9].mean() < friday[7:9].mean() / 3


def test_people_begin_at_home_and_fleets_drive_more(city: TraceCity) -> None:
    first = np.flatnonzero(city.trip == 0)
    street = city.roads.street
    at_home = street[city.first_link[first]] == street[city.home[city.person[first]]]
    assert at_home.all()
    trips = np.bincount(city.person, minlength=city.people)
    assert trips[city.fleet].mean() > 4 * trips[~city.fleet].mean()
    assert (city.work[city.fleet] == -1).all()


def test_commutes_are_repeated_on_the_same_way(roads: RoadNetwork) -> None:
    week = simulate_traces(roads, 3, people=200, habits=Habits(days=5, errands=0, leisure=0))
    way = week.truth
    links = [tuple(way.link[way.start[i] : way.start[i + 1]]) for i in range(len(week))]
    worker = int(np.flatnonzero(week.work >= 0)[0])
    own = [links[i] for i in np.flatnonzero(week.person == worker)]
    assert len(own) >= 4
    assert len(set(own)) <= 4


def test_people_on_the_same_journey_take_different_ways(roads: RoadNetwork) -> None:
    city = simulate_traces(roads, 3, people=5_000, habits=Habits(fleet_share=0.0))
    ends = city.roads.head[city.first_link] * roads.nodes + city.roads.tail[city.last_link]
    way = city.truth
    order = np.argsort(ends, kind="stable")
    pairs = [
        (i, j)
        for i, j in pairwise(order)
        if ends[i] == ends[j] and city.person[i] != city.person[j]
    ]
    links = [way.link[way.start[i] : way.start[i + 1]] for i in range(len(city))]
    alike = [np.array_equal(links[i][1:-1], links[j][1:-1]) for i, j in pairs]
    assert len(pairs) > 30
    assert 0.0 < np.mean(alike) < 0.9


def test_a_seed_gives_the_same_traces_and_another_seed_others(
    roads: RoadNetwork, clean: TraceCity
) -> None:
    again = simulate_traces(roads, 3, people=300, devices=_CLEAN)
    assert np.array_equal(again.lon, clean.lon)
    assert np.array_equal(again.truth.link, clean.truth.link)
    other = simulate_traces(roads, 4, people=300, devices=_CLEAN)
    assert len(other.lon) != len(clean.lon)


def test_parts_put_together_are_the_whole(
    roads: RoadNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces_simulate, "PEOPLE_OF_PART", 40)
    whole = simulate_traces(roads, 3, people=100)
    parts = list(trace_parts(roads, 3, people=100))
    assert [part.first_person for part in parts] == [0, 40, 80]
    assert [part.people for part in parts] == [40, 40, 20]
    again = joined(parts)
    assert whole.people == 100
    for name in ("person", "trip", "start", "lon", "seconds", "home"):
        assert np.array_equal(getattr(whole, name), getattr(again, name))
    late = whole.person >= 80
    last = some_trips(whole, late)
    for name in ("person", "trip", "start", "lon", "lat", "seconds"):
        assert np.array_equal(getattr(last, name), getattr(parts[2], name))
    for name in ("start", "link", "entered", "left", "fresh", "reason", "point_link"):
        assert np.array_equal(getattr(last.truth, name), getattr(parts[2].truth, name))


def test_arrays_cannot_be_written_to(clean: TraceCity) -> None:
    for column in (clean.lon, clean.truth.link):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0


@pytest.mark.parametrize(("seed", "people"), [(-1, 10), (1, 0)])
def test_impossible_seeds_and_sizes_are_refused(roads: RoadNetwork, seed: int, people: int) -> None:
    with pytest.raises(PlanError):
        simulate_traces(roads, seed, people=people)


@pytest.mark.parametrize(
    "bad",
    [
        {"interval_s": (0, 5)},
        {"interval_s": (9, 5)},
        {"noise_m": -1.0},
        {"gaps": 1.5},
        {"reporting": -0.1},
    ],
)
def test_impossible_devices_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(PlanError):
        Devices(**bad)


@pytest.mark.parametrize("bad", [{"days": 0}, {"fleet_share": 2.0}, {"fleet_trips": 1.0}])
def test_impossible_habits_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(PlanError):
        Habits(**bad)
