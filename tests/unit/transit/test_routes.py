"""Insertion against trying every position, on routes that insertions and stops have made."""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from hushway.transit.routes import (
    MOST_STOPS,
    NOWHERE,
    Insertion,
    Ride,
    Shuttles,
    best_insertion,
    finish_stop,
    insert,
    parked,
)

FOREVER = 1 << 60
SEATS_AND_SEEDS = [(seats, seed) for seats in (1, 2, 3, 8) for seed in range(6)]


@dataclass(frozen=True)
class Stop:
    place: int
    leg: int
    on: bool
    latest: int


@dataclass
class Route:
    """A route in plain words; the time of its first stop and the order say everything."""

    drive_s: list[list[int]]
    seats: int
    stand: int
    place: int
    since: int
    stops: list[Stop] = field(default_factory=list)
    first_s: int = 0
    riders: int = 0

    def times(self, stops: list[Stop], first_s: int) -> list[int]:
        times = [first_s]
        for one, other in pairwise(stops):
            times.append(times[-1] + self.drive_s[one.place][other.place])
        return times

    def loads(self, stops: list[Stop]) -> list[int]:
        load, loads = self.riders, []
        for stop in stops:
            load += 1 if stop.on else -1
            loads.append(load)
        return loads

    def idle_arrival(self, ride: Ride) -> int:
        """When a shuttle without stops, which is on its way to its stand, can be at a pickup."""
        home_s = self.since + self.drive_s[self.place][self.stand]
        by_stand = max(home_s, ride.now_s) + self.drive_s[self.stand][ride.pickup]
        if home_s <= ride.now_s:
            return by_stand
        back_s = ride.now_s + (ride.now_s - self.since)
        return min(by_stand, back_s + self.drive_s[self.place][ride.pickup])

    def with_ride(self, ride: Ride, pickup: int, dropoff: int) -> tuple[list[Stop], list[int]]:
        """Returns the stops with a ride before two of the old ones, and their times."""
        on = Stop(ride.pickup, ride.leg, on=True, latest=ride.latest_pickup_s)
        off = Stop(ride.dropoff, ride.leg, on=False, latest=FOREVER)
        stops = [*self.stops[:pickup], on, *self.stops[pickup:dropoff], off, *self.stops[dropoff:]]
        times = self.times(stops, self.first_s if self.stops else self.idle_arrival(ride))
        latest = times[pickup] + ride.longest_s
        stops[dropoff + 1] = Stop(ride.dropoff, ride.leg, on=False, latest=latest)
        return stops, times

    def delay(self, ride: Ride, pickup: int, dropoff: int) -> int | None:
        """Returns the delay of all riders together; nothing if a promise is broken."""
        stops, times = self.with_ride(ride, pickup, dropoff)
        late = any(time > stop.latest for stop, time in zip(stops, times, strict=True))
        if late or max(self.loads(stops)) > self.seats:
            return None
        before = self.times(self.stops, self.first_s)
        was = {s.leg: time for s, time in zip(self.stops, before, strict=False) if not s.on}
        now = {s.leg: time for s, time in zip(stops, times, strict=True) if not s.on}
        return now[ride.leg] - ride.now_s + sum(now[leg] - was[leg] for leg in was)

    def every_fit(self, ride: Ride) -> dict[tuple[int, int], int]:
        """Returns the delay of every position that keeps all promises."""
        count = len(self.stops)
        every = {
            (pickup, dropoff): self.delay(ride, pickup, dropoff)
            for pickup in range(min(count, 1), count + 1)
            for dropoff in range(pickup, count + 1)
        }
        return {position: delay for position, delay in every.items() if delay is not None}

    def take(self, ride: Ride, pickup: int, dropoff: int) -> None:
        self.stops, times = self.with_ride(ride, pickup, dropoff)
        self.first_s = times[0]

    def make_stop(self) -> None:
        done = self.stops.pop(0)
        self.riders += 1 if done.on else -1
        self.place, self.since = done.place, self.first_s
        if self.stops:
            self.first_s += self.drive_s[done.place][self.stops[0].place]

    def check(self, shuttles: Shuttles, number: int) -> None:
        """Asserts that what is stored is what follows from the order of the stops."""
        one = shuttles.shuttle[number]
        stored = shuttles.stop[number, : one["stops"]]
        times = self.times(self.stops, self.first_s)[: len(self.stops)]
        spare = [stop.latest - time for stop, time in zip(self.stops, times, strict=True)]
        assert (one["place"], one["riders"]) == (self.place, self.riders)
        assert stored["place"].tolist() == [stop.place for stop in self.stops]
        assert stored["leg"].tolist() == [stop.leg for stop in self.stops]
        assert stored["on"].tolist() == [stop.on for stop in self.stops]
        assert stored["latest"].tolist() == [stop.latest for stop in self.stops]
        assert stored["time"].tolist() == times
        assert stored["load"].tolist() == self.loads(self.stops)
        assert stored["spare"].tolist() == [min(spare[at:]) for at in range(len(spare))]
        drops = [sum(not stop.on for stop in self.stops[at:]) for at in range(len(spare))]
        assert stored["drops"].tolist() == drops


