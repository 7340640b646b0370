"""Ways of simulated trips."""

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from hushway.errors import GeographyError
from hushway.families.links.matching.grid_index import opposites
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.matching.routing import shortest_routes
from hushway.families.links.matching.traces import MatchSettings, Reason, Traces, Ways
from hushway.families.links.public.roads import RoadNetwork
from support.road_scenes import jittered_grid

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
def test_exact_positions_give_the_exact_route_back(every: float) -> None:
    roads = jittered_grid(15)
    routes = some_routes(roads, 60, seed=4)
    trips = [driven(roads, route, every, trim=15.0) for route in routes]
    ways = Matcher(roads, MatchSettings(sigma=2.0, spacing=4.0)).match(traces_of(trips))
    assert [way(ways, i) for i in range(len(routes))] == [route.tolist() for route in routes]
    assert (ways.reason == Reason.MATCHED).all()
    assert (ways.point_link >= 0).all()
    assert_sound(roads, ways)


def test_a_trip_from_crossing_to_crossing_touches_no_other_links() -> None:
    roads = jittered_grid(10)
    routes = some_routes(roads, 40, seed=5)
    trips = [driven(roads, route, 5.0, trim=0.0) for route in routes]
    ways = Matcher(roads, MatchSettings(sigma=2.0, spacing=4.0)).match(traces_of(trips))
    assert [way(ways, i) for i in range(len(routes))] == [route.tolist() for route in routes]


def test_links_are_entered_when_the_vehicle_gets_there() -> None:
    roads = jittered_grid(10)
    (route, *_) = some_routes(roads, 20, seed=6)
    trip = driven(roads, route, 3.0, trim=15.0)
    ways = Matcher(roads, MatchSettings(sigma=2.0, spacing=4.0)).match(traces_of([trip]))
    expected = np.cumsum(roads.length[route])[:-1] / SPEED
    # At a constant speed, the line between two positions may cut a corner by little.
    np.testing.assert_allclose(ways.left[:-1], expected, atol=0.3)
    assert ways.entered[0] == trip[0, 2]
    assert ways.left[-1] == trip[-1, 2]


@pytest.mark.parametrize("every", [1.0, 5.0, 15.0])
def test_noisy_positions_give_nearly_all_of_the_route_back(every: float) -> None:
    roads = jittered_grid(20)
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


def test_forced_ends_are_respected() -> None:
    roads = jittered_grid(12)
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


def test_nothing_depends_on_threads_or_on_other_trips() -> None:
    roads = jittered_grid(20, jitter=0.0)
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


def test_progress_is_told_up_to_the_end() -> None:
    roads = jittered_grid(5)
    told: list[float] = []
    route = some_routes(roads, 30, seed=1)[0]
    Matcher(roads).match(traces_of([driven(roads, route, 5.0, trim=5.0)]), progress=told.append)
    assert told[-1] == 1.0


@pytest.mark.parametrize("seconds", [[0.0, 2.0, 1.0], [0.0, np.nan, 1.0]])
def test_times_that_go_back_are_refused(seconds: list[float]) -> None:
    trip = np.column_stack([np.zeros(3), np.zeros(3), seconds])
    with pytest.raises(GeographyError, match="time that is not before"):
        Matcher(jittered_grid(3)).match(traces_of([trip]))


def test_a_forced_link_that_does_not_exist_is_refused() -> None:
    roads = jittered_grid(3)
    trip = np.zeros((2, 3))
    with pytest.raises(GeographyError, match="must begin or end on"):
        Matcher(roads).match(traces_of([trip]), first_link=np.array([roads.links]))


