"""When the taps of a card city are made: peaks in the morning and the evening."""

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.city.days import CardTrips
from hushway.families.sequences.city.network import Network
from hushway.families.sequences.city.taps import Taps

_DAY_S = 24 * 60 * 60
# No trip ends later; what is left of the day is room for taps that must follow one another.
_CLOSES_S = 24 * 60 * 60 - 600
_EARLIEST_H, _LATEST_H = 5.5, 23.5
_MORNING_H, _EVENING_H = (8.2, 1.8), (17.2, 2.6)
_OFF_PEAK = 0.2
_PACE_M_PER_S, _WAIT_S = 7.0, 240.0


def seconds_of(
    taps: Taps, trips: CardTrips, network: Network, rng: np.random.Generator
) -> IntArray:
    """Returns the second of the day of each tap, ascending within a record."""
    begins = _departures(trips, rng)
    last = np.zeros(len(begins), dtype=np.bool_)
    last[trips.first[1:] - 1] = True
    ends = np.where(last, _CLOSES_S, np.append(begins[1:], _CLOSES_S))
    lasts = _WAIT_S + network.distance_m[trips.origin, trips.destination] / _PACE_M_PER_S
    lasts = np.minimum(lasts, 0.9 * (ends - begins))
    second = (begins[taps.trip] + taps.progress * lasts[taps.trip]).astype(np.int64)
    return _ascending(second, taps.start)


def _departures(trips: CardTrips, rng: np.random.Generator) -> FloatArray:
    """Draws when trips begin: the first early, the second late, all others at any time."""
    count = len(trips.origin)
    number = np.arange(count) - np.repeat(trips.first[:-1], np.diff(trips.first))
    bell = rng.random(count) + rng.random(count) + rng.random(count) - 1.5
    hour = _EARLIEST_H + (_LATEST_H - _EARLIEST_H) * rng.random(count)
    peak = rng.random(count) >= _OFF_PEAK
    for which, (middle, width) in enumerate((_MORNING_H, _EVENING_H)):
        hour = np.where(peak & (number == which), middle + width * bell, hour)
    # Sorting by record and time at once gives every record its own times back in order.
    offset = trips.record * float(_DAY_S)
    return np.sort(offset + 3_600.0 * hour) - offset


def _ascending(second: IntArray, start: IntArray) -> IntArray:
    """Moves taps of a record that fall into the same second to the next ones."""
    length = np.diff(start)
    place = np.arange(len(second)) - np.repeat(start[:-1], length)
    offset = np.repeat(np.arange(len(length)), length) * (2 * _DAY_S)
    # A second ascends from tap to tap if it does not descend after its place is taken off.
    return np.maximum.accumulate(offset + second - place + _DAY_S) - _DAY_S + place - offset
