"""Serves the trips of a day with a fleet, and measures waits and rides (the paper's O)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PlanError
from hushway.geography.itineraries import BusRides, Itineraries
from hushway.geography.transit import TransitNetwork
from hushway.numerics.compiled import Rows
from hushway.transit.legs import (
    RiderTrips,
    ShuttleLegs,
    direct_rows,
    leg_rows,
    leg_zones,
    planned_legs,
    stand_order,
    stands,
    trip_rows,
)
from hushway.transit.routes import Shuttles, parked
from hushway.transit.simulation import Day, Limits, buses_from, event_heap, run_day


@dataclass(frozen=True, kw_only=True)
class ServiceRules:
    """The rules that every ride keeps.

    Attributes:
        most_wait_s: The longest wait for a shuttle; a rider whom none can reach by then is not
            served.
        detour: How many times its direct drive a shared ride may take.
    """

    seats: int = 8
    bus_seats: int = 100
    most_wait_s: int = 900
    detour: float = 1.5
    detour_s: int = 180

    def __post_init__(self) -> None:
        if min(self.seats, self.bus_seats) < 1:
            raise PlanError("A vehicle needs a seat.", advice="Give 1 seat or more.")
        if self.most_wait_s < 0 or self.detour < 1 or self.detour_s < 0:
            raise PlanError(
                "A wait or a detour cannot be negative.",
                advice="Give seconds of 0 or more, and a detour of 1 or more.",
            )

    def longest_ride_s(self, direct_s: IntArray) -> IntArray:
        """Returns how long a ride may take whose direct drive takes so long."""
        return (direct_s * self.detour).astype(direct_s.dtype) + self.detour_s


Window = tuple[int, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class Operations:
    """What happened to every trip, leg and shuttle.

    Attributes:
        window_s: From when to when idle time was counted.
    """

    trip: Rows
    leg: Rows
    shuttle: Rows
    window_s: Window

    @cached_property
    def leg_wait_s(self) -> IntArray:
        """The wait of every leg by shuttle that was served."""
        served = self.leg[self.leg["board_s"] >= 0]
        return np.asarray(served["board_s"] - served["request_s"])

    @cached_property
    def leg_ride_s(self) -> IntArray:
        """Seconds on board of every leg by shuttle that was served."""
        served = self.leg[self.leg["board_s"] >= 0]
        return np.asarray(served["leave_s"] - served["board_s"])

    @property
    def mean_leg_wait_s(self) -> float:
        """Mean wait for a vehicle, over the legs by shuttle and by bus."""
        waits = self.leg_wait_s.sum() + self.trip["bus_wait_s"].sum()
        return float(waits / max(1, len(self.leg_wait_s) + self.trip["buses"].sum()))

    @property
    def mean_shuttle_wait_s(self) -> float:
        """Mean wait for a shuttle."""
        return float(self.leg_wait_s.mean()) if len(self.leg_wait_s) else 0.0

    @property
    def mean_trip_wait_s(self) -> float:
        """Mean of all waits of a trip, over the trips that arrived."""
        return self._per_arrived(self._waits_s)

    @property
    def mean_in_vehicle_s(self) -> float:
        """Mean time on board of shuttles and buses, over the trips that arrived."""
        return self._per_arrived(self._rides_s)

    @property
    def mean_trip_s(self) -> float:
        """Mean time from departure to arrival."""
        return self._per_arrived(self.trip["arrival_s"] - self.trip["depart_s"])

    @property
    def mean_idle_s(self) -> float:
        """Mean time of a shuttle in the window without a rider on board."""
        if not len(self.shuttle):
            return 0.0
        start_s, end_s = self.window_s
        return float(end_s - start_s - self.shuttle["busy_s"].mean())

    @property
    def unserved_legs(self) -> int:
        """Legs that no shuttle could serve within the rules."""
        return int((self.leg["board_s"] < 0).sum())

    @property
    def unserved_trips(self) -> int:
        """Trips that did not arrive."""
        return int((self.trip["arrival_s"] < 0).sum())

    @cached_property
    def _waits_s(self) -> IntArray:
        return self.trip["bus_wait_s"] + self._by_trip(self.leg["board_s"] - self.leg["request_s"])

    @cached_property
    def _rides_s(self) -> IntArray:
        return self.trip["bus_ride_s"] + self._by_trip(self.leg["leave_s"] - self.leg["board_s"])

    def _by_trip(self, seconds: IntArray) -> IntArray:
        """Adds up what the legs of each trip took."""
        total = np.zeros(len(self.trip), dtype=np.int64)
        np.add.at(total, self.leg["trip"], np.where(self.leg["board_s"] >= 0, seconds, 0))
        return total

    def _per_arrived(self, seconds: IntArray) -> float:
        arrived = self.trip["arrival_s"] >= 0
        return float(seconds[arrived].mean()) if arrived.any() else 0.0


def operate(
    routes: Itineraries,
    trips: RiderTrips,
    fleet: Sequence[int],
    *,
    rules: ServiceRules,
    window_s: Window,
) -> Operations:
    """Serves trips with a fleet, each leg asked for when the rider is there.

    How many shuttles there are was decided before; where they wait is learnt in operation, so their
    stands are those that suit the trips.

    Args:
        fleet: The number of shuttles of each zone, in the order of the zones' names.
        window_s: From when to when idle time is counted, in seconds after midnight.
    """
    zones = len(routes.network.locations.zones)
    if len(fleet) != zones or min(fleet) < 0:
        raise PlanError(
            f"A fleet for {zones} zones was expected.",
            advice="Give the number of shuttles of each zone, 0 or more, by the zones' names.",
        )
    trip = trip_rows(routes, trips)
    leg = leg_rows(len(trip))
    leg["zone"][0::2], leg["zone"][1::2] = leg_zones(routes.network, trip)
    places = [
        stands(stand_order(routes.network, zone, legs.pickup), count)
        for zone, (legs, count) in enumerate(
            zip(planned_legs(routes, trips, shuttle_wait_s=0), fleet, strict=True)
        )
    ]
    # Riders may set out before the window: shuttles and buses are there from the first on.
    start_s = int(trip["depart_s"].min(initial=window_s[0]))
    shuttles = parked(
        np.concatenate(places), start_s, drive_s=routes.network.shuttle_s, seats=rules.seats
    )
    day = _day(routes.network, routes.rides, trip, leg, np.array(fleet))
    buses = buses_from(
        routes.network,
        routes.rides,
        seats=rules.bus_seats,
        start_s=start_s,
        end_s=int(trip["depart_s"].max(initial=window_s[1])),
    )
    run_day(day, shuttles, buses, limits_of(rules, window_s))
    return _outcome(day, shuttles, window_s)


def serve_legs(
    routes: Itineraries, legs: ShuttleLegs, places: IntArray, *, seats: int, limits: Limits
) -> Operations | None:
    """Serves legs of one zone, each a trip of its own, by shuttles with these stands.

    Returns nothing if the limits were passed.
    """
    trip = direct_rows(legs)
    leg = leg_rows(len(trip))
    window_s = limits.start_s, limits.end_s
    start_s = int(legs.request_s.min(initial=limits.start_s))
    shuttles = parked(places, start_s, drive_s=routes.network.shuttle_s, seats=seats)
    day = _day(routes.network, routes.rides, trip, leg, np.array([len(places)]))
    buses = buses_from(routes.network, routes.rides, seats=1, start_s=0, end_s=0)
    within = run_day(day, shuttles, buses, limits)
    return _outcome(day, shuttles, window_s) if within else None


def limits_of(rules: ServiceRules, window_s: Window) -> Limits:
    """Returns the rules as the simulation reads them, never to give up."""
    return Limits(
        most_wait_s=rules.most_wait_s,
        detour=rules.detour,
        detour_s=rules.detour_s,
        start_s=window_s[0],
        end_s=window_s[1],
    )


def _day(network: TransitNetwork, rides: BusRides, trip: Rows, leg: Rows, fleet: IntArray) -> Day:
    return Day(
        trip=trip,
        leg=leg,
        hub=np.array(network.hubs, dtype=np.int64),
        change=rides.change,
        walk_s=network.walk_s,
        fleet=np.concatenate([[0], np.cumsum(fleet)]).astype(np.int64),
        heap=event_heap(trip["depart_s"], int(fleet.sum())),
    )


def _outcome(day: Day, shuttles: Shuttles, window_s: Window) -> Operations:
    return Operations(
        trip=day.trip,
        leg=day.leg[day.leg["request_s"] >= 0],
        shuttle=shuttles.shuttle,
        window_s=window_s,
    )
