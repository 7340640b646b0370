"""Ways of simulated trips."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from hushway.errors import GeographyError
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.matching.routing import shortest_routes
from hushway.families.links.matching.traces import MatchSettings, Reason, Traces, Ways
from hushway.families.links.public.roads import RoadNetwork

MakeRoads = Callable[..., RoadNetwork]

SPEED = 10.0


def traces_of(parts: list[np.ndarray]) -> Traces:
    """Trips of rows (x, y, second)."""
    rows = np.concatenate(parts)
    start = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    return Traces(start=start, x=rows[:, 0], y=rows[:, 1], seconds=rows[:, 2])


def driven(roads: RoadNetwork, route: np.ndarray, every: float, *, trim: float) -> np.ndarray:
    """Positions along a route, from `trim` metres after its beginning to as much before its end."""
    courses = [roads.points[roads.start[link] : roads.start[link + 1]] for link in route]
    points = np.concatenate(courses)
    metres = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    at = np.append(np.arange(trim, metres[-1] - trim, every * SPEED), metres[-1] - trim)
    x, y = (np.interp(at, metres, column) for column in points.T)
    return np.column_stack([x, y, at / SPEED])


def some_routes(roads: RoadNetwork, count: int, seed: int) -> list[np.ndarray]:
    origin, destination = np.random.default_rng(seed).integers(0, roads.nodes, (2, count))
    start, links = shortest_routes(roads, origin, destination, roads.length)
    routes = [links[a:b] for a, b in pairwise(start)]
    return [route for route in routes if len(route) >= 3]


def noisy(trips: list[np.ndarray], sigma: float, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    errors = [np.column_stack([rng.normal(0, sigma, (len(t), 2)), np.zeros(len(t))]) for t in trips]
    return [trip + error for trip, error in zip(trips, errors, strict=True)]


def way(ways: Ways, trip: int) -> list[int]:
    return ways.link[ways.start[trip] : ways.start[trip + 1]].tolist()


def assert_sound(roads: RoadNetwork, ways: Ways) -> None:
    """Links hang together within stretches, and times never go back."""
    joined = ~ways.fresh[1:]
    assert (roads.head[ways.link[:-1]] == roads.tail[ways.link[1:]])[joined].all()
    assert (ways.left >= ways.entered).all()
    np.testing.assert_array_equal(ways.left[:-1][joined], ways.entered[1:][joined])
    assert ways.fresh[ways.start[:-1][np.diff(ways.start) > 0]].all()


def everything(ways: Ways) -> dict[str, Any]:
    return {name: getattr(ways, name).tolist() for name in ways.__dataclass_fields__}


@pytest.mark.parametrize("every", [1.0, 5.0, 10.0])
def test_exact_positions_give_the_exact_route_back(make_town: MakeRoads, every: float) -> None:
    roads = make_town(15)
    routes = some_routes(roads, 60, seed=4)
    trips = [driven(roads, route, every, trim=15.0) for route in routes]
    ways = Matcher(roads, MatchSettings(sigma=2.0, spacing=4.0)).match(traces_of(trips))
    assert [way(ways, i) for i in range(len(routes))] == [route.tolist() for route in routes]
    assert (ways.reason == Reason.MATCHED).all()
    assert (ways.point_link >= 0).all()
    assert_sound(roads, ways)


def test_a_trip_from_crossing_to_crossing_touches_no_other_links(make_town: MakeRoads) -> None:
    roads = make_town(10)
    routes = some_routes(roads, 40, seed=5)
    trips = [driven(roads, route, 5.0, trim=0.0) for route in routes]
    ways = Matcher(roads, MatchSettings(sigma=2.0, spacing=4.0)).match(traces_of(trips))
    assert [way(ways, i) for i in range(len(routes))] == [route.tolist() for route in routes]


def test_links_are_entered_when_the_vehicle_gets_there(make_town: MakeRoads) -> None:
    roads = make_town(10)
    (route, *_) = some_routes(roads, 20, seed=6)
    trip = driven(roads, route, 3.0, trim=15.0)
    ways = Matcher(roads, MatchSettings(sigma=2.0, spacing=4.0)).match(traces_of([trip]))
    expected = np.cumsum(roads.length[route])[:-1] / SPEED
    # At a constant speed, the line between two positions may cut a corner by little.
    np.testing.assert_allclose(ways.left[:-1], expected, atol=0.3)
    assert ways.entered[0] == trip[0, 2]
    assert ways.left[-1] == trip[-1, 2]


@pytest.mark.parametrize("every", [1.0, 5.0, 15.0])
def test_noisy_positions_give_nearly_all_of_the_route_back(
    make_town: MakeRoads, every: float
) -> None:
    roads = make_town(20)
    routes = some_routes(roads, 150, seed=7)
    trips = noisy([driven(roads, route, every, trim=30.0) for route in routes], 10.0, seed=8)
    ways = Matcher(roads).match(traces_of(trips))
    assert_sound(roads, ways)
    both = driven_length = found_length = 0.0
    for i, route in enumerate(routes):
        found = np.unique(way(ways, i))
        both += roads.length[np.intersect1d(found, route)].sum()
        driven_length += roads.length[route].sum()
        found_length += roads.length[found].sum()
    assert both / driven_length > 0.99
    assert both / found_length > 0.97


def test_forced_ends_are_respected(make_town: MakeRoads) -> None:
    roads = make_town(12)
    routes = some_routes(roads, 80, seed=9)
    trips = noisy([driven(roads, route, 5.0, trim=20.0) for route in routes], 10.0, seed=10)
    traces = traces_of(trips)
    matcher = Matcher(roads)
    rng = np.random.default_rng(11)
    # A link near each end, but hardly ever the one that the trip is on.
    first, last = (
        np.array([rng.choice(_links_near(matcher, trip[end], 120.0)) for trip in trips])
        for end in (0, -1)
    )
    first[::5] = -1
    ways = matcher.match(traces, first_link=first, last_link=last)
    assert_sound(roads, ways)
    whole = np.flatnonzero(ways.reason == Reason.MATCHED)
    assert len(whole) > 0.9 * len(trips)
    for trip in whole:
        assert first[trip] in {-1, way(ways, trip)[0]}
        assert way(ways, trip)[-1] == last[trip]


def _links_near(matcher: Matcher, spot: np.ndarray, radius: float) -> np.ndarray:
    return matcher.nearest_links(spot[:1], spot[1:2], radius)[1]


def test_nothing_depends_on_threads_or_on_other_trips(make_town: MakeRoads) -> None:
    roads = make_town(20, jitter=0.0)
    routes = some_routes(roads, 700, seed=12)
    trips = noisy([driven(roads, route, 2.0, trim=20.0) for route in routes], 15.0, seed=13)
    matcher = Matcher(roads)
    alone = matcher.match(traces_of(trips), threads=1)
    assert alone.start[-1] > 0
    assert everything(matcher.match(traces_of(trips), threads=3)) == everything(alone)
    backwards = matcher.match(traces_of(trips[::-1]), threads=1)
    assert [way(backwards, len(trips) - 1 - i) for i in range(len(trips))] == [
        way(alone, i) for i in range(len(trips))
    ]


def test_progress_is_told_up_to_the_end(make_town: MakeRoads) -> None:
    roads = make_town(5)
    told: list[float] = []
    route = some_routes(roads, 30, seed=1)[0]
    Matcher(roads).match(traces_of([driven(roads, route, 5.0, trim=5.0)]), progress=told.append)
    assert told[-1] == 1.0


@pytest.mark.parametrize("seconds", [[0.0, 2.0, 1.0], [0.0, np.nan, 1.0]])
def test_times_that_go_back_are_refused(make_town: MakeRoads, seconds: list[float]) -> None:
    trip = np.column_stack([np.zeros(3), np.zeros(3), seconds])
    with pytest.raises(GeographyError, match="time that is not before"):
        Matcher(make_town(3)).match(traces_of([trip]))


def test_a_forced_link_that_does_not_exist_is_refused(make_town: MakeRoads) -> None:
    roads = make_town(3)
    trip = np.zeros((2, 3))
    with pytest.raises(GeographyError, match="must begin or end on"):
        Matcher(roads).match(traces_of([trip]), first_link=np.array([roads.links]))


@pytest.mark.parametrize("wrong", [{"sigma": 0.0}, {"most_detour": 0.5}, {"turn": -1.0}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(GeographyError):
        MatchSettings(**wrong)
