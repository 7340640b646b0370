"""Trips that stand still, turn round, jump, leave the roads or stop short."""

import numpy as np
import pytest

from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.matching.traces import MatchSettings, Reason, Traces, Ways
from hushway.families.links.public.roads import RoadNetwork
from support.road_scenes import roads_of


@pytest.fixture
def street() -> RoadNetwork:
    """A two-way street of four links from west to east, 300 m each, with a dead end at each end.

    A side street leaves to the north at each crossing. Link 2k runs east, link 2k + 1 west.
    """
    x = np.array([0.0, 300, 600, 900, 1200, 300, 600, 900])
    y = np.array([0.0, 0, 0, 0, 0, 200, 200, 200])
    pairs = [(0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (2, 6), (3, 7)]
    tail = np.array([end for a, b in pairs for end in (a, b)])
    head = np.array([end for a, b in pairs for end in (b, a)])
    return roads_of(x, y, tail, head)


def match(roads: RoadNetwork, x: list[float], y: list[float] | float, **more: object) -> Ways:
    """Matches one trip, given from the first node, with a position every five seconds."""
    origin = roads.node_points[0]
    north = np.full(len(x), y) if isinstance(y, float) else np.array(y)
    traces = Traces(
        start=np.array([0, len(x)]),
        x=np.array(x) + origin[0],
        y=north + origin[1],
        seconds=np.arange(len(x)) * 5.0,
    )
    return Matcher(roads, MatchSettings(**more)).match(traces)


def test_a_straight_trip_is_its_links(street: RoadNetwork) -> None:
    ways = match(street, [50.0, 200, 400, 560, 700], 6.0)
    assert ways.link.tolist() == [0, 2, 4]
    assert ways.point_link.tolist() == [0, 0, 2, 2, 4]
    assert ways.reason.tolist() == [Reason.MATCHED]


def test_an_error_backwards_is_no_turn(street: RoadNetwork) -> None:
    ways = match(street, [50.0, 150, 130, 200, 190, 270, 400], 4.0, spacing=5.0)
    assert ways.link.tolist() == [0, 2]


def test_a_vehicle_that_stands_stays_on_its_link(street: RoadNetwork) -> None:
    rng = np.random.default_rng(1)
    waiting = (150 + rng.normal(0, 8, 60)).tolist()
    ways = match(street, [50.0, *waiting, 250, 400], [0.0, *rng.normal(0, 8, 60), 0.0, 0.0])
    assert ways.link.tolist() == [0, 2]
    assert ways.left[0] > 60 * 5.0


def test_a_true_turn_in_the_middle_of_a_street_is_followed(street: RoadNetwork) -> None:
    ways = match(street, [350.0, 450, 550, 450, 350, 200, 100], 2.0)
    assert ways.link.tolist() == [2, 3, 1]
    assert ways.reason.tolist() == [Reason.MATCHED]


def test_a_turn_at_a_dead_end_costs_nothing(street: RoadNetwork) -> None:
    ways = match(street, [1000.0, 1100, 1190, 1100, 1000, 800], 2.0, turn=1e4)
    assert ways.link.tolist() == [6, 7, 5]


def test_an_outlier_is_left_out() -> None:
    # The second street is not connected to the first.
    x, y = np.array([0.0, 900, 0, 900]), np.array([0.0, 0, 200, 200])
    roads = roads_of(x, y, np.array([0, 1, 2, 3]), np.array([1, 0, 3, 2]))
    ways = match(roads, [50.0, 150, 250, 350, 500], [0.0, 0.0, 195.0, 0.0, 0.0])
    assert ways.link.tolist() == [0]
    assert ways.point_link.tolist() == [0, 0, -1, 0, 0]
    assert ways.reason.tolist() == [Reason.MATCHED]


def test_an_outlier_is_left_out_even_if_a_route_leads_to_it() -> None:
    # A one-way ramp leaves the first street and comes to an end.
    x, y = np.array([0.0, 200, 900, 300]), np.array([0.0, 0, 0, 120])
    roads = roads_of(x, y, np.array([0, 1, 1]), np.array([1, 2, 3]))
    ways = match(roads, [50.0, 150, 290, 400, 600], [0.0, 0.0, 118.0, 0.0, 0.0])
    assert ways.link.tolist() == [0, 1]
    assert ways.point_link.tolist() == [0, 0, -1, 1, 1]
    assert ways.reason.tolist() == [Reason.MATCHED]


@pytest.mark.parametrize("end", [0, -1])
def test_an_outlier_at_an_end_is_left_out(end: int) -> None:
    x, y = np.array([0.0, 900, 0, 900]), np.array([0.0, 0, 200, 200])
    roads = roads_of(x, y, np.array([0, 1, 2, 3]), np.array([1, 0, 3, 2]))
    north = [0.0] * 5
    north[end] = 195.0
    ways = match(roads, [50.0, 150, 250, 350, 500], north)
    assert ways.link.tolist() == [0]
    assert ways.point_link[end] == -1
    assert ways.reason.tolist() == [Reason.MATCHED]


def test_a_forced_end_is_never_an_outlier() -> None:
    roads = two_islands()
    x = np.array([100.0, 200, 400]) + roads.node_points[0, 0]
    traces = Traces(
        start=np.array([0, 3]),
        x=x,
        y=np.full(3, roads.node_points[0, 1]),
        seconds=np.arange(3) * 5.0,
    )
    matcher, other_island = Matcher(roads), np.array([2])
    assert matcher.match(traces, first_link=other_island).reason.tolist() == [Reason.BROKEN]
    assert matcher.match(traces, last_link=other_island).reason.tolist() == [Reason.BROKEN]


def test_more_outliers_at_an_end_than_may_be_left_out_break_a_trip() -> None:
    # Every island is one link that cannot be left.
    x = np.array([0.0, 900, *(1000 + 100 * i for i in range(6))])
    tail, head = np.array([0, 2, 4, 6]), np.array([1, 3, 5, 7])
    roads = roads_of(x, np.zeros(8), tail, head)
    lone = [1050.0, 1250, 1450]
    for count, reason in ((2, Reason.MATCHED), (3, Reason.BROKEN)):
        ways = match(roads, [100.0, 300, 500, *lone[:count]], 0.0, radius=20.0)
        assert ways.link.tolist() == [0]
        assert ways.reason.tolist() == [reason]


def test_a_road_that_is_missing_is_not_bridged_by_a_detour() -> None:
    # From one half of the street to the other there is only a way round of 460 metres.
    x = np.array([0.0, 500, 520, 1000, 500, 520])
    y = np.array([0.0, 0, 0, 0, 220, 220])
    tail, head = np.array([0, 2, 1, 4, 5]), np.array([1, 3, 4, 5, 2])
    roads = roads_of(x, y, tail, head)
    ways = match(roads, [100.0, 250, 400, 600, 750, 900], 0.0)
    assert ways.link.tolist() == [0, 1]
    assert ways.fresh.tolist() == [True, True]
    assert ways.reason.tolist() == [Reason.BROKEN]


def test_positions_off_the_roads_do_not_break_a_way(street: RoadNetwork) -> None:
    ways = match(street, [50.0, 150, 300, 450, 560], [0.0, 0.0, -500.0, 0.0, 0.0])
    assert ways.link.tolist() == [0, 2]
    assert ways.point_link.tolist() == [0, 0, -1, 2, 2]
    assert ways.reason.tolist() == [Reason.MATCHED]


def two_islands() -> RoadNetwork:
    x = np.array([0.0, 500, 1000, 1500])
    return roads_of(x, np.zeros(4), np.array([0, 1, 2, 3]), np.array([1, 0, 3, 2]))


def test_a_trip_between_islands_is_broken_in_two_stretches() -> None:
    ways = match(two_islands(), [100.0, 200, 400, 1100, 1200, 1400], 0.0)
    assert ways.link.tolist() == [0, 2]
    assert ways.fresh.tolist() == [True, True]
    assert ways.reason.tolist() == [Reason.BROKEN]


def test_a_jump_between_islands_has_no_route() -> None:
    ways = match(two_islands(), [100.0, 1100], 0.0)
    assert len(ways.link) == 0
    assert ways.reason.tolist() == [Reason.NO_ROUTE]
    assert ways.point_link.tolist() == [-1, -1]


def test_positions_too_far_apart_are_not_connected(street: RoadNetwork) -> None:
    ways = match(street, [50.0, 250, 850, 1100], 0.0, longest_step=400.0)
    assert ways.link.tolist() == [0, 4, 6]
    assert ways.fresh.tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([100.0], 0.0, Reason.TOO_SHORT),
        ([], 0.0, Reason.TOO_SHORT),
        ([100.0, 200.0], -900.0, Reason.OFF_ROAD),
        ([100.0, 200.0], [0.0, -900.0], Reason.OFF_ROAD),
    ],
)
def test_a_trip_without_a_way_has_a_reason(
    street: RoadNetwork, x: list[float], y: list[float] | float, reason: Reason
) -> None:
    ways = match(street, x, y)
    assert ways.reason.tolist() == [reason]
    assert ways.start.tolist() == [0, 0]


def test_no_trips_are_no_ways(street: RoadNetwork) -> None:
    none = np.zeros(0)
    traces = Traces(start=np.zeros(1, dtype=np.int64), x=none, y=none, seconds=none)
    assert len(Matcher(street).match(traces)) == 0