def random_drives(rng: np.random.Generator, places: int = 9) -> np.ndarray:
    """Sums of differences and a stop on top: no way by a third place is shorter."""
    corner = rng.integers(0, 60, (places, 2))
    drive_s = np.abs(corner[:, None] - corner[None]).sum(axis=2) + rng.integers(0, 10)
    np.fill_diagonal(drive_s, 0)
    return drive_s.astype(np.int64)


def random_ride(rng: np.random.Generator, drive_s: np.ndarray, leg: int, now_s: int) -> Ride:
    pickup = int(rng.integers(len(drive_s)))
    dropoff = int((pickup + rng.integers(1, len(drive_s))) % len(drive_s))
    direct_s = int(drive_s[pickup, dropoff])
    return Ride(
        leg=leg,
        pickup=pickup,
        dropoff=dropoff,
        now_s=now_s,
        latest_pickup_s=now_s + int(rng.integers(0, 250)),
        direct_s=direct_s,
        longest_s=direct_s + int(rng.integers(0, 150)),
    )


def agreed_fit(shuttles: Shuttles, route: Route, number: int, ride: Ride) -> Insertion:
    """Returns the best fit, after a comparison with all that there are."""
    found = best_insertion(shuttles, number, ride, FOREVER)
    every = route.every_fit(ride)
    if not every:
        assert (found.pickup, found.dropoff) == (NOWHERE, NOWHERE)
        return found
    least = min(every.values())
    assert found.delay_s == least
    # Of equally good positions it is the first.
    first = min(position for position, delay in every.items() if delay == least)
    assert (found.pickup, found.dropoff) == first
    return found


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("seats", "seed"), SEATS_AND_SEEDS)
def test_the_best_fit_is_the_best_of_all_positions_on_any_route(seats: int, seed: int) -> None:
    rng = np.random.default_rng([seats, seed])
    drive_s = random_drives(rng)
    stands = rng.integers(0, len(drive_s), 3)
    shuttles = parked(stands, 0, drive_s=drive_s, seats=seats)
    places = stands.tolist()
    routes = [Route(drive_s.tolist(), seats, place, place, 0) for place in places]
    now_s, found, missed, shared = 0, 0, 0, 0
    for leg in range(60):
        now_s += int(rng.integers(0, 30))
        for number, route in enumerate(routes):
            while route.stops and route.first_s <= now_s:
                finish_stop(shuttles, number, 0, FOREVER)
                route.make_stop()
                route.check(shuttles, number)
        ride = random_ride(rng, drive_s, leg, now_s)
        fits = [agreed_fit(shuttles, route, n, ride) for n, route in enumerate(routes)]
        fitting = [number for number, fit in enumerate(fits) if fit.pickup != NOWHERE]
        found, missed = found + len(fitting), missed + 3 - len(fitting)
        if fitting:
            number = int(rng.choice(fitting))
            fit = fits[number]
            shared += fit.pickup < fit.dropoff
            pickup_s = insert(shuttles, number, ride, fit)
            routes[number].take(ride, fit.pickup, fit.dropoff)
            routes[number].check(shuttles, number)
            assert pickup_s == shuttles.stop[number, fit.pickup]["time"]
    assert min(found, missed) > 10
    assert (shared > 0) == (seats > 1)


