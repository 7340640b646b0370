"""Trips and their legs as the simulation reads them."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.geography.itineraries import DIRECT, Itineraries
from hushway.geography.transit import TransitNetwork
from hushway.numerics.compiled import Rows, rows
from hushway.transit.rider_trips import RiderTrips
from hushway.transit.routes import NOWHERE
from hushway.transit.simulation import NOT_YET


@dataclass(frozen=True, kw_only=True, eq=False)
class ShuttleLegs:
    """Rides that riders ask for, in the order of asking; one rider each.

    Attributes:
        request_s: When each is asked for, in seconds, ascending.
        pickup: Index of the place where it starts.
        dropoff: Index of the place where it ends, another one.
    """

    request_s: IntArray
    pickup: IntArray
    dropoff: IntArray

    def __len__(self) -> int:
        return len(self.request_s)


def trip_rows(routes: Itineraries, trips: RiderTrips) -> Rows:
    """Returns a row for each trip, with its way through the network."""
    ends = trips.origin, trips.destination
    made = _empty_trips(trips.depart_s, *ends)
    made["first"], made["last"] = routes.first[ends], routes.last[ends]
    made["access"], made["egress"] = routes.access[ends], routes.egress[ends]
    return made


def direct_rows(legs: ShuttleLegs) -> Rows:
    """Returns legs as trips of their own, each by one shuttle from door to door."""
    made = _empty_trips(legs.request_s, legs.pickup, legs.dropoff)
    made["first"], made["last"] = DIRECT, DIRECT
    return made


def leg_rows(count: int) -> Rows:
    """Returns rows for two legs by shuttle of each of so many trips."""
    made = rows(
        2 * count,
        trip=np.int64,
        zone=np.int64,
        pickup=np.int64,
        dropoff=np.int64,
        request_s=np.int64,
        board_s=np.int64,
        leave_s=np.int64,
        shuttle=np.int64,
    )
    made["trip"] = np.arange(2 * count) // 2
    made["request_s"], made["board_s"], made["leave_s"] = NOT_YET, NOT_YET, NOT_YET
    made["shuttle"] = NOWHERE
    return made


def leg_zones(network: TransitNetwork, trip: Rows) -> tuple[IntArray, IntArray]:
    """Returns whose shuttles serve the first and the second leg of every trip.

    A leg belongs to the zone of its door. A direct one has two doors: if just one of them is a hub,
    it is the other that counts, else the first.
    """
    origin, destination = trip["origin"], trip["destination"]
    is_hub = network.hub_number >= 0
    from_hub = (trip["first"] == DIRECT) & is_hub[origin] & ~is_hub[destination]
    first = np.where(from_hub, network.zone[destination], network.zone[origin])
    return first, network.zone[destination]


def _empty_trips(depart_s: IntArray, origin: IntArray, destination: IntArray) -> Rows:
    made = rows(
        len(depart_s),
        depart_s=np.int64,
        origin=np.int64,
        destination=np.int64,
        first=np.int64,
        last=np.int64,
        access=np.int64,
        egress=np.int64,
        bus_wait_s=np.int64,
        bus_ride_s=np.int64,
        buses=np.int64,
        arrival_s=np.int64,
    )
    made["depart_s"], made["origin"], made["destination"] = depart_s, origin, destination
    made["arrival_s"] = NOT_YET
    return made