@pytest.mark.parametrize("wrong", [{"sigma": 0.0}, {"most_detour": 0.5}, {"turn": -1.0}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(GeographyError):
        MatchSettings(**wrong)


SETTINGS = MatchSettings(spacing=0.0, candidates=64, slack=1e4, skipped=0)


def places(roads: RoadNetwork, spot: np.ndarray) -> list[tuple[int, float, float]]:
    """Every link within the radius: link, offset and distance, by plain arithmetic."""
    found = []
    for link in range(roads.links):
        course = roads.points[roads.start[link] : roads.start[link + 1]]
        best, offset, gone = np.inf, 0.0, 0.0
        for a, b in pairwise(course):
            share = np.clip((spot - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
            metres = float(np.linalg.norm(a + share * (b - a) - spot))
            if metres < best:
                best, offset = metres, gone + share * float(np.linalg.norm(b - a))
            gone += float(np.linalg.norm(b - a))
        if best <= SETTINGS.radius:
            found.append((link, offset * roads.length[link] / gone, best))
    return found


def onward(roads: RoadNetwork) -> np.ndarray:
    """Metres from the end of each link to the beginning of each, by relaxing."""
    opposite = opposites(roads)
    follows = roads.head[:, None] == roads.tail[None, :]
    step = np.where(follows, 0.0, np.inf)
    for link in np.flatnonzero(opposite >= 0):
        step[link, opposite[link]] = 0.0 if follows[link].sum() == 1 else SETTINGS.turn
    metres = step.copy()
    for _ in range(roads.links):
        metres = np.minimum(
            metres, (metres[:, :, None] + roads.length[None, :, None] + step[None]).min(axis=1)
        )
    return metres


def step_cost(
    roads: RoadNetwork,
    between: np.ndarray,
    one: tuple[int, float, float],
    two: tuple[int, float, float],
    straight: float,
) -> float:
    (a, from_offset, _), (b, to_offset, _) = one, two
    route = roads.length[a] - from_offset + between[a, b] + to_offset
    # Routes are looked for up to 100 m more than the straight line as long as there are any.
    options = [abs(route - straight)] if route <= straight + 100 else []
    if a == b:
        ahead = to_offset - from_offset
        options.append(abs(ahead - straight) if ahead >= 0 else np.inf)
        if -4 * SETTINGS.sigma <= ahead < 0:
            options.append(straight - ahead)
    elif b == opposites(roads)[a]:
        apart = abs(roads.length[a] - to_offset - from_offset)
        options.append(abs(apart + SETTINGS.turn - straight))
    return min(options, default=np.inf) / SETTINGS.beta


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(12))
def test_the_way_is_the_cheapest_of_all(seed: int) -> None:
    roads = jittered_grid(3, step=70.0, seed=seed, one_way=0.1)
    rng = np.random.default_rng(seed)
    begin, end = roads.node_points[rng.choice(9, 2, replace=False)]
    spots = np.linspace(begin, end, 3) + rng.normal(0, 12, (3, 2))
    layers = [places(roads, spot) for spot in spots]
    between = onward(roads)
    costs = {}
    for chosen in product(*layers):
        cost = sum(metres**2 / (2 * SETTINGS.sigma**2) for _, _, metres in chosen)
        for (one, two), (p, q) in zip(pairwise(chosen), pairwise(spots), strict=True):
            cost += step_cost(roads, between, one, two, float(np.linalg.norm(q - p)))
        costs[tuple(link for link, _, _ in chosen)] = cost
    traces = Traces(
        start=np.array([0, 3]), x=spots[:, 0], y=spots[:, 1], seconds=np.arange(3) * 5.0
    )
    ways = Matcher(roads, SETTINGS).match(traces)
    assert ways.reason.tolist() == [Reason.MATCHED]
    best = min(costs.values())
    assert np.isfinite(best)
    # A link that is only touched at an end is not part of the way, so the ends may differ from the
    # chosen links; the cheapest choice must pass through the same middle.
    cheapest = {links for links, cost in costs.items() if cost <= best + 1e-6}
    assert ways.point_link[1] in {links[1] for links in cheapest}
    exact = tuple(ways.point_link.tolist())
    touched = {links for links in cheapest if links[1] == exact[1]}
    assert any(_same_but_touched(roads, layers, links, exact) for links in touched)


def _same_but_touched(
    roads: RoadNetwork,
    layers: list[list[tuple[int, float, float]]],
    links: tuple[int, ...],
    exact: tuple[int, ...],
) -> bool:
    offsets = [{link: offset for link, offset, _ in layer} for layer in layers]
    begins = links[0] == exact[0] or roads.length[links[0]] - offsets[0][links[0]] <= 1.0
    ends = links[2] == exact[2] or offsets[2][links[2]] <= 1.0
    return begins and ends
