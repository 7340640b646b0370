"""Discrete-event simulation of one day of operations.

Every trip has one next event at a time, and so has every shuttle: a heap of both is all there is to
remember. Whoever happens first goes first; at the same second shuttles make their stops before
riders ask, and among equals the smaller number goes first. So the same trips and the same fleet
give the same day every time.
"""

from typing import NamedTuple

import numpy as np

from hushway.arrays import IntArray
from hushway.geography.itineraries import DIRECT, Access, BusRides
from hushway.geography.transit import TransitNetwork
from hushway.numerics.compiled import Rows, compiled_for_threads, rows, whole_rows
from hushway.numerics.search import drop, push
from hushway.transit.routes import (
    NOWHERE,
    Insertion,
    Ride,
    Shuttles,
    best_insertion,
    finish_stop,
    insert,
)

# Nobody is still on a bus so long after the last trip began.
_LONGEST_TRIP_S = 6 * 60 * 60


class Buses(NamedTuple):
    """The buses of a network from some moment on.

    Attributes:
        line: Rows of lines: the headway; the number of the first bus and how many there are; stops;
            where its clock begins (clock) and where its loads begin (load).
        ride: Rows of the best single ride between hubs, a line each hub: line, board, alight.
        clock: For each line the seconds from its first stop to every stop.
        load: For each line and bus, the riders on board after each stop.
    """

    line: Rows
    ride: Rows
    clock: IntArray
    load: IntArray
    seats: int


class BusTrip(NamedTuple):
    """When a rider leaves by bus and when she is there; -1 if no bus has room any more."""

    leaves_s: int
    arrives_s: int


def buses_from(
    network: TransitNetwork, rides: BusRides, *, seats: int, start_s: int, end_s: int
) -> Buses:
    """Returns the empty buses that riders can board from start to well after end.

    A bus of each line leaves its first stop at midnight, and one every headway before and after.
    """
    line = whole_rows(len(network.lines), "headway first runs stops clock load")
    clocks = [np.concatenate([[0], np.cumsum(each.ride_s)]) for each in network.lines]
    begin, loads = 0, 0
    for number, (each, clock) in enumerate(zip(network.lines, clocks, strict=True)):
        first = (start_s - int(clock[-1])) // each.headway_s
        runs = (end_s + _LONGEST_TRIP_S) // each.headway_s - first + 1
        line[number] = (each.headway_s, first, runs, len(each.stops), begin, loads)
        begin += len(clock)
        loads += runs * len(each.stops)
    hubs = len(network.hubs)
    ride = whole_rows(hubs * hubs, "line board alight").reshape(hubs, hubs)
    ride["line"], ride["board"], ride["alight"] = rides.line, rides.board, rides.alight
    return Buses(
        line=line,
        ride=ride,
        clock=np.concatenate([np.zeros(0, dtype=np.int64), *clocks]).astype(np.int64),
        load=np.zeros(loads, dtype=np.int64),
        seats=seats,
    )


