"""Noise at the ends of trips: how wide it is, what is left out, and how often it is spent."""

from collections.abc import Callable
from datetime import date
from fractions import Fraction
from math import exp, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.cities.road_city import road_city
from hushway.engine.key import BoundingKey
from hushway.engine.movements_ends import MetricEnds, _moved, few_trips, noisy_ends
from hushway.engine.movements_snapping import nearest_places
from hushway.engine.movements_traces import TraceMovements
from hushway.engine.movements_trips import Trips
from hushway.engine.session import EngineSettings
from hushway.errors import PrivacyError
from hushway.geography.movements import LinkUniverse, MovementCells, MovementLimits
from hushway.geography.periods import Periods
from hushway.matching.matcher import Matcher
from hushway.matching.traces import Traces
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource
from hushway.tables.traces import TraceColumns, TracesSource

WriteFile = Callable[..., Path]
KEY = BoundingKey.from_words(range(10**18, 10**18 + BoundingKey.WORDS))
ROADS = road_city(1, links=1_000)
MATCHER = Matcher(ROADS)
ENDS = MetricEnds(epsilon=Fraction(1), radius=100, step=10, max_trips=3)


def metric(**changes: Any) -> MetricEnds:
    chosen: dict[str, Any] = {"epsilon": Fraction(1), "radius": 100, "step": 10, "max_trips": 3}
    return MetricEnds(**chosen | changes)


def across(trips: int, positions: int = 40) -> Trips:
    """Trips straight through the middle of the city, over more than a kilometre."""
    middle = ROADS.node_points.mean(axis=0)
    x = np.tile(np.linspace(-600.0, 600.0, positions) + middle[0], trips)
    return Trips(
        person=np.arange(trips),
        traces=Traces(
            start=np.arange(trips + 1) * positions,
            x=x,
            y=np.full(len(x), middle[1]),
            seconds=np.tile(np.arange(positions) * 10.0, trips),
        ),
    )


@pytest.mark.parametrize(
    ("epsilon", "radius", "step"), [(Fraction(1), 100, 10), (Fraction(1, 3), 777, 50)]
)
def test_the_scale_is_never_too_small(epsilon: Fraction, radius: int, step: int) -> None:
    scale = metric(epsilon=epsilon, radius=radius, step=step).scale
    least = sqrt(2) * radius / (float(epsilon) * step)
    assert scale**2 >= 2 * (radius / (epsilon * step)) ** 2
    assert float(scale) == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("move", [(1, 0), (0, -3), (2, 2), (3, -4), (40, 9)])
def test_no_move_on_the_grid_shows_more_than_promised(move: tuple[int, int]) -> None:
    """The law itself: the ratio of the probabilities of any outcome, for two axes."""
    law = DiscreteLaplace(ENDS.scale)
    step_loss = 1 / law.scale
    loss = step_loss * (abs(move[0]) + abs(move[1]))
    metres = ENDS.step * sqrt(move[0] ** 2 + move[1] ** 2)
    assert float(loss) <= float(ENDS.epsilon) * metres / ENDS.radius * (1 + 1e-12)


def test_the_loss_of_a_person_grows_with_the_trips_that_count() -> None:
    assert ENDS.loss_per_metre == Fraction(2 * 3, 100)
    assert metric(max_trips=30).loss_per_metre == Fraction(2 * 30, 100)


def test_ends_move_as_far_as_the_law_says() -> None:
    traces = across(4_000, positions=2).traces
    moved = _moved(traces, np.arange(8_000), ENDS, SeededSource(1))
    for own, noisy in zip((traces.x, traces.y), moved, strict=True):
        steps = (noisy - np.rint(own / ENDS.step) * ENDS.step) / ENDS.step
        assert np.array_equal(steps, np.rint(steps))
        a = exp(-1 / float(ENDS.scale))
        expected, deviation = 2 * a / (1 - a * a), sqrt(2 * a) / (1 - a)
        # 8,000 draws; six standard deviations of the mean, about one in a thousand million.
        assert abs(np.abs(steps).mean() - expected) < 6 * deviation / sqrt(8_000)
        assert abs(steps.mean()) < 6 * deviation / sqrt(8_000)


def test_both_ends_of_each_trip_have_noise_of_their_own() -> None:
    trips = across(50, positions=2)
    moved = noisy_ends(trips, ENDS, SeededSource(2), MATCHER, ROADS).traces
    assert len(moved.x) == 100
    places = np.column_stack([moved.x, moved.y]).round(1)
    assert len(np.unique(places[::2], axis=0)) > 40
    assert len(np.unique(places[1::2], axis=0)) > 40


