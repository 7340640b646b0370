"""Whole days against a slow simulator that knows nothing of the fast one."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from hushway.geography.itineraries import MODES, Access, Itineraries, itineraries
from hushway.geography.transit import TransitNetwork, Travel
from hushway.transit.legs import ShuttleLegs, planned_legs, stand_order, stands
from hushway.transit.operations import Operations, ServiceRules, limits_of, serve_legs
from support.rider_scenes import placed, random_scene

SHUTTLES, RIDERS = 0, 1  # who goes first at the same second
NEVER = -1


@dataclass
class Leg:
    """A ride by shuttle that a rider asks for."""

    trip: int
    second: bool
    pickup: int
    dropoff: int
    request_s: int
    board_s: int = NEVER
    leave_s: int = NEVER
    shuttle: int = NEVER


@dataclass
class Stop:
    leg: Leg
    on: bool
    latest_s: int

    @property
    def place(self) -> int:
        return self.leg.pickup if self.on else self.leg.dropoff


@dataclass
class Shuttle:
    """A vehicle: where it was last and when, and the stops to come; the first is under way."""

    stand: int
    place: int
    since_s: int
    stops: list[Stop] = field(default_factory=list)
    first_s: int = 0
    riders: int = 0
    busy_s: int = 0
    driven_s: int = 0


@dataclass
class Rider:
    """A trip: its hubs, where it is in its plan, and what it has been through."""

    depart_s: int
    origin: int
    destination: int
    bus_stops: list[int]
    bus_wait_s: int = 0
    bus_ride_s: int = 0
    buses: int = 0
    arrival_s: int = NEVER


class SlowDay:
    """The same day by a plain list of events: (time, who goes first, number, what to do)."""

    def __init__(self, scene: Any) -> None:
        self.scene, self.rules, self.routes = scene, scene.rules, scene.routes
        self.network: TransitNetwork = scene.routes.network
        self.drive_s = self.network.shuttle_s.tolist()
        self.walk_s = self.network.walk_s.tolist()
        trips = scene.trips
        ends = zip(trips.origin.tolist(), trips.destination.tolist(), strict=True)
        self.riders = [
            Rider(int(depart_s), *pair, bus_stops=self.hubs_of(*pair))
            for depart_s, pair in zip(trips.depart_s, ends, strict=True)
        ]
        self.events: list[tuple[int, int, int, str]] = [
            (rider.depart_s, RIDERS, n, "sets out") for n, rider in enumerate(self.riders)
        ]
        self.legs: list[Leg] = []
        self.on_bus: Counter[tuple[int, int, int]] = Counter()
        self.fleet: list[list[int]] = []
        self.shuttles: list[Shuttle] = []
        planned = planned_legs(scene.routes, scene.trips, shuttle_wait_s=0)
        for zone, count in enumerate(scene.fleet):
            self.fleet.append([len(self.shuttles) + n for n in range(count)])
            order = stand_order(self.network, zone, planned[zone].pickup)
            places = stands(order, count).tolist()
            self.shuttles += [Shuttle(place, place, -(10**6)) for place in places]

    def hubs_of(self, origin: int, destination: int) -> list[int]:
        """Returns the hubs where a rider is, in order; none if a shuttle goes directly."""
        first = int(self.routes.first[origin, destination])
        last = int(self.routes.last[origin, destination])
        if first == -1:
            return []
        change = int(self.routes.rides.change[first, last])
        hubs = [first] if first == last else [first, last]
        return [first, change, last] if change >= 0 else hubs

    def run(self) -> None:
        while self.events:
            event = min(self.events)
            self.events.remove(event)
            now_s, kind, number, what = event
            if kind == SHUTTLES:
                self.make_stop(number, now_s)
            elif what == "sets out":
                self.set_out(number, now_s)
            else:
                self.at_hub(number, now_s, int(what))

    def set_out(self, number: int, now_s: int) -> None:
        rider = self.riders[number]
        ends = rider.origin, rider.destination
        if not rider.bus_stops:
            self.ask(Leg(number, second=False, pickup=ends[0], dropoff=ends[1], request_s=now_s))
            return
        hub = self.network.hubs[rider.bus_stops[0]]
        access = self.routes.access[ends]
        if access == Access.SHUTTLE:
            self.ask(Leg(number, second=False, pickup=ends[0], dropoff=hub, request_s=now_s))
            return
        walk_s = self.walk_s[ends[0]][hub] if access == Access.WALK else 0
        self.events.append((now_s + walk_s, RIDERS, number, "0"))

    def at_hub(self, number: int, now_s: int, which: int) -> None:
        rider = self.riders[number]
        if which + 1 < len(rider.bus_stops):
            self.ride_bus(number, now_s, which)
            return
        hub = self.network.hubs[rider.bus_stops[-1]]
        egress = self.routes.egress[rider.origin, rider.destination]
        if egress == Access.SHUTTLE:
            door = rider.destination
            self.ask(Leg(number, second=True, pickup=hub, dropoff=door, request_s=now_s))
            return
        walk_s = self.walk_s[hub][rider.destination] if egress == Access.WALK else 0
        rider.arrival_s = now_s + walk_s

    def ride_bus(self, number: int, now_s: int, which: int) -> None:
        rider, rides = self.riders[number], self.routes.rides
        ends = rider.bus_stops[which], rider.bus_stops[which + 1]
        line_number = int(rides.line[ends])
        line = self.network.lines[line_number]
        first = line.stops.index(self.network.hubs[ends[0]])
        last = line.stops.index(self.network.hubs[ends[1]])
        run = -1000
        while (leaves_s := run * line.headway_s + sum(line.ride_s[:first])) < now_s or self.is_full(
            line_number, run, first, last
        ):
            run += 1
        self.on_bus.update((line_number, run, stop) for stop in range(first, last))
        ride_s = sum(line.ride_s[first:last])
        rider.bus_wait_s += leaves_s - now_s
        rider.bus_ride_s += ride_s
        rider.buses += 1
        self.events.append((leaves_s + ride_s, RIDERS, number, str(which + 1)))

    def is_full(self, line: int, run: int, first: int, last: int) -> bool:
        return any(
            self.on_bus[line, run, stop] >= self.rules.bus_seats for stop in range(first, last)
        )

    def zone_of(self, leg: Leg) -> int:
        rider, hubs = self.riders[leg.trip], self.network.hubs
        if leg.second:
            door = rider.destination
        elif rider.bus_stops:
            door = rider.origin
        else:
            from_hub = rider.origin in hubs and rider.destination not in hubs
            door = rider.destination if from_hub else rider.origin
        return int(self.network.zone[door])

    def ask(self, leg: Leg) -> None:
        """Tries every shuttle of the zone and every two positions, and takes the best."""
        self.legs.append(leg)
        direct_s = self.drive_s[leg.pickup][leg.dropoff]
        longest_s = int(direct_s * self.rules.detour) + self.rules.detour_s
        best: tuple[int, int, int, int] | None = None
        for number in self.fleet[self.zone_of(leg)]:
            count = len(self.shuttles[number].stops)
            for pickup in range(min(count, 1), count + 1):
                for dropoff in range(pickup, count + 1):
                    plan = self.plan(number, leg, pickup, dropoff, longest_s)
                    delay_s = self.delay_s(number, *plan, leg)
                    if delay_s is not None:
                        choice = delay_s, number, pickup, dropoff
                        best = choice if best is None else min(best, choice)
        if best is None:
            return
        _, number, pickup, dropoff = best
        self.take(number, leg, *self.plan(number, leg, pickup, dropoff, longest_s))

    def plan(
        self, number: int, leg: Leg, pickup: int, dropoff: int, longest_s: int
    ) -> tuple[list[Stop], list[int]]:
        old = self.shuttles[number].stops
        on = Stop(leg, on=True, latest_s=leg.request_s + self.rules.most_wait_s)
        off = Stop(leg, on=False, latest_s=0)
        stops = [*old[:pickup], on, *old[pickup:dropoff], off, *old[dropoff:]]
        times = self.times(stops, self.shuttles[number].first_s if old else self.reach(number, leg))
        off.latest_s = times[pickup] + longest_s
        return stops, times

    def times(self, stops: list[Stop], first_s: int) -> list[int]:
        times = [first_s]
        for one, other in pairwise(stops):
            times.append(times[-1] + self.drive_s[one.place][other.place])
        return times

    def reach(self, number: int, leg: Leg) -> int:
        """When an idle shuttle, which drives to its stand, can be at a pickup."""
        one, now_s = self.shuttles[number], leg.request_s
        home_s = one.since_s + self.drive_s[one.place][one.stand]
        if home_s <= now_s:
            return now_s + self.drive_s[one.stand][leg.pickup]
        turned_s = now_s + (now_s - one.since_s) + self.drive_s[one.place][leg.pickup]
        return min(turned_s, home_s + self.drive_s[one.stand][leg.pickup])

    def delay_s(self, number: int, stops: list[Stop], times: list[int], leg: Leg) -> int | None:
        one = self.shuttles[number]
        load = one.riders
        for stop, time in zip(stops, times, strict=True):
            load += 1 if stop.on else -1
            if load > self.rules.seats or time > stop.latest_s:
                return None
        old = self.times(one.stops, one.first_s)
        before = sum(t for s, t in zip(one.stops, old, strict=False) if not s.on)
        after = sum(t for s, t in zip(stops, times, strict=True) if not s.on)
        return after - before - leg.request_s

    def take(self, number: int, leg: Leg, stops: list[Stop], times: list[int]) -> None:
        one = self.shuttles[number]
        if not one.stops:
            home_s = self.drive_s[one.place][one.stand]
            one.driven_s += min(home_s, leg.request_s - one.since_s) + times[0] - leg.request_s
            self.events.append((times[0], SHUTTLES, number, "makes a stop"))
        leg.shuttle, one.stops, one.first_s = number, stops, times[0]

    def make_stop(self, number: int, now_s: int) -> None:
        one = self.shuttles[number]
        if one.riders:
            start_s, end_s = self.scene.window_s
            one.busy_s += sum(start_s <= second < end_s for second in range(one.since_s, now_s))
        done = one.stops.pop(0)
        one.place, one.since_s = done.place, now_s
        if one.stops:
            drive_s = self.drive_s[one.place][one.stops[0].place]
            one.driven_s += drive_s
            one.first_s = now_s + drive_s
            self.events.append((one.first_s, SHUTTLES, number, "makes a stop"))
        if done.on:
            one.riders, done.leg.board_s = one.riders + 1, now_s
            return
        one.riders, done.leg.leave_s = one.riders - 1, now_s
        rider = self.riders[done.leg.trip]
        if done.leg.second or not rider.bus_stops:
            rider.arrival_s = now_s
        else:
            self.events.append((now_s, RIDERS, done.leg.trip, "0"))


def both(scene: Any) -> tuple[Operations, SlowDay]:
    slow = SlowDay(scene)
    slow.run()
    fast = scene.run()
    return fast, slow


@pytest.mark.parametrize("seed", range(40))
def test_a_day_is_the_same_in_a_simulator_that_tries_everything(seed: int) -> None:
    fast, slow = both(random_scene(seed))
    for fact in ("arrival_s", "bus_wait_s", "bus_ride_s", "buses"):
        assert fast.trip[fact].tolist() == [getattr(rider, fact) for rider in slow.riders]
    legs = sorted(slow.legs, key=lambda leg: (leg.trip, leg.second))
    for fact in ("trip", "pickup", "dropoff", "request_s", "board_s", "leave_s", "shuttle"):
        assert fast.leg[fact].tolist() == [getattr(leg, fact) for leg in legs]
    assert fast.leg["zone"].tolist() == [slow.zone_of(leg) for leg in legs]
    for fact in ("busy_s", "driven_s"):
        assert fast.shuttle[fact].tolist() == [getattr(one, fact) for one in slow.shuttles]


def test_the_compared_days_have_everything_in_them() -> None:
    modes: set[str] = set()
    seen: Counter[str] = Counter()
    for seed in range(40):
        scene = random_scene(seed)
        fast, slow = both(scene)
        ends = scene.trips.origin, scene.trips.destination
        modes |= {MODES[mode] for mode in scene.routes.mode[ends]}
        seen["unserved"] += fast.unserved_legs
        seen["arrived"] += len(fast.trip) - fast.unserved_trips
        seen["before the window"] += int((scene.trips.depart_s < scene.window_s[0]).sum())
        seen["full buses"] += max(slow.on_bus.values(), default=0) == scene.rules.bus_seats
        direct_s = scene.routes.network.shuttle_s[fast.leg["pickup"], fast.leg["dropoff"]]
        seen["shared"] += int((fast.leg["leave_s"] - fast.leg["board_s"] > direct_s).sum())
    assert modes == set(MODES)
    assert min(seen.values()) >= 10
    assert len(seen) == 5


def legs_on_a_road(*legs: tuple[int, int, int]) -> ShuttleLegs:
    request_s, pickup, dropoff = np.array(legs, dtype=np.int64).T
    return ShuttleLegs(request_s=request_s, pickup=pickup, dropoff=dropoff)


@pytest.fixture
def road() -> Itineraries:
    """Five places, a hundred seconds from each to the next, and no hubs."""
    spots = [(999.0 * place, 0.0, "a") for place in range(5)]
    travel = Travel(shuttle_m_per_s=10.0, detour=1.0, stop_s=0)
    return itineraries(TransitNetwork(locations=placed(*spots), hubs=(), lines=(), travel=travel))


@pytest.mark.parametrize(
    ("most_unserved", "most_waiting_s", "within"),
    [(1, 400, True), (0, 400, False), (1, 399, False), (1, 0, False)],
)
def test_a_day_is_given_up_as_soon_as_it_passes_a_limit(
    road: Itineraries, most_unserved: int, most_waiting_s: int, *, within: bool
) -> None:
    # One waits a hundred seconds and one three hundred; none can reach the last in time.
    legs = legs_on_a_road((0, 1, 0), (1000, 3, 4), (1000, 0, 1))
    limits = limits_of(ServiceRules(seats=1, most_wait_s=300), (0, 5000))
    limits = limits._replace(most_unserved=most_unserved, most_waiting_s=most_waiting_s)
    day = serve_legs(road, legs, np.array([0]), seats=1, limits=limits)
    assert (day is not None) == within
    if day is not None:
        assert day.leg["board_s"].tolist() == [100, 1300, -1]
        assert day.leg["shuttle"].tolist() == [0, 0, -1]


@pytest.mark.parametrize(
    ("detour", "detour_s", "served"),
    [(1.0, 200, 2), (1.0, 199, 1), (1.5, 150, 2), (1.5, 149, 1), (1.499, 151, 2), (1.499, 150, 1)],
)
def test_a_shared_ride_takes_as_long_as_the_rules_allow_and_no_second_longer(
    road: Itineraries, detour: float, detour_s: int, served: int
) -> None:
    # Both wait at the same place and leave in opposite directions: whoever is second rides for
    # 300 s instead of 100. To come back for one of them takes too long.
    legs = legs_on_a_road((0, 1, 2), (0, 1, 0))
    rules = ServiceRules(seats=2, most_wait_s=100, detour=detour, detour_s=detour_s)
    day = serve_legs(road, legs, np.array([0]), seats=2, limits=limits_of(rules, (0, 5000)))
    assert day is not None
    assert sorted(day.leg_ride_s.tolist()) == [100, 300][:served]


def test_at_the_same_second_a_shuttle_stops_before_a_rider_asks(road: Itineraries) -> None:
    # The only seat becomes free at 300 s, where and when the second rider asks.
    legs = legs_on_a_road((0, 0, 3), (300, 3, 4))
    limits = limits_of(ServiceRules(seats=1, most_wait_s=0), (0, 5000))
    day = serve_legs(road, legs, np.array([0]), seats=1, limits=limits)
    assert day is not None
    assert day.leg["leave_s"].tolist() == [300, 400]


def test_riders_who_set_out_before_the_window_wait_like_all_others(road: Itineraries) -> None:
    legs = legs_on_a_road((0, 3, 4), (5000, 3, 4))
    limits = limits_of(ServiceRules(), (4000, 9000))
    day = serve_legs(road, legs, np.array([0]), seats=8, limits=limits)
    assert day is not None
    assert day.leg_wait_s.tolist() == [300, 300]
    assert day.shuttle["busy_s"].tolist() == [100]
    # Three stretches there, one on, and four home; then the same without the way home.
    assert day.shuttle["driven_s"].tolist() == [400 + 400 + 400]
