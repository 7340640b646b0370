"""Fleet sizes against trying every size."""

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.geography.itineraries import Itineraries, itineraries
from hushway.geography.transit import TransitNetwork
from hushway.transit.fleet import FleetPlan, least_enough, size_fleet
from hushway.transit.fleet_bounds import fewest_shuttles
from hushway.transit.legs import (
    RiderTrips,
    ShuttleLegs,
    in_order,
    planned_legs,
    stand_order,
    stands,
)
from hushway.transit.operations import ServiceRules, limits_of, serve_legs
from support.rider_scenes import placed, random_scene

# A second look goes so far below a size that is enough.
LOOK_BACK = 5
WINDOW_S = 0, 7200
NOTHING = np.zeros(0, dtype=np.int64)


class Asked:
    """Answers whether a size is enough, and remembers what it was asked."""

    def __init__(self, sizes: set[int]) -> None:
        self.sizes = sizes
        self.tried: list[int] = []

    def __call__(self, size: int) -> bool:
        self.tried.append(size)
        return size in self.sizes


def test_of_monotone_answers_the_least_is_found() -> None:
    for at_least in (0, 1, 7):
        for at_most in range(at_least, at_least + 40):
            for least in range(at_most + 1):
                asked = Asked(set(range(least, at_most + 1)))
                found = least_enough(asked, at_least=at_least, at_most=at_most)
                assert found == max(least, at_least)
                assert found in asked.tried
                assert min(asked.tried) >= at_least
                assert max(asked.tried) <= at_most


def test_few_sizes_are_tried() -> None:
    for least in range(1000):
        asked = Asked(set(range(least, 5000)))
        assert least_enough(asked, at_least=0, at_most=5000) == least
        assert len(set(asked.tried)) <= 2 * np.log2(least + 2) + 2 + LOOK_BACK


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.6, 0.9])
def test_of_any_answers_what_is_found_is_enough_and_the_sizes_below_are_not(share: float) -> None:
    rng = np.random.default_rng(int(share * 100))
    for _ in range(400):
        at_least, length = int(rng.integers(0, 10)), int(rng.integers(0, 60))
        chosen = at_least + np.flatnonzero(rng.random(length + 1) < share)
        sizes = {at_least + length, *chosen.tolist()}
        asked = Asked(sizes)
        found = least_enough(asked, at_least=at_least, at_most=at_least + length)
        assert set(asked.tried) <= set(range(at_least, at_least + length + 1))
        assert found in sizes
        assert found == min(sizes & set(asked.tried))
        below = set(range(max(at_least, found - LOOK_BACK), found))
        assert below <= set(asked.tried)
        assert not below & sizes


def is_enough(
    routes: Itineraries, legs: ShuttleLegs, places: IntArray, *, rules: ServiceRules, target_s: int
) -> bool:
    """Whether these stands serve everybody and keep the mean wait, by a day run to its end."""
    day = serve_legs(routes, legs, places, seats=rules.seats, limits=limits_of(rules, WINDOW_S))
    assert day is not None
    return day.unserved_legs == 0 and day.mean_shuttle_wait_s <= target_s


def test_a_fleet_is_the_least_of_all_that_are_enough() -> None:
    sizes = []
    for seed in range(30):
        scene = random_scene(seed, most=120)
        routes, rules = scene.routes, ServiceRules(seats=2 + seed % 3, most_wait_s=600 + 50 * seed)
        target_s = 300
        plan = size_fleet(routes, scene.trips, rules=rules, window_s=WINDOW_S, mean_wait_s=target_s)
        every = planned_legs(routes, scene.trips, shuttle_wait_s=target_s)
        for zone, (found, legs) in enumerate(zip(plan.zones, every, strict=True)):
            order, least = stand_order(routes.network, zone, legs.pickup), 0
            while not is_enough(routes, legs, stands(order, least), rules=rules, target_s=target_s):
                least += 1
            assert found.shuttles == least
            assert found.legs == len(legs)
            assert found.zone == "ab"[zone]
            assert found.bound == fewest_shuttles(legs, routes.network.shuttle_s, rules)
            assert found.bound.shuttles <= least
            assert found.mean_wait_s <= target_s
            sizes.append(least)
        assert plan.sizes == tuple(zone.shuttles for zone in plan.zones)
        assert plan.shuttles == sum(plan.sizes) >= plan.at_least
    assert max(sizes) >= 5
    assert min(sizes) <= 2


