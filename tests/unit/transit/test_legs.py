"""Planned legs against following every rider, and stands against the rule in plain words."""

from collections import Counter
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.errors import PlanError
from hushway.families.od.public.cells import ODCells
from hushway.geography.itineraries import MODES, Access, Itineraries
from hushway.geography.periods import Cycle, Periods
from hushway.geography.transit import TransitNetwork, Travel
from hushway.transit.legs import (
    RiderTrips,
    ShuttleLegs,
    draw_trips,
    in_order,
    planned_legs,
    stand_order,
    stands,
)
from hushway.transit.operations import operate
from support.rider_scenes import placed, random_scene

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
def test_every_leg_is_planned_for_when_its_rider_should_be_there(seed: int) -> None:
    routes = random_scene(seed).routes
    trips = every_trip(routes)
    planned = planned_legs(routes, trips, shuttle_wait_s=WAIT_S)
    riders = zip(trips.depart_s.tolist(), trips.origin, trips.destination, strict=True)
    expected = [leg for rider in riders for leg in legs_of(routes, *rider)]
    assert len(planned) == len(routes.network.locations.zones)
    for zone, legs in enumerate(planned):
        assert sorted(rows_of(legs)) == sorted(leg[1:] for leg in expected if leg[0] == zone)
        assert (np.diff(legs.request_s) >= 0).all()


def test_the_trips_compared_are_of_every_mode() -> None:
    modes = {mode for seed in range(25) for mode in random_scene(seed).routes.mode.ravel().tolist()}
    assert modes == set(range(-1, len(MODES)))


@pytest.mark.parametrize("seed", range(10))
def test_a_day_asks_for_the_legs_that_were_planned_if_all_are_served(seed: int) -> None:
    scene = random_scene(seed)
    rules = scene.rules.__class__(most_wait_s=100_000)
    day = operate(scene.routes, scene.trips, (2, 2), rules=rules, window_s=scene.window_s)
    planned = planned_legs(scene.routes, scene.trips, shuttle_wait_s=WAIT_S)
    assert day.unserved_legs == 0
    for zone, legs in enumerate(planned):
        asked = day.leg[day.leg["zone"] == zone]
        ends = sorted(zip(asked["pickup"], asked["dropoff"], strict=True))
        assert ends == sorted(zip(legs.pickup, legs.dropoff, strict=True))


def test_no_trips_need_no_legs() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    trips = RiderTrips(depart_s=nothing, origin=nothing, destination=nothing)
    planned = planned_legs(random_scene(1).routes, trips, shuttle_wait_s=WAIT_S)
    assert [len(legs) for legs in planned] == [0, 0]


