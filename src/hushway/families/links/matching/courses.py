"""The courses of all links as straight segments, the two directions of a street only once."""

from typing import NamedTuple

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.public.roads import RoadNetwork
from hushway.numerics.records import Rows, rows_of


class Courses(NamedTuple):
    """Straight segments in metres.

    Attributes:
        segment: Rows of segments, those of a link one after the other: where each begins (ax, ay)
            and ends (bx, by); its link; the twin that runs along the same course the other way, or
            -1; the street; the offset along the link at which it begins; the extent that it has on
            it. Offsets and extents are on the scale of the link's length.
        length: Length of each link.
    """

    segment: Rows
    length: FloatArray


def courses_of(roads: RoadNetwork) -> Courses:
    """Cuts the courses of links into segments."""
    twin = _twins(roads)
    link = np.repeat(np.arange(roads.links), np.diff(roads.start) - 1)
    # The last point of a course begins no segment.
    first = np.ones(len(roads.lon), dtype=np.bool_)
    first[roads.start[1:] - 1] = False
    at = np.flatnonzero(first)
    (ax, ay), (bx, by) = roads.points[at].T, roads.points[at + 1].T
    metres = np.hypot(bx - ax, by - ay)
    whole = np.bincount(link, weights=metres, minlength=roads.links)
    extent = metres * (roads.length / np.where(whole > 0, whole, 1.0))[link]
    before = np.cumsum(extent) - extent
    begins = (roads.start[:-1] - np.arange(roads.links))[link]
    once = (twin < 0) | (np.arange(roads.links) < twin)
    kept = once[link]
    segment = rows_of(
        ax=ax[kept],
        ay=ay[kept],
        bx=bx[kept],
        by=by[kept],
        link=link[kept],
        twin=twin[link][kept],
        street=roads.street[link][kept].astype(np.int64),
        offset=(before - before[begins])[kept],
        extent=extent[kept],
    )
    return Courses(segment=segment, length=roads.length.astype(np.float64))


def opposites(roads: RoadNetwork) -> IntArray:
    """Returns the other direction of each link's street; -1 for a street of one direction."""
    order = np.argsort(roads.street, kind="stable")
    street = roads.street[order]
    pair = np.flatnonzero(street[1:] == street[:-1])
    one, other = order[pair], order[pair + 1]
    turned = (roads.tail[one] == roads.head[other]) & (roads.head[one] == roads.tail[other])
    found = np.full(roads.links, -1, dtype=np.int64)
    found[one[turned]], found[other[turned]] = other[turned], one[turned]
    return found


def _twins(roads: RoadNetwork) -> IntArray:
    """Returns the opposites that have exactly the same points in reverse."""
    opposite = opposites(roads)
    points = np.diff(roads.start)
    one = np.flatnonzero(opposite >= 0)
    one = one[points[one] == points[opposite[one]]]
    owner, forth = _places(roads.start[:-1][one], points[one])
    back = (roads.start[1:][opposite[one]] - 1)[owner] - (forth - roads.start[:-1][one][owner])
    differs = (roads.lon[forth] != roads.lon[back]) | (roads.lat[forth] != roads.lat[back])
    unlike = np.bincount(owner, weights=differs, minlength=len(one)) > 0
    twin = np.full(roads.links, -1, dtype=np.int64)
    twin[one[~unlike]] = opposite[one[~unlike]]
    return twin


def _places(first: IntArray, count: IntArray) -> tuple[IntArray, IntArray]:
    """Returns all places first, first + 1, ... of each owner, and the owners."""
    owner = np.repeat(np.arange(len(first)), count)
    begins = np.cumsum(count) - count
    return owner, first[owner] + np.arange(len(owner)) - begins[owner]
