"""Buses that run along lines, each with so many seats."""

from typing import NamedTuple

import numpy as np

from hushway.arrays import IntArray
from hushway.geography.bus_rides import BusRides
from hushway.geography.transit import TransitNetwork
from hushway.numerics.compiled import compiled_for_threads
from hushway.numerics.records import Rows, rows

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
        seats: Riders that a bus holds.
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
    count = len(network.lines)
    line = rows(
        count,
        headway=np.int64,
        first=np.int64,
        runs=np.int64,
        stops=np.int64,
        clock=np.int64,
        load=np.int64,
    )
    clocks = [np.concatenate([[0], np.cumsum(each.ride_s)]) for each in network.lines]
    begin, loads = 0, 0
    for number, (each, clock) in enumerate(zip(network.lines, clocks, strict=True)):
        first = (start_s - int(clock[-1])) // each.headway_s
        runs = (end_s + _LONGEST_TRIP_S) // each.headway_s - first + 1
        line[number] = (each.headway_s, first, runs, len(each.stops), begin, loads)
        begin += len(clock)
        loads += runs * len(each.stops)
    hubs = len(network.hubs)
    ride = rows(hubs * hubs, line=np.int64, board=np.int64, alight=np.int64).reshape(hubs, hubs)
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
