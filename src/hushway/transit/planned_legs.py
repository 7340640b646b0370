"""The legs by shuttle that trips will ask for, zone by zone, as far as one can plan them."""

import numpy as np

from hushway.arrays import IntArray
from hushway.geography.bus_rides import NO_CHANGE
from hushway.geography.itineraries import DIRECT, Access, Itineraries
from hushway.transit.legs import ShuttleLegs
from hushway.transit.rider_trips import RiderTrips
from hushway.transit.trip_rows import leg_zones, trip_rows


def planned_legs(
    routes: Itineraries, trips: RiderTrips, *, shuttle_wait_s: int
) -> tuple[ShuttleLegs, ...]:
    """Returns the legs of each zone, in the order of the zones' names.

    A leg from a hub is asked for when its rider should be there: after the planned wait for the
    first shuttle, its direct drive or the walk, and half a headway and the ride of every bus. So
    each zone can be planned by itself.

    Args:
        routes: The way of every pair of places.
        trips: The trips.
        shuttle_wait_s: The planned wait for a shuttle.
    """
    network = routes.network
    trip = trip_rows(routes, trips)
    zones = leg_zones(network, trip)
    direct = trip["first"] == DIRECT
    hubs = np.array([*network.hubs, 0])  # the last stands for no hub
    first_hub, last_hub = hubs[trip["first"]], hubs[trip["last"]]
    by_shuttle = trip["access"] == Access.SHUTTLE
    drive_s = shuttle_wait_s + network.shuttle_s[trips.origin, first_hub]
    walk_s = np.where(trip["access"] == Access.WALK, network.walk_s[trips.origin, first_hub], 0)
    at_last_s = trips.depart_s + np.where(by_shuttle, drive_s, walk_s) + _bus_s(routes, trips)

    first = direct | by_shuttle
    second = trip["egress"] == Access.SHUTTLE
    pickup = np.concatenate([trips.origin[first], last_hub[second]])
    dropoff = np.concatenate(
        [np.where(direct, trips.destination, first_hub)[first], trips.destination[second]]
    )
    request_s = np.concatenate([trips.depart_s[first], at_last_s[second]])
    zone = np.concatenate([zones[0][first], zones[1][second]])
    order = np.argsort(request_s, kind="stable")
    chosen = [order[zone[order] == number] for number in range(len(network.locations.zones))]
    return tuple(
        ShuttleLegs(request_s=request_s[some], pickup=pickup[some], dropoff=dropoff[some])
        for some in chosen
    )


def _bus_s(routes: Itineraries, trips: RiderTrips) -> IntArray:
    """Returns the planned seconds of every trip from its first hub to its last."""
    ends = trips.origin, trips.destination
    by_bus = routes.first[ends] != routes.last[ends]
    first, last = routes.first[ends][by_bus], routes.last[ends][by_bus]
    rides = routes.rides
    # Not the cost of a ride: a change costs riders more than the time that it takes.
    half_s = np.array([*(line.headway_s // 2 for line in routes.network.lines), 0])
    single_s = half_s[rides.line] + rides.ride_s
    change = rides.change[first, last]
    change = np.where(change == NO_CHANGE, last, change)
    planned = np.zeros(len(trips), dtype=np.int64)
    # From a hub to itself there is no line, and it takes no time.
    planned[by_bus] = single_s[first, change] + single_s[change, last]
    return planned
