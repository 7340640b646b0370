"""Planned legs against following every rider on her way, one by one."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from hushway.geography.itineraries import MODES, Access, Itineraries
from hushway.transit.operations import operate
from hushway.transit.planned_legs import planned_legs
from hushway.transit.rider_trips import RiderTrips
from hushway.transit.trip_rows import ShuttleLegs

WAIT_S = 170


def bus_s(routes: Itineraries, first: int, last: int) -> int:
    """Half a headway and the ride of every bus from hub to hub."""
    change = int(routes.rides.change[first, last])
    hubs = [first, last] if change < 0 else [first, change, last]
    total_s = 0
    for ends in pairwise(hubs):
        line = routes.network.lines[int(routes.rides.line[ends])]
        stops = [routes.network.hub_number[stop] for stop in line.stops]
        ride_s = sum(line.ride_s[stops.index(ends[0]) : stops.index(ends[1])])
        total_s += line.headway_s // 2 + ride_s
    return total_s


def legs_of(routes: Itineraries, depart_s: int, origin: int, destination: int) -> list[Any]:
    """The legs of one rider: (zone, moment, pickup, drop-off)."""
    network, ends = routes.network, (origin, destination)
    first, last = int(routes.first[ends]), int(routes.last[ends])
    if first < 0:
        door = origin
        if origin in network.hubs and destination not in network.hubs:
            door = destination
        return [(int(network.zone[door]), depart_s, origin, destination)]
    legs, now_s = [], depart_s
    if routes.access[ends] == Access.SHUTTLE:
        legs.append((int(network.zone[origin]), now_s, origin, network.hubs[first]))
        now_s += WAIT_S + int(network.shuttle_s[origin, network.hubs[first]])
    elif routes.access[ends] == Access.WALK:
        now_s += int(network.walk_s[origin, network.hubs[first]])
    if first != last:
        now_s += bus_s(routes, first, last)
    if routes.egress[ends] == Access.SHUTTLE:
        legs.append((int(network.zone[destination]), now_s, network.hubs[last], destination))
    return legs


def rows_of(legs: ShuttleLegs) -> list[tuple[int, ...]]:
    columns = legs.request_s, legs.pickup, legs.dropoff
    return list(zip(*(column.tolist() for column in columns), strict=True))


def every_trip(routes: Itineraries) -> RiderTrips:
    origin, destination = np.argwhere(~np.eye(len(routes.network.locations), dtype=bool)).T
    return RiderTrips(depart_s=np.arange(len(origin)) * 7, origin=origin, destination=destination)


@pytest.mark.parametrize("seed", range(25))
def test_every_leg_is_planned_for_when_its_rider_should_be_there(
    scene_of: Callable[..., Any], seed: int
) -> None:
    routes = scene_of(seed).routes
    trips = every_trip(routes)
    planned = planned_legs(routes, trips, shuttle_wait_s=WAIT_S)
    riders = zip(trips.depart_s.tolist(), trips.origin, trips.destination, strict=True)
    expected = [leg for rider in riders for leg in legs_of(routes, *rider)]
    assert len(planned) == len(routes.network.locations.zones)
    for zone, legs in enumerate(planned):
        assert sorted(rows_of(legs)) == sorted(leg[1:] for leg in expected if leg[0] == zone)
        assert (np.diff(legs.request_s) >= 0).all()


def test_the_trips_compared_are_of_every_mode(scene_of: Callable[..., Any]) -> None:
    modes = {mode for seed in range(25) for mode in scene_of(seed).routes.mode.ravel().tolist()}
    assert modes == set(range(-1, len(MODES)))


@pytest.mark.parametrize("seed", range(10))
def test_a_day_asks_for_the_legs_that_were_planned_if_all_are_served(
    scene_of: Callable[..., Any], seed: int
) -> None:
    scene = scene_of(seed)
    rules = scene.rules.__class__(most_wait_s=100_000)
    day = operate(scene.routes, scene.trips, (2, 2), rules=rules, window_s=scene.window_s)
    planned = planned_legs(scene.routes, scene.trips, shuttle_wait_s=WAIT_S)
    assert day.unserved_legs == 0
    for zone, legs in enumerate(planned):
        asked = day.leg[day.leg["zone"] == zone]
        ends = sorted(zip(asked["pickup"], asked["dropoff"], strict=True))
        assert ends == sorted(zip(legs.pickup, legs.dropoff, strict=True))


def test_no_trips_need_no_legs(scene_of: Callable[..., Any]) -> None:
    nothing = np.zeros(0, dtype=np.int64)
    trips = RiderTrips(depart_s=nothing, origin=nothing, destination=nothing)
    planned = planned_legs(scene_of(1).routes, trips, shuttle_wait_s=WAIT_S)
    assert [len(legs) for legs in planned] == [0, 0]
