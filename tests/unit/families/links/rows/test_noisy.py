"""Trips with noisy ends: nothing but the noise reads where an end was."""

from collections.abc import Callable
from datetime import date
from fractions import Fraction
from math import exp, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.engine.key import BoundingKey
from hushway.engine.settings import EngineSettings
from hushway.errors import PrivacyError
from hushway.families.links.city.road_city import road_city
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.matching.traces import Traces
from hushway.families.links.public.universe import LinkUniverse, MovementCells, MovementLimits
from hushway.families.links.rows import noisy as movements_noisy
from hushway.families.links.rows.movements import TraceMovements
from hushway.families.links.rows.noisy import (
    EndNoise,
    MetricEnds,
    few_trips,
    moved,
    nearest_places,
    noisy_ends,
    noisy_trips,
    parted,
)
from hushway.families.links.rows.rows import PeoplePositions, TraceColumns, TracesSource
from hushway.families.links.rows.trips import Splitting, Trips
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource
from support.windows import window

WriteFile = Callable[..., Path]
KEY = BoundingKey.from_words(range(10**18, 10**18 + BoundingKey.WORDS))
ROADS = road_city(1, links=1_000)
MATCHER = Matcher(ROADS)
EYE = np.eye(2)
MIDDLE = ROADS.node_points.mean(axis=0)
ENDS = MetricEnds(epsilon=Fraction(1), radius=100, step=10, max_trips=3)
# Reaches 74 metres.
LITTLE = MetricEnds(epsilon=Fraction(10), radius=100, step=10, max_trips=3)


def noise(seed: int, ends: MetricEnds = ENDS, matcher: Any = MATCHER) -> EndNoise:
    return EndNoise(
        ends=ends,
        splitting=Splitting(),
        roads=ROADS,
        matcher=matcher,
        key=KEY,
        bits=SeededSource(seed),
    )


def across(trips: int, positions: int = 40, half: float = 600.0) -> Trips:
    """Trips straight through the middle of the city, over more than a kilometre."""
    x = np.tile(np.linspace(-half, half, positions) + MIDDLE[0], trips)
    return Trips(
        person=np.arange(trips),
        traces=Traces(
            start=np.arange(trips + 1) * positions,
            x=x,
            y=np.full(len(x), MIDDLE[1]),
            seconds=np.tile(np.arange(positions) * 10.0, trips),
        ),
    )


Spot = tuple[int, float, float]
"""Seconds, and metres east and north of the middle of the city."""


def of_one(spots: list[Spot]) -> PeoplePositions:
    """One person's positions in the order in which the engine hands them out."""
    plane = ROADS.plane
    tiny = 0.001
    (east, _), (_, north) = plane.to_metres(plane.lon + tiny * EYE[0], plane.lat + tiny * EYE[1])
    lon = plane.lon + np.array([x for _, x, _ in spots]) * tiny / east
    lat = plane.lat + np.array([y for _, _, y in spots]) * tiny / north
    seconds = np.array([second for second, _, _ in spots])
    order = np.lexsort((lat, lon, seconds))
    return PeoplePositions(
        start=np.array([0, len(spots)]),
        salt=np.array([7]),
        trip=np.zeros(len(spots), dtype=np.int64),
        since_us=seconds[order] * 1_000_000,
        lon=lon[order],
        lat=lat[order],
    )


def told(trips: Trips) -> list[list[float]]:
    traces = trips.traces
    columns = (traces.start, traces.x, traces.y, traces.seconds, trips.person)
    return [column.tolist() for column in columns]


PLACE = st.sampled_from([-3_000.0, -700.0, -10.0, 0.0, 4.0, 699.0, 701.0, 2_500.0])
PLACES = st.tuples(PLACE, PLACE)
INNER = st.lists(st.tuples(st.integers(1, 99), PLACE, PLACE), max_size=8)