@compiled_for_threads
def board(buses: Buses, start: int, end: int, now_s: int) -> BusTrip:
    """Puts a rider on the next bus between two hubs that has a seat all the way."""
    ride = buses.ride[start, end]
    line = buses.line[ride.line]
    leaves = buses.clock[line.clock + ride.board]
    run = max(-((leaves - now_s) // line.headway), line.first)
    while run < line.first + line.runs:
        at = line.load + (run - line.first) * line.stops
        room = True
        for stop in range(ride.board, ride.alight):
            room = room and buses.load[at + stop] < buses.seats
        if room:
            for stop in range(ride.board, ride.alight):
                buses.load[at + stop] += 1
            arrives = buses.clock[line.clock + ride.alight]
            return BusTrip(run * line.headway + leaves, run * line.headway + arrives)
        run += 1
    return BusTrip(-1, -1)


NOT_YET = -1
_SHUTTLE, _WALK = int(Access.SHUTTLE), int(Access.WALK)
_STARTS, _AT_FIRST_HUB, _AT_CHANGE, _AT_LAST_HUB = range(4)
_STEPS = 4
_FOREVER = 1 << 60


class Day(NamedTuple):
    """What a simulation reads and writes.

    Attributes:
        trip: Rows of trips, by departure: depart_s, origin, destination; the hubs first and last,
            and the way to and from them (access, egress), as in `Itineraries`; written are the
            waits for buses, the rides on them and their number, and the arrival (-1 if never).
        leg: Rows of legs by shuttle, two for each trip: the trip and the zone; written are pickup
            and dropoff, the moments of asking, boarding and leaving (-1 if never), and the shuttle
            (-1 if none).
        change: Where riders change buses between two hubs, as in `BusRides`.
        fleet: Where the shuttles of each zone begin, and one number more.
        heap: Memory for the next events.
    """

    trip: Rows
    leg: Rows
    hub: IntArray
    change: IntArray
    walk_s: IntArray
    fleet: IntArray
    heap: Rows


class Limits(NamedTuple):
    """The rules as compiled code reads them, and when to give up.

    Attributes:
        start_s: The beginning of the window in which idle time is counted.
        end_s: Its end.
        most_unserved: More riders whom no shuttle can serve end the simulation.
        most_waiting_s: More seconds of waiting for shuttles, of all riders, do so too.
    """

    most_wait_s: int
    detour: float
    detour_s: int
    start_s: int
    end_s: int
    most_unserved: int = _FOREVER
    most_waiting_s: int = _FOREVER


def event_heap(departures: IntArray, shuttles: int) -> Rows:
    """Returns a heap of the beginnings of trips: what is in order is a heap already."""
    heap = rows(len(departures) + shuttles + 1, key=np.float64, thing=np.int64)
    heap["key"][: len(departures)] = 2 * departures + 1
    heap["thing"][: len(departures)] = np.arange(len(departures)) * _STEPS + _STARTS
    return heap


@compiled_for_threads
def run_day(day: Day, shuttles: Shuttles, buses: Buses, limits: Limits) -> bool:
    """Lets a day pass; returns whether it was finished within the limits."""
    size, unserved, waiting_s = len(day.trip), 0, 0
    while size > 0:
        key, thing = day.heap[0].key, day.heap[0].thing
        size = drop(day.heap, size)
        now_s = int(key) // 2
        if int(key) % 2 == 0:
            size = _make_stop(day, shuttles, thing, limits, size)
            continue
        asks, size = _go_on(day, buses, thing, now_s, size)
        if asks == NOWHERE:
            continue
        chosen, pickup_s = _serve(day, shuttles, limits, asks, now_s)
        if chosen == NOWHERE:
            unserved += 1
            if unserved > limits.most_unserved:
                return False
            continue
        waiting_s += pickup_s - now_s
        if waiting_s > limits.most_waiting_s:
            return False
        if shuttles.shuttle[chosen].stops == 2:  # noqa: PLR2004  it was idle, and now it leaves
            size = push(day.heap, size, 2.0 * shuttles.stop[chosen, 0].time, chosen)
    return True


@compiled_for_threads
def _go_on(day: Day, buses: Buses, thing: int, now_s: int, size: int) -> tuple[int, int]:
    """Takes a rider one step further; returns the leg that she asks for, or -1, and the heap."""
    number, step = thing // _STEPS, thing % _STEPS
    trip = day.trip[number]
    if step == _STARTS:
        return _set_out(day, number, now_s, size)
    if step == _AT_LAST_HUB or trip.first == trip.last:
        return _leave_hub(day, number, now_s), size
    change = day.change[trip.first, trip.last]
    start = trip.first if step == _AT_FIRST_HUB else change
    end = change if step == _AT_FIRST_HUB and change >= 0 else trip.last
    rides = board(buses, start, end, now_s)
    if rides.leaves_s < 0:
        return NOWHERE, size
    trip.bus_wait_s += rides.leaves_s - now_s
    trip.bus_ride_s += rides.arrives_s - rides.leaves_s
    trip.buses += 1
    onwards = _AT_LAST_HUB if end == trip.last else _AT_CHANGE
    return NOWHERE, _then(day, number, onwards, rides.arrives_s, size)


@compiled_for_threads
def _set_out(day: Day, number: int, now_s: int, size: int) -> tuple[int, int]:
    trip = day.trip[number]
    if trip.first == DIRECT:
        return _ask(day, 2 * number, trip.origin, trip.destination, now_s), size
    hub = day.hub[trip.first]
    if trip.access == _SHUTTLE:
        return _ask(day, 2 * number, trip.origin, hub, now_s), size
    walk_s = day.walk_s[trip.origin, hub] if trip.access == _WALK else 0
    return NOWHERE, _then(day, number, _AT_FIRST_HUB, now_s + walk_s, size)


@compiled_for_threads
def _leave_hub(day: Day, number: int, now_s: int) -> int:
    trip = day.trip[number]
    hub = day.hub[trip.last]
    if trip.egress == _SHUTTLE:
        return _ask(day, 2 * number + 1, hub, trip.destination, now_s)
    trip.arrival_s = now_s + (day.walk_s[hub, trip.destination] if trip.egress == _WALK else 0)
    return NOWHERE


@compiled_for_threads
def _ask(day: Day, leg: int, pickup: int, dropoff: int, now_s: int) -> int:
    asked = day.leg[leg]
    asked.pickup, asked.dropoff, asked.request_s = pickup, dropoff, now_s
    return leg


@compiled_for_threads
def _then(day: Day, trip: int, step: int, time_s: int, size: int) -> int:
    return push(day.heap, size, 2.0 * time_s + 1, trip * _STEPS + step)


@compiled_for_threads
def _serve(
    day: Day, shuttles: Shuttles, limits: Limits, number: int, now_s: int
) -> tuple[int, int]:
    """Gives a leg to the shuttle of its zone that it delays least; returns it and the pickup."""
    leg = day.leg[number]
    direct_s = shuttles.drive_s[leg.pickup, leg.dropoff]
    longest_s = int(direct_s * limits.detour) + limits.detour_s
    latest_s = now_s + limits.most_wait_s
    ride = Ride(number, leg.pickup, leg.dropoff, now_s, latest_s, direct_s, longest_s)
    best, chosen = Insertion(_FOREVER, NOWHERE, NOWHERE), NOWHERE
    for shuttle in range(day.fleet[leg.zone], day.fleet[leg.zone + 1]):
        fit = best_insertion(shuttles, shuttle, ride, best.delay_s)
        if fit.pickup != NOWHERE:
            best, chosen = fit, shuttle
    leg.shuttle = chosen
    return chosen, insert(shuttles, chosen, ride, best) if chosen != NOWHERE else 0


@compiled_for_threads
def _make_stop(day: Day, shuttles: Shuttles, number: int, limits: Limits, size: int) -> int:
    """Lets a shuttle make its next stop, and its rider go on from there; returns the heap."""
    one, stop = shuttles.shuttle[number], shuttles.stop[number]
    leg, on, now_s = stop[0].leg, stop[0].on, stop[0].time
    finish_stop(shuttles, number, limits.start_s, limits.end_s)
    if one.stops > 0:
        size = push(day.heap, size, 2.0 * stop[0].time, number)
    if on == 1:
        day.leg[leg].board_s = now_s
        return size
    day.leg[leg].leave_s = now_s
    trip = day.trip[leg // 2]
    if leg % 2 == 0 and trip.first != DIRECT:
        return _then(day, leg // 2, _AT_FIRST_HUB, now_s, size)
    trip.arrival_s = now_s
    return size
