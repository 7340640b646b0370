"""Links near a point, each with the nearest place on its course."""

from typing import NamedTuple

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.matching.courses import Courses
from hushway.families.links.matching.grid import Grid, cell_range, square_and_share
from hushway.numerics.compiled import compiled_for_threads
from hushway.numerics.records import Rows, rows


class Found(NamedTuple):
    """What is found near one point; one for each thread, used again for each point.

    Attributes:
        clock: The number of the current search.
        of_link: Rows of links: the number of the last search that has seen each, and its slot
            among those found.
        near: Rows of what was found: link, twin that shares its course or -1, square of the
            distance in metres, offset along the link of its nearest place.
        order: The slots of what was found, nearest first.
    """

    clock: IntArray
    of_link: Rows
    near: Rows
    order: IntArray


def nothing_found(links: int) -> Found:
    """Returns the memory of searches in a network of so many links."""
    return Found(
        clock=np.zeros(1, dtype=np.int64),
        of_link=rows(links, seen=np.int64, slot=np.int64),
        near=rows(links, link=np.int64, twin=np.int64, square=np.float64, offset=np.float64),
        order=np.zeros(links, dtype=np.int64),
    )


@compiled_for_threads
def find_near(
    courses: Courses, grid: Grid, found: Found, point: tuple[float, float], radius: float
) -> int:
    """Finds the links within a radius, and returns how many."""
    x, y = point
    segments, of_link, near = courses.segment, found.of_link, found.near
    found.clock[0] += 1
    now = found.clock[0]
    most = radius * radius
    count = 0
    left, right = cell_range(x - radius, x + radius, grid.x, grid.side, grid.columns)
    low, high = cell_range(y - radius, y + radius, grid.y, grid.side, grid.rows)
    for row in range(low, high):
        if left >= right:
            break
        first = row * grid.columns
        # The cells of a row lie side by side in memory.
        for at in range(grid.start[first + left], grid.start[first + right]):
            i = grid.segment[at]
            square, share = square_and_share(segments, i, x, y)
            if square > most:
                continue
            link = segments[i].link
            if of_link[link].seen != now:
                of_link[link].seen = now
                of_link[link].slot = count
                near[count].link = link
                near[count].twin = segments[i].twin
                near[count].square = np.inf
                count += 1
            slot = of_link[link].slot
            if square < near[slot].square:
                near[slot].square = square
                near[slot].offset = segments[i].offset + share * segments[i].extent
    _sort(near, found.order, count)
    return count


@compiled_for_threads
def _sort(near: Rows, order: IntArray, count: int) -> None:
    """Orders what was found; equally near links stay in the order of the grid."""
    few = 48
    if count > few:
        squares = np.empty(count)
        for i in range(count):
            squares[i] = near[i].square
        order[:count] = np.argsort(squares, kind="mergesort")
        return
    # Few things are sorted fastest by putting each where it belongs.
    for i in range(count):
        square = near[i].square
        at = i
        while at > 0 and near[order[at - 1]].square > square:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i


@compiled_for_threads
def place_on_link(
    courses: Courses, first: IntArray, link: int, point: tuple[float, float]
) -> tuple[float, float, float]:
    """Returns where on a link's course the nearest place to a point is: offset, x and y.

    Args:
        courses: The segments.
        first: The first segment of each link; a negative number -1 - s if the link has no segments
            of its own and those of its twin begin at s.
        link: The link.
        point: The point.
    """
    i = first[link]
    turned = i < 0
    if turned:
        i = -1 - i
    segments = courses.segment
    owner = segments[i].link
    best, offset, x, y = np.inf, 0.0, 0.0, 0.0
    while i < len(segments) and segments[i].link == owner:
        square, share = square_and_share(segments, i, point[0], point[1])
        if square < best:
            best = square
            offset = segments[i].offset + share * segments[i].extent
            x = segments[i].ax + share * (segments[i].bx - segments[i].ax)
            y = segments[i].ay + share * (segments[i].by - segments[i].ay)
        i += 1
    if turned:
        offset = turned_offset(courses.length, owner, link, offset)
    return offset, x, y


@compiled_for_threads
def turned_offset(length: FloatArray, link: int, twin: int, offset: float) -> float:
    """Returns how far along its twin a place of a link is."""
    return float(max(length[twin] * (1.0 - offset / length[link]), 0.0))


def first_segments(courses: Courses) -> IntArray:
    """Returns the first segment of each link, as `place_on_link` reads it."""
    first = np.zeros(len(courses.length), dtype=np.int64)
    link, twin = courses.segment["link"], courses.segment["twin"]
    begins = np.flatnonzero(np.diff(link, prepend=-1) != 0)
    first[link[begins]] = begins
    shared = begins[twin[begins] >= 0]
    first[twin[shared]] = -1 - shared
    return first