def test_only_a_better_fit_than_the_one_at_hand_is_found() -> None:
    rng = np.random.default_rng(7)
    drive_s = random_drives(rng)
    shuttles = parked(np.array([0]), 0, drive_s=drive_s, seats=4)
    for leg in range(5):
        ride = random_ride(rng, drive_s, leg, 0)._replace(latest_pickup_s=FOREVER)
        fit = best_insertion(shuttles, 0, ride, FOREVER)
        assert best_insertion(shuttles, 0, ride, fit.delay_s + 1) == fit
        assert best_insertion(shuttles, 0, ride, fit.delay_s) == (fit.delay_s, NOWHERE, NOWHERE)
        insert(shuttles, 0, ride, fit)


# Places along a road, ten seconds from each to the next.
ROAD_S = np.abs(np.arange(10)[:, None] - np.arange(10)) * 10


def on_the_way_home() -> Shuttles:
    """A shuttle that was at place 6 at 100 s, and drives to its stand at place 0."""
    shuttles = parked(np.array([0]), 0, drive_s=ROAD_S, seats=2)
    shuttles.shuttle["place"], shuttles.shuttle["since"] = 6, 100
    return shuttles


@pytest.mark.parametrize(
    ("now_s", "pickup", "pickup_s"),
    [
        (100, 6, 100),  # it has just become idle, and is there
        (110, 8, 140),  # ten seconds back, and twenty on
        (140, 1, 170),  # it drives home and comes back, rather than to turn round
        (160, 1, 170),  # it waits at its stand
        (900, 1, 910),
    ],
)
def test_an_idle_shuttle_turns_round_or_comes_by_its_stand(
    now_s: int, pickup: int, pickup_s: int
) -> None:
    shuttles = on_the_way_home()
    ride = Ride(0, pickup, 9, now_s, pickup_s, direct_s=10 * (9 - pickup), longest_s=99)
    fit = best_insertion(shuttles, 0, ride, FOREVER)
    assert fit == (pickup_s + 10 * (9 - pickup) - now_s, 0, 0)
    assert insert(shuttles, 0, ride, fit) == pickup_s
    too_soon = ride._replace(latest_pickup_s=pickup_s - 1)
    assert best_insertion(on_the_way_home(), 0, too_soon, FOREVER).pickup == NOWHERE


def test_driving_home_counts_as_far_as_it_was_driven() -> None:
    for now_s, driven_s in ((110, 10 + 30), (900, 60 + 80)):
        shuttles = on_the_way_home()
        ride = Ride(0, 8, 9, now_s, FOREVER, direct_s=10, longest_s=99)
        insert(shuttles, 0, ride, best_insertion(shuttles, 0, ride, FOREVER))
        finish_stop(shuttles, 0, 0, FOREVER)
        assert shuttles.shuttle["driven_s"] == [driven_s]


@pytest.mark.parametrize(
    ("start_s", "end_s", "busy_s"),
    [(0, 1000, 60), (40, 1000, 40), (0, 50, 30), (30, 45, 15), (100, 200, 0), (0, 10, 0)],
)
def test_only_time_with_a_rider_in_the_window_is_busy(
    start_s: int, end_s: int, busy_s: int
) -> None:
    shuttles = parked(np.array([0]), 0, drive_s=ROAD_S, seats=2)
    ride = Ride(0, 2, 8, 0, FOREVER, direct_s=60, longest_s=60)  # on board from 20 to 80
    insert(shuttles, 0, ride, best_insertion(shuttles, 0, ride, FOREVER))
    finish_stop(shuttles, 0, start_s, end_s)
    finish_stop(shuttles, 0, start_s, end_s)
    assert shuttles.shuttle["busy_s"] == [busy_s]
    assert shuttles.shuttle[["riders", "stops", "place", "since"]].tolist() == [(0, 0, 8, 80)]


def test_a_route_takes_as_many_stops_as_there_is_room_for() -> None:
    shuttles = parked(np.array([0]), 0, drive_s=ROAD_S, seats=2)
    for leg in range(MOST_STOPS // 2):
        ride = Ride(leg, leg % 9, leg % 9 + 1, 0, FOREVER, direct_s=10, longest_s=FOREVER)
        fit = best_insertion(shuttles, 0, ride, FOREVER)
        assert fit.pickup != NOWHERE
        insert(shuttles, 0, ride, fit)
    assert shuttles.shuttle["stops"] == [MOST_STOPS]
    ride = Ride(99, 0, 1, 0, FOREVER, direct_s=10, longest_s=FOREVER)
    assert best_insertion(shuttles, 0, ride, FOREVER).pickup == NOWHERE