def random_town(seed: int) -> tuple[TransitNetwork, IntArray]:
    """Returns a town, some places of which share a spot, and where its riders ask."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 15))
    spots = rng.integers(-3, 4, (count, 2)) * 500.0
    network = TransitNetwork(
        locations=placed(*((*spot, "a") for spot in spots.tolist())),
        hubs=(),
        lines=(),
        travel=Travel(stop_s=int(rng.integers(0, 2)) * 20),
    )
    return network, rng.integers(0, count, int(rng.integers(1, 60)))


@pytest.mark.parametrize("seed", range(20))
def test_every_place_where_riders_ask_gets_a_stand_that_saves_most(seed: int) -> None:
    network, pickups = random_town(seed)
    asked = Counter(pickups.tolist())
    order = stand_order(network, 0, pickups).tolist()
    drive_s = network.shuttle_s

    def seconds(chosen: list[int]) -> int:
        """Adds up how far all riders are from their nearest stand."""
        near = (min(drive_s[stand, place] for stand in chosen) for place in asked)
        return int(sum(s * asked[place] for s, place in zip(near, asked, strict=True)))

    assert set(order[: len(asked)]) == set(asked)
    for at in range(len(asked)):
        left = set(asked) - set(order[:at])
        best = min(seconds([*order[:at], place]) for place in left)
        assert seconds(order[: at + 1]) == best


@pytest.mark.parametrize("seed", range(20))
def test_then_the_place_with_most_riders_to_a_stand_comes_next(seed: int) -> None:
    network, pickups = random_town(seed)
    asked = Counter(pickups.tolist())
    order = stand_order(network, 0, pickups).tolist()
    assert Counter(order) == asked
    for at in range(len(asked), len(order)):
        has = Counter(order[:at])
        share = {place: asked[place] / (has[place] + 1) for place in asked}
        open_places = [place for place in asked if has[place] < asked[place]]
        assert share[order[at]] == max(share[place] for place in open_places)


def test_the_first_stand_is_nearest_to_all_riders() -> None:
    locations = placed(*((1000.0 * place, 0.0, "a") for place in range(5)))
    network = TransitNetwork(locations=locations, hubs=(), lines=())
    order = stand_order(network, 0, np.array([0, 0, 1, 4, 4, 4]))
    assert order.tolist() == [4, 0, 1, 4, 4, 0]


def test_without_riders_every_place_of_the_zone_is_a_stand() -> None:
    locations = placed((0.0, 0.0, "a"), (500.0, 0.0, "b"), (900.0, 0.0, "a"))
    network = TransitNetwork(locations=locations, hubs=(), lines=())
    assert stand_order(network, 0, np.zeros(0, dtype=np.int64)).tolist() == [0, 2]


def test_stands_that_ran_out_are_used_again() -> None:
    order = np.array([5, 3, 8])
    assert stands(order, 0).tolist() == []
    assert stands(order, 2).tolist() == [5, 3]
    assert stands(order, 7).tolist() == [5, 3, 8, 5, 3, 8, 5]


OPENS, MINUTES = 8 * 60, 30


def universe_of(*, include_intrazonal: bool = False, cycle: Cycle = "day") -> ODCells:
    periods = Periods(
        zone="America/Detroit",
        first_day=date(2026, 3, 3),
        last_day=date(2026, 3, 3),
        opens=OPENS,
        closes=10 * 60,
        minutes=MINUTES,
        cycle=cycle,
    )
    places = placed(*((100.0 * place, 0.0, "a") for place in range(6)))
    return ODCells(locations=places, periods=periods, include_intrazonal=include_intrazonal)


def cells_of(universe: ODCells, trips: RiderTrips) -> Counter[int]:
    """The table that trips make, by the clock."""
    period = (trips.depart_s - OPENS * 60) // (MINUTES * 60)
    return Counter(universe.encode(period, trips.origin, trips.destination).tolist())


def facts_of(trips: RiderTrips) -> list[list[int]]:
    return [trips.depart_s.tolist(), trips.origin.tolist(), trips.destination.tolist()]


@pytest.mark.parametrize("seed", range(10))
def test_drawn_trips_make_the_table_that_they_came_from(seed: int) -> None:
    universe = universe_of()
    rng = np.random.default_rng(seed)
    cells = rng.permutation(universe.size)[:40]
    counts = rng.integers(0, 20, 40)
    trips = draw_trips(universe, cells, counts, seed=seed)
    table = dict(zip(cells.tolist(), counts.tolist(), strict=True))
    assert cells_of(universe, trips) == {cell: n for cell, n in table.items() if n}
    assert len(trips) == counts.sum()
    assert (np.diff(trips.depart_s) >= 0).all()


def test_trips_begin_at_every_second_of_their_period_and_at_no_other() -> None:
    universe = universe_of()
    cell = universe.encode(np.array([2]), np.array([1]), np.array([4]))
    trips = draw_trips(universe, cell, np.array([40_000]), seed=3)
    starts = 9 * 3600
    assert np.array_equal(np.unique(trips.depart_s), np.arange(starts, starts + 1800))
    assert abs(trips.depart_s.mean() - (starts + 899.5)) < 6 * 1800 / np.sqrt(12 * 40_000)


def test_the_same_seed_draws_the_same_trips_and_another_one_others() -> None:
    universe = universe_of()
    table = np.arange(30), np.full(30, 5)
    first = facts_of(draw_trips(universe, *table, seed=1))
    assert first == facts_of(draw_trips(universe, *table, seed=1))
    assert first != facts_of(draw_trips(universe, *table, seed=2))


def test_trips_that_end_where_they_began_are_left_out() -> None:
    universe = universe_of(include_intrazonal=True)
    trips = draw_trips(universe, np.arange(universe.size), np.ones(universe.size, int), seed=1)
    assert len(trips) == 4 * 6 * 5
    assert (trips.origin != trips.destination).all()
    assert set(cells_of(universe, trips).values()) == {1}


def test_periods_of_a_window_of_one_day_are_read_alike() -> None:
    by_day, by_window = universe_of(), universe_of(cycle="window")
    table = np.arange(0, by_day.size, 7), np.full(len(range(0, by_day.size, 7)), 2)
    drawn = [facts_of(draw_trips(each, *table, seed=5)) for each in (by_day, by_window)]
    assert drawn[0] == drawn[1]


def test_an_empty_table_has_no_trips() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    assert len(draw_trips(universe_of(), nothing, nothing, seed=1)) == 0
    assert len(draw_trips(universe_of(), np.arange(3), np.zeros(3, int), seed=1)) == 0


def test_trips_that_begin_together_keep_their_order() -> None:
    trips = in_order(np.array([5, 2, 5, 2]), np.array([0, 1, 2, 3]), np.array([9, 8, 7, 6]))
    assert facts_of(trips) == [[2, 2, 5, 5], [1, 3, 0, 2], [8, 6, 9, 7]]


@pytest.mark.parametrize(("depart_s", "destination"), [((60, 0), (1, 1)), ((0, 60), (1, 0))])
def test_trips_out_of_order_or_to_nowhere_are_refused(
    depart_s: tuple[int, int], destination: tuple[int, int]
) -> None:
    with pytest.raises(PlanError, match="order of departure"):
        RiderTrips(
            depart_s=np.array(depart_s), origin=np.array([0, 0]), destination=np.array(destination)
        )
