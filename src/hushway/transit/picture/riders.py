"""Who rides where: what the picture of a network counts before it draws."""

import numpy as np

from hushway.arrays import IntArray
from hushway.geography.bus_rides import NO_CHANGE
from hushway.geography.itineraries import MODES, Itineraries
from hushway.transit.planned_legs import planned_legs
from hushway.transit.rider_trips import RiderTrips


def riders_by_stretch(routes: Itineraries, trips: RiderTrips) -> tuple[IntArray, ...]:
    """Returns, for each line, the riders on its way from each stop to the next.

    Args:
        routes: The way of every pair of places.
        trips: The trips, each by its way.
    """
    start, end = _bus_rides(routes, trips)
    rides, lines = routes.rides, routes.network.lines
    # The stops of all lines stand in one row; riders add 1 where they board and take it away where
    # they get off, so that sums from the left are the riders on board.
    first_stop = np.concatenate([[0], np.cumsum([len(line.stops) for line in lines])])
    first_stop = first_stop.astype(np.int64)
    line = rides.line[start, end]
    boarded = first_stop[line] + rides.board[start, end]
    left = first_stop[line] + rides.alight[start, end]
    stops = int(first_stop[-1])
    change = np.bincount(boarded, minlength=stops) - np.bincount(left, minlength=stops)
    on_board = np.cumsum(change)
    return tuple(
        on_board[first_stop[number] : first_stop[number + 1] - 1] for number in range(len(lines))
    )


def shuttle_pickups(routes: Itineraries, trips: RiderTrips) -> IntArray:
    """Returns how many riders a shuttle picks up at each place."""
    # When a leg is asked for does not matter here.
    legs = planned_legs(routes, trips, shuttle_wait_s=0)
    pickup = np.concatenate([each.pickup for each in legs])
    return np.bincount(pickup, minlength=len(routes.network.locations))


def trips_by_mode(routes: Itineraries, trips: RiderTrips) -> IntArray:
    """Returns how many trips go by each of the `MODES`."""
    mode = routes.mode[trips.origin, trips.destination]
    return np.bincount(mode[mode >= 0], minlength=len(MODES))


def bus_trips(routes: Itineraries, trips: RiderTrips) -> int:
    """Returns how many trips ride a bus."""
    ends = trips.origin, trips.destination
    return int((routes.first[ends] != routes.last[ends]).sum())


def _bus_rides(routes: Itineraries, trips: RiderTrips) -> tuple[IntArray, IntArray]:
    """Returns the hubs where each ride on one bus begins and ends."""
    ends = trips.origin, trips.destination
    first, last = routes.first[ends], routes.last[ends]
    by_bus = first != last
    first, last = first[by_bus], last[by_bus]
    change = routes.rides.change[first, last]
    changed = change != NO_CHANGE
    middle = change[changed]
    start = np.concatenate([first[~changed], first[changed], middle])
    return start, np.concatenate([last[~changed], middle, last[changed]])