def test_the_mean_wait_reported_is_that_of_the_day() -> None:
    scene, rules = random_scene(3), ServiceRules()
    plan = size_fleet(scene.routes, scene.trips, rules=rules, window_s=WINDOW_S)
    every = planned_legs(scene.routes, scene.trips, shuttle_wait_s=180)
    for zone, (found, legs) in enumerate(zip(plan.zones, every, strict=True)):
        places = stands(stand_order(scene.routes.network, zone, legs.pickup), found.shuttles)
        limits = limits_of(rules, WINDOW_S)
        day = serve_legs(scene.routes, legs, places, seats=rules.seats, limits=limits)
        assert day is not None
        assert found.mean_wait_s == day.mean_shuttle_wait_s > 0


@pytest.fixture
def road() -> Itineraries:
    """Two zones far apart, each of two places."""
    spots = ((0.0, 0.0, "a"), (2_000.0, 0.0, "a"), (9_000.0, 0.0, "b"), (9_500.0, 0.0, "b"))
    return itineraries(TransitNetwork(locations=placed(*spots), hubs=(), lines=()))


def sized(routes: Itineraries, trips: RiderTrips, mean_wait_s: int = 180) -> FleetPlan:
    rules = ServiceRules(seats=1, most_wait_s=400)
    return size_fleet(routes, trips, rules=rules, window_s=WINDOW_S, mean_wait_s=mean_wait_s)


def test_no_trips_need_no_shuttles(road: Itineraries) -> None:
    plan = sized(road, RiderTrips(depart_s=NOTHING, origin=NOTHING, destination=NOTHING))
    assert plan.sizes == (0, 0)
    assert [zone.mean_wait_s for zone in plan.zones] == [0, 0]
    assert (plan.shuttles, plan.at_least) == (0, 0)


def test_a_zone_without_legs_needs_no_shuttles(road: Itineraries) -> None:
    assert sized(road, in_order(np.array([0]), np.array([2]), np.array([3]))).sizes == (0, 1)


def test_a_zone_of_one_place_is_sized() -> None:
    locations = placed((0.0, 0.0, "a"), (900.0, 0.0, "b"))
    routes = itineraries(TransitNetwork(locations=locations, hubs=(), lines=()))
    trips = in_order(np.array([0, 0, 0]), np.array([0, 0, 0]), np.array([1, 1, 1]))
    assert sized(routes, trips, mean_wait_s=0).sizes == (3, 0)


@pytest.mark.parametrize("seed", range(10))
def test_with_a_stand_for_every_rider_nobody_waits(seed: int) -> None:
    scene = random_scene(seed, most=200)
    rules = ServiceRules(seats=1, most_wait_s=0)
    every = planned_legs(scene.routes, scene.trips, shuttle_wait_s=180)
    for zone, legs in enumerate(every):
        order = stand_order(scene.routes.network, zone, legs.pickup)
        places = stands(order, len(legs))
        assert is_enough(scene.routes, legs, places, rules=rules, target_s=0)
    plan = size_fleet(scene.routes, scene.trips, rules=rules, window_s=WINDOW_S, mean_wait_s=0)
    assert all(zone.mean_wait_s == 0 for zone in plan.zones)
    assert all(zone.shuttles <= zone.legs for zone in plan.zones)


def test_riders_who_leave_one_place_at_once_need_a_seat_each(road: Itineraries) -> None:
    origin = np.zeros(4, dtype=np.int64)
    trips = in_order(np.zeros(4), origin, origin + 1)
    assert sized(road, trips, mean_wait_s=0).sizes == (4, 0)
