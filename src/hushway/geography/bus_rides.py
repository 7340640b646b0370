"""The best way between hubs by bus: on one line, or with one change."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.geography.transit import TransitNetwork

NEVER = np.inf
NO_CHANGE = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class BusRides:
    """The best way from every hub (row) to every other (column).

    Attributes:
        cost_s: What a rider expects it to cost: waits of half a headway, rides, and a change.
            Infinite where no line goes, 0 from a hub to itself.
        change: The hub where a rider changes lines, an index into the network's hubs; -1 if none.
        line: Of the best single ride, which line; meaningful where one line joins the two hubs.
        board: Of that ride, which stop of the line it begins at.
        alight: Which stop it ends at.
        ride_s: Seconds on that line, without the wait.
    """

    cost_s: FloatArray
    change: IntArray
    line: IntArray
    board: IntArray
    alight: IntArray
    ride_s: IntArray


def bus_rides(network: TransitNetwork, *, change_s: int) -> BusRides:
    """Returns the best way between all hubs; two rides at the most.

    Args:
        network: The network.
        change_s: What a change of bus costs a rider, beside the wait.
    """
    hubs = len(network.hubs)
    single = np.full((hubs, hubs), NEVER)
    line = np.full((hubs, hubs), -1, dtype=np.int64)
    board, alight, ride_s = line.copy(), line.copy(), np.zeros((hubs, hubs), dtype=np.int64)
    for number, each in enumerate(network.lines):
        stops = network.hub_number[list(each.stops)]
        clock = np.concatenate([[0], np.cumsum(each.ride_s)])
        for first in range(len(stops)):
            for last in range(first + 1, len(stops)):
                ends = stops[first], stops[last]
                cost = each.headway_s / 2 + clock[last] - clock[first]
                if cost < single[ends]:
                    single[ends], line[ends] = cost, number
                    board[ends], alight[ends] = first, last
                    ride_s[ends] = clock[last] - clock[first]
    by_way = single[:, :, None] + single[None, :, :] + change_s
    change = by_way.argmin(axis=1) if hubs else np.zeros((0, 0), dtype=np.int64)
    changed = by_way.min(axis=1, initial=NEVER)
    np.fill_diagonal(single, 0.0)
    one = single <= changed
    return BusRides(
        cost_s=np.where(one, single, changed),
        change=np.where(one | ~np.isfinite(changed), NO_CHANGE, change),
        line=line,
        board=board,
        alight=alight,
        ride_s=ride_s,
    )