@given(
    inner=INNER, beside=st.lists(PLACES, max_size=2), one=PLACES, other=PLACES, late=st.booleans()
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_nothing_but_the_noise_reads_where_an_end_was(
    inner: list[Spot],
    beside: list[tuple[float, float]],
    one: tuple[float, float],
    other: tuple[float, float],
    late: bool,
) -> None:
    """With the noisy ends held fast, an end may be anywhere: in reach, in a jump, or one of some.

    This is the guarantee but for the law of the noise: who knows all other positions and all times
    learns of the end from its noisy value alone.
    """
    time = 100 if late else 0
    rest = [*inner, *((time, x, y) for x, y in beside), (100 - time, 40.0, -80.0)]

    def held_fast(x: Any, _y: Any, _ends: Any, _bits: Any) -> tuple[Any, Any]:
        return np.linspace(-50.0, 350.0, len(x)), np.linspace(20.0, -90.0, len(x))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(movements_noisy, "moved", held_fast)
        found = [
            told(noisy_trips(of_one([*rest, (time, *place)]), noise(1, LITTLE)))
            for place in (one, other)
        ]
    assert found[0] == found[1]


STEPS = st.integers(-50, 50)


@given(
    spots=st.lists(st.tuples(STEPS, STEPS), min_size=1, max_size=4),
    to=st.tuples(STEPS, STEPS),
    off=st.floats(-0.49, 0.49),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_an_end_moves_no_further_than_one_of_its_positions(
    spots: list[tuple[int, int]], to: tuple[int, int], off: float
) -> None:
    """Several positions at the last time, one of which moves, in steps of the grid."""

    def end(last: list[tuple[int, int]]) -> tuple[float, float]:
        x, y = ((np.array([(0, 0), *last]) + off) * 10.0).T
        seconds = np.array([0.0] + [60.0] * len(last))
        traces = Traces(start=np.array([0, len(x)]), x=x, y=y, seconds=seconds)
        ends_x, ends_y, inner = parted(traces, 10)
        assert len(inner.x) == 0
        return float(ends_x[1]), float(ends_y[1])

    before, after = end(spots), end([to, *spots[1:]])
    for axis in (0, 1):
        assert abs(after[axis] - before[axis]) <= abs(to[axis] - spots[0][axis])


def test_an_end_goes_to_the_nearest_point_of_the_grid() -> None:
    traces = Traces(
        start=np.array([0, 3, 5]),
        x=np.array([4.0, 50.0, 106.0, -14.0, 5_678.0]),
        y=np.array([-4.0, 50.0, 94.0, -16.0, 15.1]),
        seconds=np.array([0.0, 5.0, 9.0, 3.0, 4.0]),
    )
    x, y, inner = parted(traces, 10)
    assert x.tolist() == [0.0, -1.0, 11.0, 568.0]
    assert y.tolist() == [-0.0, -2.0, 9.0, 2.0]
    assert (inner.start.tolist(), inner.x.tolist()) == ([0, 1, 1], [50.0])


def test_ends_move_as_far_as_the_law_says() -> None:
    x = np.full(8_000, 17.0)
    for noisy in moved(x, x, ENDS, SeededSource(1)):
        steps = noisy / ENDS.step - x
        assert np.array_equal(steps, np.rint(steps))
        a = exp(-1 / float(ENDS.scale))
        expected, deviation = 2 * a / (1 - a * a), sqrt(2 * a) / (1 - a)
        # 8,000 draws; six standard deviations of the mean, about one in a thousand million.
        assert abs(np.abs(steps).mean() - expected) < 6 * deviation / sqrt(8_000)
        assert abs(steps.mean()) < 6 * deviation / sqrt(8_000)


def test_both_ends_of_each_trip_have_noise_of_their_own() -> None:
    found = noisy_ends(across(50, positions=2), noise(2)).traces
    assert len(found.x) == 100
    places = np.column_stack([found.x, found.y]).round(1)
    assert len(np.unique(places[::2], axis=0)) > 40
    assert len(np.unique(places[1::2], axis=0)) > 40


def test_positions_near_the_noisy_ends_are_left_out() -> None:
    trips, flat = across(30), _Flat()
    left = noisy_ends(trips, noise(3, LITTLE, flat)).traces
    lengths = np.diff(left.start)
    assert (lengths > 2).all()
    assert (lengths < 40).all()
    noisy = np.column_stack([flat.x, flat.y])
    true = np.column_stack([trips.traces.x, trips.traces.y])[1:39]
    for trip, (low, high) in enumerate(zip(left.start[:-1], left.start[1:], strict=True)):
        inner = np.column_stack([left.x, left.y])[low + 1 : high - 1]
        # As far as the noise reaches, and 300 metres for the streets.
        apart = [np.hypot(*(true - end).T) for end in (noisy[trip], noisy[30 + trip])]
        beyond = np.minimum(*apart) > LITTLE.reach + 300.0
        assert inner.tolist() == true[beyond].tolist()
        assert (np.diff(left.seconds[low:high]) > 0).all()
        assert (left.seconds[low], left.seconds[high - 1]) == (0.0, 390.0)


def test_a_trip_that_is_swallowed_goes_from_one_noisy_end_to_the_other() -> None:
    # The noise reaches 566 metres, and a trip is 200 long.
    found = noisy_ends(across(20, half=100.0), noise(4)).traces
    assert np.diff(found.start).tolist() == [2] * 20
    assert (np.diff(MATCHER.match(found).start) > 0).mean() > 0.5


def test_noisy_ends_are_put_onto_roads() -> None:
    found = noisy_ends(across(20), noise(4)).traces
    ends = np.concatenate([found.start[:-1], found.start[1:] - 1])
    start, _, distance = MATCHER.nearest_links(found.x[ends], found.y[ends], 50.0)
    assert (np.diff(start) > 0).all()
    assert distance[start[:-1]] == pytest.approx(np.zeros(len(ends)), abs=1e-6)


def test_what_lies_between_the_ends_is_cleaned_and_not_split() -> None:
    away = [(0, 0.0, 0.0), *((10 * i, 30.0 * i, 0.0) for i in range(1, 60)), (600, 0.0, 0.0)]
    wrong = away.copy()
    wrong[30] = (300, 900.0, 2_500.0)
    assert told(trip_of(wrong)) == told(trip_of(away[:30] + away[31:]))
    # Somebody who is suddenly elsewhere and goes on from there is on one trip all the same.
    jump = [(t, x, y + (2_000.0 if 300 <= t < 600 else 0.0)) for t, x, y in away]
    assert len(trip_of(jump).person) == 1
    assert trip_of(jump).traces.seconds.tolist() == trip_of(away).traces.seconds.tolist()


def trip_of(spots: list[Spot]) -> Trips:
    """The trips of one person on a map without streets to leave out."""
    return noisy_trips(of_one(spots), noise(5, LITTLE, _Flat(radius=50.0)))


def test_the_nearest_place_is_on_the_nearest_road() -> None:
    rng = np.random.default_rng(5)
    low, high = ROADS.node_points.min(axis=0), ROADS.node_points.max(axis=0)
    x, y = (low + rng.random((200, 2)) * (high - low)).T.copy()
    place_x, place_y = nearest_places(MATCHER, ROADS, x, y)
    start, _, distance = MATCHER.nearest_links(x, y, 2_000.0)
    assert (np.diff(start) > 0).all()
    assert np.hypot(place_x - x, place_y - y) == pytest.approx(distance[start[:-1]], abs=1e-6)


def test_far_from_all_roads_the_nearest_node_will_do() -> None:
    x, y = np.array([1e5, 0.0]), np.array([-1e5, 0.0])
    place_x, place_y = nearest_places(MATCHER, ROADS, x, y)
    corner = ROADS.node_points[np.argmin(np.hypot(*(ROADS.node_points - [1e5, -1e5]).T))]
    assert (place_x[0], place_y[0]) == pytest.approx(tuple(corner))
    assert np.hypot(place_x[1], place_y[1]) < 300.0


def test_people_without_trips_need_no_noise() -> None:
    nobody = across(1).only(np.array([], dtype=np.int64))
    few = few_trips(nobody, np.array([7, 8]), 3, KEY)
    assert len(noisy_ends(few, noise(6)).traces) == 0


def test_at_most_so_many_trips_of_a_person_stay() -> None:
    trips = across(12, positions=2)
    of_people = Trips(person=np.repeat([0, 2, 3], [7, 2, 3]), traces=trips.traces)
    few = few_trips(of_people, np.array([5, 6, 7, 8]), 3, KEY)
    assert few.person.tolist() == [0, 0, 0, 2, 2, 3, 3, 3]
    assert len(few.traces) == 8
    # The choice is a person's own.
    alone = Trips(person=np.zeros(7, dtype=np.int64), traces=of_people.only(np.arange(7)).traces)
    own = few_trips(alone, np.array([5]), 3, KEY).traces
    assert own.seconds.tolist() == few.traces.seconds[:6].tolist()
    assert len(few_trips(of_people, np.array([5, 6, 7, 8]), 1 << 70, KEY).traces) == 12


class _Flat:
    """A map with enough streets within a radius of everywhere, that remembers what was asked."""

    def __init__(self, radius: float = 300.0) -> None:
        self.radius = radius

    def match(self, traces: Traces, *, threads: int | None = None) -> Any:
        return MATCHER.match(traces, threads=threads)

    def nearest_links(self, x: Any, y: Any, radius: float) -> Any:
        return MATCHER.nearest_links(x, y, radius)

    def links_within(self, x: Any, y: Any, radii: Any) -> Any:
        self.x, self.y = x, y
        return np.tile(np.where(radii >= self.radius, 25, 24), (len(x), 1))


UNIVERSE = LinkUniverse(
    roads=ROADS,
    periods=window(date(2026, 3, 2), minutes=1440),
    zone=np.zeros(ROADS.links, dtype=np.int64),
    zones=("all",),
)
QUERY = Query(name="movements", cells=MovementCells(universe=UNIVERSE))


def written(csv_file: WriteFile, people: int, trips: int) -> Path:
    """Trips along the courses of the longest links, one after the other."""
    link = int(np.argmax(ROADS.length))
    low, high = ROADS.start[link], ROADS.start[link + 1] - 1
    rows = []
    for person in range(people):
        for trip in range(trips):
            for i in range(6):
                share = i / 5
                lon = ROADS.lon[low] * (1 - share) + ROADS.lon[high] * share
                lat = ROADS.lat[low] * (1 - share) + ROADS.lat[high] * share
                time = f"2026-03-02T{8 + trip:02d}:00:{10 * i:02d}"
                rows.append((f"p{person}", time, repr(float(lon)), repr(float(lat))))
    return csv_file(rows, header="person,time,lon,lat")


def counter(path: Path, **options: Any) -> TraceMovements:
    return TraceMovements(
        source=TracesSource(path, TraceColumns()),
        universe=UNIVERSE,
        limits=MovementLimits(max_items=10),
        key=KEY,
        settings=EngineSettings(memory_limit="500MB", threads=1),
        **options,
    )


def test_trips_with_noisy_ends_are_counted_within_the_same_bound(csv_file: WriteFile) -> None:
    path = written(csv_file, people=5, trips=6)
    plain = counter(path)
    noisy = counter(path, ends=ENDS, bits=SeededSource(1))
    assert noisy.bound(QUERY) == plain.bound(QUERY)
    found, as_it_was = noisy.count(QUERY), plain.count(QUERY)
    assert found.values.max() <= 5
    assert 0 < found.values.sum() <= 5 * 10
    assert len(found.cells) > len(as_it_was.cells)
    # Drawn once: asking again shows nothing new.
    again = noisy.count(QUERY)
    assert again.cells.tolist() == found.cells.tolist()
    assert again.values.tolist() == found.values.tolist()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Up to 70 metres a second, or more.
        ([(0, 0.0, 0.0), (10, 699.0, 0.0)], [(0, 0.0, 0.0), (10, 701.0, 0.0)]),
        # The beginning as well.
        (
            [(0, 1.0, 0.0), (10, 700.0, 0.0), (20, 1_100.0, 0.0)],
            [(0, -1.0, 0.0), (10, 700.0, 0.0), (20, 1_100.0, 0.0)],
        ),
        # First and second of two positions at the last time, from west to east.
        (
            [(0, 0.0, 0.0), (60, 1.0, 900.0), (60, -1.0, 0.0)],
            [(0, 0.0, 0.0), (60, 1.0, 900.0), (60, 2.0, 0.0)],
        ),
    ],
)
def test_ends_at_the_same_point_of_the_grid_are_counted_alike(
    csv_file: WriteFile, one: list[Spot], other: list[Spot]
) -> None:
    """From the rows of a file to exact counts, with the same random bits."""
    found = []
    for name, spots in (("one.csv", one), ("other.csv", other)):
        people = of_one(spots)
        rows = [
            ("p", f"2026-03-02T08:{us // 60_000_000:02d}:{us // 1_000_000 % 60:02d}", *place)
            for us, *place in zip(people.since_us, people.lon, people.lat, strict=True)
        ]
        path = csv_file(rows, header="person,time,lon,lat", name=name)
        exact = counter(path, ends=ENDS, bits=SeededSource(10)).count(QUERY)
        found.append((exact.cells.tolist(), exact.values.tolist()))
    assert found[0] == found[1]
    assert len(found[0][0]) > 0


def test_noise_without_random_bits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PrivacyError, match="needs random bits"):
        counter(tmp_path / "none.csv", ends=ENDS)
