"""Where vehicles are when their devices take a position."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.city.plans import Ground
from hushway.families.links.matching.routing import shortest_routes
from hushway.families.links.public.roads import RoadNetwork
from hushway.numerics.chance import generator
from hushway.numerics.compiled import compiled
from hushway.numerics.threads import processors

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
    """Returns the way of each trip from link to link; empty if there is none."""
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


class Positions(NamedTuple):
    """True positions of trips, one trip after the other.

    Attributes:
        start: Where the positions of each trip begin; one entry more than trips.
        seconds: When, in whole seconds.
        speed: Speed in km/h.
        heading: Direction in degrees from north, clockwise.
    """

    start: IntArray
    lon: FloatArray
    lat: FloatArray
    seconds: FloatArray
    link: IntArray
    speed: FloatArray
    heading: FloatArray


def positions_of(
    roads: RoadNetwork, courses: Courses, times: Times, interval_s: IntArray
) -> Positions:
    """Returns positions at both ends of each trip, and one in each interval."""
    step = np.hypot(*np.diff(roads.points, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(step)])
    return Positions(
        *_positions(
            (roads.start, roads.lon, roads.lat, along, roads.points), courses, times, interval_s
        )
    )


@compiled
def _positions(
    ground: tuple[IntArray, FloatArray, FloatArray, FloatArray, FloatArray],
    courses: Courses,
    times: Times,
    interval_s: IntArray,
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray, IntArray, FloatArray, FloatArray]:
    first_point, course_lon, course_lat, along, points = ground
    trips = len(courses.start) - 1
    start = np.zeros(trips + 1, dtype=np.int64)
    for trip in range(trips):
        begin = times.entered[courses.start[trip]]
        lasts = np.ceil(times.driven[courses.start[trip + 1] - 1]) - begin
        start[trip + 1] = start[trip] + 1 + int(np.ceil(lasts / interval_s[trip]))
    total = start[trips]
    lon, lat, seconds = np.empty(total), np.empty(total), np.empty(total)
    link = np.empty(total, dtype=np.int64)
    speed, heading = np.empty(total), np.empty(total)
    for trip in range(trips):
        low, high = courses.start[trip], courses.start[trip + 1]
        end = np.ceil(times.driven[high - 1])
        i = low
        for k in range(start[trip], start[trip + 1]):
            now = min(times.entered[low] + (k - start[trip]) * interval_s[trip], end)
            while i < high - 1 and now >= times.left[i]:
                i += 1
            here = courses.link[i]
            share_from = courses.begins[trip] if i == low else 0.0
            share_to = courses.ends[trip] if i == high - 1 else 1.0
            lasts = times.driven[i] - times.entered[i]
            done = min(1.0, (now - times.entered[i]) / lasts) if lasts > 0 else 1.0
            a, b = first_point[here], first_point[here + 1] - 1
            metres = along[b] - along[a]
            mark = along[a] + metres * (share_from + done * (share_to - share_from))
            p = a
            while p < b - 1 and along[p + 1] < mark:
                p += 1
            piece = along[p + 1] - along[p]
            part = (mark - along[p]) / piece if piece > 0 else 0.0
            lon[k] = course_lon[p] + part * (course_lon[p + 1] - course_lon[p])
            lat[k] = course_lat[p] + part * (course_lat[p + 1] - course_lat[p])
            east = points[p + 1, 0] - points[p, 0]
            north = points[p + 1, 1] - points[p, 1]
            heading[k] = np.degrees(np.arctan2(east, north)) % 360.0
            moving = done < 1.0 and lasts > 0
            speed[k] = 3.6 * metres * (share_to - share_from) / lasts if moving else 0.0
            seconds[k] = now
            link[k] = here
    return start, lon, lat, seconds, link, speed, heading
