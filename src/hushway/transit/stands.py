"""Where the shuttles of a zone wait for riders: where riders usually ask for them."""

import numpy as np

from hushway.arrays import IntArray
from hushway.geography.transit import TransitNetwork


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
