"""Where the shuttles of a zone wait: spread over its places, whatever the demand."""

import numpy as np

from hushway.geography.od import IntArray
from hushway.geography.transit import TransitNetwork


def stand_order(network: TransitNetwork, zone: int) -> IntArray:
    """Returns the places of a zone in the order in which they get a shuttle.

    The first is in the middle of the zone, and each next one where it is farthest from all others.
    """
    places = np.flatnonzero(network.zone == zone)
    apart_s = network.shuttle_s[np.ix_(places, places)]
    chosen = [int(apart_s.sum(axis=0).argmin())]
    nearest_s = apart_s[chosen[0]].copy()
    while len(chosen) < len(places):
        # What is chosen is no distance from itself; a place that shares its spot comes at the end.
        nearest_s[chosen] = -1
        chosen.append(int(nearest_s.argmax()))
        nearest_s = np.minimum(nearest_s, apart_s[chosen[-1]])
    return places[chosen]


def stands(order: IntArray, count: int) -> IntArray:
    """Returns the stand of each of so many shuttles; places that ran out are used again."""
    return order[np.arange(count) % len(order)]
