"""The legs by shuttle that trips will ask for, zone by zone, as far as one can plan them."""

import numpy as np

from hushway.arrays import IntArray
from hushway.geography.itineraries import DIRECT, NO_CHANGE, Access, Itineraries
from hushway.geography.transit import TransitNetwork
from hushway.transit.rider_trips import RiderTrips
from hushway.transit.trip_rows import ShuttleLegs, leg_zones, trip_rows


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


def stand_order(network: TransitNetwork, zone: int, pickups: IntArray) -> IntArray:
    """Returns where each next shuttle of a zone waits, given the places where riders ask.

    First every place where somebody asks gets one shuttle: always that place next which brings
    riders and their nearest shuttle together most, all riders taken together. Then places get more
    by the number of their riders, as parties get seats by their votes. There are as many stands as
    riders, and as many of them at a place as riders ask there: with all of them nobody waits,
    since whenever a rider asks, fewer shuttles have left the place than it has.
    """
    places, riders = np.unique(pickups, return_counts=True)
    if not len(places):
        return np.flatnonzero(network.zone == zone)
    first = _spread(network.shuttle_s[np.ix_(places, places)], riders)
    rank = np.argsort(first)
    more = np.repeat(np.arange(len(places)), riders - 1)
    begin = np.cumsum(riders - 1) - (riders - 1)
    share = riders[more] / (np.arange(len(more)) - begin[more] + 2)
    order = np.lexsort((rank[more], -share))
    return np.asarray(places[np.concatenate([first, more[order]])])


def stands(order: IntArray, count: int) -> IntArray:
    """Returns the stand of each of so many shuttles; stands that ran out are used again."""
    return order[np.arange(count) % len(order)]


def _spread(drive_s: IntArray, riders: IntArray) -> IntArray:
    """Returns places in the order in which each next one saves riders the most seconds."""
    # Farther than any place: the first stand is the one with the least drive to all riders.
    nearest_s = np.full(len(riders), drive_s.max() + 1)
    order = np.zeros(len(riders), dtype=np.int64)
    left = np.ones(len(riders), dtype=np.bool_)
    for number in range(len(riders)):
        saved_s = np.maximum(nearest_s - drive_s, 0) @ riders
        order[number] = np.where(left, saved_s, -1).argmax()
        left[order[number]] = False
        nearest_s = np.minimum(nearest_s, drive_s[order[number]])
    return order
