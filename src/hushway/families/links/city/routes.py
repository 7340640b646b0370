"""The ways that people take: the fastest by their own taste, from place to place."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.city.clock import pace_of
from hushway.families.links.city.people import Ground
from hushway.families.links.matching.routing import shortest_routes
from hushway.numerics.compiled import compiled
from hushway.numerics.processors import processors
from hushway.study.chance import generator

# So many tastes, each for quiet hours and for rush hours: people differ, and so do their routes.
_TASTES = 24
_LEAST, _MOST = 0.75, 1.75
_FIRST_STREAM = 200
_QUIET_HOUR, _RUSH_HOUR = 11, 8
_RUSH = ((7 * 3_600, 10 * 3_600), (16 * 3_600, 19 * 3_600))
_DAY_S = 86_400


class Courses(NamedTuple):
    """Ways as links, one trip after the other.

    Attributes:
        start: Where the links of each trip begin; one entry more than trips.
        link: The links of all trips in a row.
        begins: How far along its first link each trip begins, as a share.
        ends: How far along its last link it ends.
    """

    start: IntArray
    link: IntArray
    begins: FloatArray
    ends: FloatArray


def courses_of(
    ground: Ground,
    seed: int,
    ends: tuple[IntArray, IntArray],
    taste: FloatArray,
    second: FloatArray,
) -> Courses:
    """Returns the way of each trip from link to link; empty if there is none.

    Args:
        ground: The city.
        seed: Chooses the tastes.
        ends: The links to leave from and to go to.
        taste: The taste of each trip's person, from 0 to 1.
        second: When each trip begins.
    """
    clock = second % _DAY_S
    rush = np.zeros(len(clock), dtype=np.int64)
    for begin, end in _RUSH:
        rush |= (clock >= begin) & (clock < end)
    kind = np.minimum((taste * _TASTES).astype(np.int64), _TASTES - 1) * 2 + rush
    origin, destination = ground.roads.head[ends[0]], ground.roads.tail[ends[1]]
    order = np.argsort(kind, kind="stable")
    cuts = np.searchsorted(kind[order], np.arange(2 * _TASTES + 1))

    def routes(number: int) -> tuple[IntArray, IntArray]:
        trips = order[cuts[number] : cuts[number + 1]]
        cost = _cost(ground, seed, number)
        return shortest_routes(ground.roads, origin[trips], destination[trips], cost, threads=1)

    # By tastes, because each has costs of its own: the number of threads never shows.
    with ThreadPoolExecutor(max_workers=processors()) as pool:
        found = list(pool.map(routes, range(2 * _TASTES)))
    size = np.concatenate([np.diff(start) for start, _ in found])
    begins = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    link = np.concatenate([links for _, links in found])
    place: IntArray = np.argsort(order, kind="stable").astype(np.int64)
    share = _shares(ground.roads.links)
    nodes = origin, destination
    return Courses(*_whole((begins, link, place), ends, nodes, ground.reverse, share))


def _shares(links: int) -> FloatArray:
    """Returns how far along each link its place lies: between a fifth and four fifths."""
    # Multiples of the golden ratio never crowd.
    spread = np.arange(links, dtype=np.float64) * 0.618033988749895 % 1.0
    return np.asarray(0.2 + 0.6 * spread, dtype=np.float64)


def _cost(ground: Ground, seed: int, number: int) -> FloatArray:
    taste, rush = divmod(number, 2)
    hour = np.full(ground.roads.links, _RUSH_HOUR if rush else _QUIET_HOUR)
    liking = generator(seed, _FIRST_STREAM + taste).random(ground.roads.links)
    # Crossings cost time as well, so that nobody zigzags through back streets.
    seconds = ground.roads.length / pace_of(ground.roads, hour) + 4.0
    return np.asarray(seconds * (_LEAST + (_MOST - _LEAST) * liking**2), dtype=np.float64)


@compiled
def _whole(
    routes: tuple[IntArray, IntArray, IntArray],
    ends: tuple[IntArray, IntArray],
    nodes: tuple[IntArray, IntArray],
    reverse: IntArray,
    share: FloatArray,
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Puts the first and last link to each route, without a turn on the spot at either end.

    Whoever would turn round at the first corner leaves in the other direction at once, and
    whoever would pass the destination to turn round behind it stops on the way.
    """
    begin, link, place = routes
    trips = len(place)
    start = np.zeros(trips + 1, dtype=np.int64)
    way = np.empty(len(link) + 2 * trips, dtype=np.int64)
    begins, stops = np.zeros(trips), np.zeros(trips)
    filled = 0
    for trip in range(trips):
        low, high = begin[place[trip]], begin[place[trip] + 1]
        first, last = ends[0][trip], ends[1][trip]
        start[trip + 1] = filled
        there = nodes[0][trip] == nodes[1][trip]
        if (low == high and not there) or first == last or first == reverse[last]:
            continue
        begins[trip], stops[trip] = share[first], share[last]
        if low < high and link[low] == reverse[first]:
            begins[trip] = 1.0 - share[first]
        else:
            way[filled] = first
            filled += 1
        for i in range(low, high):
            way[filled] = link[i]
            filled += 1
        if low < high and link[high - 1] == reverse[last]:
            stops[trip] = 1.0 - share[last]
        else:
            way[filled] = last
            filled += 1
        start[trip + 1] = filled
    return start, way[:filled].copy(), begins, stops
