"""When people are where on their way: speeds by class and hour, and waits at crossings."""

from typing import NamedTuple

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.public.roads import RoadNetwork
from hushway.numerics.compiled import compiled

# Share of the usual speed that is left in the middle of a rush hour, by class from 1 on.
_RUSH_SPEED = np.array([1.0, 0.55, 0.6, 0.65, 0.75, 0.85])
# How much of the rush there is at each hour of the day.
_RUSH_BY_HOUR = np.array(
    [
        *(0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.4, 0.9, 1.0, 0.6, 0.3, 0.3),
        *(0.4, 0.35, 0.4, 0.6, 0.9, 1.0, 0.8, 0.4, 0.2, 0.1, 0.0, 0.0),
    ]
)
_HOUR_S = 3_600.0

# Chance to wait at the end of a link, by class, and the longest wait.
_WAITING = np.array([0.0, 0.0, 0.3, 0.3, 0.25, 0.15])
_LONGEST_WAIT_S = 40.0
_BETWEEN_TRIPS_S = 60.0


class Times(NamedTuple):
    """Seconds at which each link of each trip was entered, driven to its end, and left."""

    entered: FloatArray
    driven: FloatArray
    left: FloatArray


def pace_of(roads: RoadNetwork, hour: IntArray) -> FloatArray:
    """Returns the metres per second of each link at its hour."""
    slowed = 1 - (1 - _RUSH_SPEED[roads.road_class]) * _RUSH_BY_HOUR[hour]
    return np.asarray(0.85 * roads.speed / 3.6 * slowed, dtype=np.float64)


def waits_of(roads: RoadNetwork, link: IntArray, rng: np.random.Generator) -> FloatArray:
    """Returns how long each trip waits at the end of each link: mostly not at all."""
    corners = np.bincount(roads.tail, minlength=roads.nodes) > 2
    chance = (_WAITING[roads.road_class] * corners[roads.head])[link]
    drawn = rng.random(len(link)) / np.where(chance > 0, chance, 1.0)
    waits = (chance > 0) & (drawn < 1)
    return np.where(waits, np.rint(_LONGEST_WAIT_S * drawn), 0.0)


def times_of(
    roads: RoadNetwork,
    courses: tuple[IntArray, IntArray, FloatArray, FloatArray],
    planned: tuple[IntArray, FloatArray],
    haste: FloatArray,
    waits: FloatArray,
) -> Times:
    """Returns the times of all trips.

    Trips begin at whole seconds, as planned, or a minute after the trip before ended.

    Args:
        roads: The road network.
        courses: Where the links of each trip begin, the links, and how far along their links trips
            begin and end.
        planned: The person of each trip, in order, and when the trip should begin.
        haste: Times as fast as others, for each trip.
        waits: Wait at the end of each link of each trip.
    """
    by_hour = np.stack([pace_of(roads, np.full(roads.links, hour)) for hour in range(24)], axis=1)
    return Times(*_times((roads.length, by_hour), courses, planned, haste, waits))


@compiled
def _times(
    links: tuple[FloatArray, FloatArray],
    courses: tuple[IntArray, IntArray, FloatArray, FloatArray],
    planned: tuple[IntArray, FloatArray],
    haste: FloatArray,
    waits: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    length, pace = links
    start, link, begins, ends = courses
    person, second = planned
    entered, driven, left = np.empty(len(link)), np.empty(len(link)), np.empty(len(link))
    now = 0.0
    for trip in range(len(start) - 1):
        same = trip > 0 and person[trip] == person[trip - 1]
        now = np.ceil(max(second[trip], now + _BETWEEN_TRIPS_S) if same else second[trip])
        for i in range(start[trip], start[trip + 1]):
            share = 1.0
            if i == start[trip]:
                share -= begins[trip]
            if i == start[trip + 1] - 1:
                share -= 1.0 - ends[trip]
            hour = int(now // _HOUR_S) % 24
            entered[i] = now
            now += share * length[link[i]] / (pace[link[i], hour] * haste[trip])
            driven[i] = now
            # Whoever has arrived waits no more.
            now += waits[i] if i < start[trip + 1] - 1 else 0.0
            left[i] = now
    return entered, driven, left
