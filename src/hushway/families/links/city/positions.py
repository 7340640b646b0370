"""Where vehicles are when their devices take a position."""

from typing import NamedTuple

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.city.clock import Times
from hushway.families.links.city.routes import Courses
from hushway.families.links.public.roads import RoadNetwork
from hushway.numerics.compiled import compiled


class Positions(NamedTuple):
    """True positions of trips, one trip after the other.

    Attributes:
        start: Where the positions of each trip begin; one entry more than trips.
        lon: Longitude.
        lat: Latitude.
        seconds: When, in whole seconds.
        link: The link of each position.
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
    """Returns a position at the beginning of each trip, one in each interval, and one at its end.

    Args:
        roads: The road network.
        courses: The links of each trip.
        times: The times of each link of each trip.
        interval_s: The interval of each trip.
    """
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