def test_positions_near_the_noisy_ends_are_left_out() -> None:
    trips = across(30)
    flat = _Flat()
    left = noisy_ends(trips, ENDS, SeededSource(3), flat, ROADS).traces
    lengths = np.diff(left.start)
    assert (lengths >= 2).all()
    assert (lengths < 40).any()
    noisy = np.column_stack([flat.x, flat.y])
    for trip, (low, high) in enumerate(zip(left.start[:-1], left.start[1:], strict=True)):
        inner = np.column_stack([left.x, left.y])[low + 1 : high - 1]
        for end in (noisy[trip], noisy[30 + trip]):
            assert (np.hypot(*(inner - end).T) > 300.0).all()
        assert (np.diff(left.seconds[low:high]) > 0).all()
        assert (left.seconds[low], left.seconds[high - 1]) == (0.0, 390.0)


def test_the_disc_is_read_at_the_noisy_point_and_ends_are_put_onto_roads() -> None:
    trips = across(20)
    noisy = noisy_ends(trips, ENDS, SeededSource(4), MATCHER, ROADS).traces
    ends = np.concatenate([noisy.start[:-1], noisy.start[1:] - 1])
    start, _, distance = MATCHER.nearest_links(noisy.x[ends], noisy.y[ends], 50.0)
    assert (np.diff(start) > 0).all()
    assert distance[start[:-1]] == pytest.approx(np.zeros(len(ends)), abs=1e-6)


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
    assert len(noisy_ends(few, ENDS, SeededSource(6), MATCHER, ROADS).traces) == 0


def test_at_most_so_many_trips_of_a_person_stay() -> None:
    trips = across(12, positions=2)
    of_people = Trips(person=np.repeat([0, 2, 3], [7, 2, 3]), traces=trips.traces)
    few = few_trips(of_people, np.array([5, 6, 7, 8]), 3, KEY)
    assert few.person.tolist() == [0, 0, 0, 2, 2, 3, 3, 3]
    assert len(few.traces) == 8
    # The choice is a person's own.
    alone = Trips(
        person=np.zeros(7, dtype=np.int64),
        traces=of_people.only(np.arange(7)).traces,
    )
    own = few_trips(alone, np.array([5]), 3, KEY).traces
    assert own.seconds.tolist() == few.traces.seconds[:6].tolist()
    assert len(few_trips(of_people, np.array([5, 6, 7, 8]), 1 << 70, KEY).traces) == 12


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": Fraction(0)},
        {"epsilon": 1.0},
        {"radius": 0},
        {"step": 0},
        {"max_trips": 0},
        {"epsilon": Fraction(1, 10**9)},
    ],
)
def test_noise_that_cannot_be_drawn_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(PrivacyError):
        metric(**changes)


class _Flat:
    """A map with enough streets within 300 m of everywhere, that remembers what was asked."""

    def match(self, traces: Traces, *, threads: int | None = None) -> Any:
        return MATCHER.match(traces, threads=threads)

    def nearest_links(self, x: Any, y: Any, radius: float) -> Any:
        return MATCHER.nearest_links(x, y, radius)

    def links_within(self, x: Any, y: Any, radii: Any) -> Any:
        self.x, self.y = x, y
        return np.tile(np.where(radii >= 300.0, 25, 24), (len(x), 1))


UNIVERSE = LinkUniverse(
    roads=ROADS,
    periods=Periods(
        zone="UTC",
        first_day=date(2026, 3, 2),
        last_day=date(2026, 3, 2),
        opens=0,
        closes=1440,
        minutes=1440,
    ),
    zone=np.zeros(ROADS.links, dtype=np.int64),
    zones=("all",),
)


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
    query = Query(name="movements", cells=MovementCells(universe=UNIVERSE))
    plain = counter(path)
    noisy = counter(path, ends=ENDS, bits=SeededSource(1))
    assert noisy.bound(query) == plain.bound(query)
    found, as_it_was = noisy.count(query), plain.count(query)
    assert found.values.max() <= 5
    assert 0 < found.values.sum() <= 5 * 10
    assert len(found.cells) > len(as_it_was.cells)
    # Drawn once: asking again shows nothing new.
    again = noisy.count(query)
    assert again.cells.tolist() == found.cells.tolist()
    assert again.values.tolist() == found.values.tolist()


def test_noise_without_random_bits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PrivacyError, match="needs random bits"):
        counter(tmp_path / "none.csv", ends=ENDS)
