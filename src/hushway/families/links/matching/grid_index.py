"""A grid index of road segments: links near a point, each with the nearest place on it."""

from typing import NamedTuple

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.public.roads import RoadNetwork
from hushway.numerics.compiled import Rows, compiled_for_threads, rows, rows_of


class LinkSegments(NamedTuple):
    """Straight segments in metres.

    Attributes:
        segment: Rows of segments, those of a link one after the other: where each begins (ax, ay)
            and ends (bx, by); its link; the twin that runs along the same course the other way, or
            -1; the street; the offset along the link at which it begins; its extent along the link.
            Offsets and extents are on the scale of the link's length.
    """

    segment: Rows
    length: FloatArray


def segments_of(roads: RoadNetwork) -> LinkSegments:
    """Cuts the courses of links into segments; twins are cut once."""
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
    return LinkSegments(segment=segment, length=roads.length.astype(np.float64))


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


# Cells smaller than what is searched only cost time, and empty cells only memory.
_SMALLEST = 50.0
_CELLS_EACH = 4.0


class Grid(NamedTuple):
    """Square cells, row by row from the south-west corner (x, y), with the segments in each.

    Attributes:
        x: Metres east of the corner.
        side: Side of a cell in metres.
        start: Where the segments of each cell begin; one entry more than cells.
    """

    x: float
    y: float
    side: float
    columns: int
    rows: int
    start: IntArray
    segment: IntArray


def grid_of(courses: LinkSegments) -> Grid:
    """Puts segments into the cells that they pass through."""
    segments = courses.segment
    x = np.concatenate([segments["ax"], segments["bx"]])
    y = np.concatenate([segments["ay"], segments["by"]])
    west, south = float(x.min()), float(y.min())
    width, height = float(x.max()) - west, float(y.max()) - south
    side = max(_SMALLEST, float(np.sqrt(width * height / (_CELLS_EACH * len(segments)))))
    columns, rows = int(width / side) + 1, int(height / side) + 1
    empty = Grid(
        x=west,
        y=south,
        side=side,
        columns=columns,
        rows=rows,
        start=np.zeros(columns * rows + 1, dtype=np.int64),
        segment=np.zeros(0, dtype=np.int64),
    )
    counts = np.zeros(columns * rows, dtype=np.int64)
    _visit(segments, empty, counts, empty.segment)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    segment = np.empty(start[-1], dtype=np.int64)
    _visit(segments, empty, start[:-1].copy(), segment)
    return empty._replace(start=start, segment=segment)


@compiled_for_threads
def cell_range(low: float, high: float, origin: float, side: float, count: int) -> tuple[int, int]:
    """Returns the first cell of a row that a stretch touches, and the one after the last."""
    first = int(np.floor((low - origin) / side))
    last = int(np.floor((high - origin) / side)) + 1
    return min(max(first, 0), count), max(min(last, count), 0)


@compiled_for_threads
def _visit(segments: Rows, grid: Grid, at: IntArray, segment: IntArray) -> None:
    """Counts the segments of each cell, or lists them if there is room."""
    half = grid.side / 2
    # A cell whose centre is further from a segment than its corners are is not touched.
    reach = (half * 1.4143) ** 2
    for i in range(len(segments)):
        row_of = segments[i]
        west, east = min(row_of.ax, row_of.bx), max(row_of.ax, row_of.bx)
        south, north = min(row_of.ay, row_of.by), max(row_of.ay, row_of.by)
        left, right = cell_range(west, east, grid.x, grid.side, grid.columns)
        low, high = cell_range(south, north, grid.y, grid.side, grid.rows)
        for row in range(low, high):
            for column in range(left, right):
                x = grid.x + column * grid.side + half
                y = grid.y + row * grid.side + half
                if project_onto_segment(segments, i, x, y)[0] > reach:
                    continue
                cell = row * grid.columns + column
                if len(segment) > 0:
                    segment[at[cell]] = i
                at[cell] += 1


@compiled_for_threads
def project_onto_segment(segments: Rows, i: int, x: float, y: float) -> tuple[float, float]:
    """Returns the squared distance of a point to a segment, and the share along it."""
    ax, ay = segments[i].ax, segments[i].ay
    dx, dy = segments[i].bx - ax, segments[i].by - ay
    px, py = x - ax, y - ay
    square = dx * dx + dy * dy
    share = 0.0
    if square > 0:
        share = min(max((px * dx + py * dy) / square, 0.0), 1.0)
    px -= share * dx
    py -= share * dy
    return px * px + py * py, share


class Nearby(NamedTuple):
    """What is found near one point; one for each thread, used again for each point.

    Attributes:
        of_link: Rows of links: the number of the last search that has seen each, and its slot
            among those found.
        near: Rows of what was found: link, twin that shares its course or -1, squared distance in
            metres, offset along the link of its nearest place.
        order: The slots of what was found, nearest first.
    """

    clock: IntArray
    of_link: Rows
    near: Rows
    order: IntArray


def empty_nearby(links: int) -> Nearby:
    """Returns memory for a network of so many links."""
    return Nearby(
        clock=np.zeros(1, dtype=np.int64),
        of_link=rows(links, seen=np.int64, slot=np.int64),
        near=rows(links, link=np.int64, twin=np.int64, square=np.float64, offset=np.float64),
        order=np.zeros(links, dtype=np.int64),
    )


@compiled_for_threads
def find_near(
    courses: LinkSegments, grid: Grid, found: Nearby, point: tuple[float, float], radius: float
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
            square, share = project_onto_segment(segments, i, x, y)
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
    """Sorts what was found by distance; equally near links stay in the order of the grid."""
    few = 48
    if count > few:
        squares = np.empty(count)
        for i in range(count):
            squares[i] = near[i].square
        sorted_places = np.argsort(squares, kind="mergesort")
        # Assigned one by one: numba takes seconds to compile what it would say of unequal lengths.
        for i in range(count):
            order[i] = sorted_places[i]
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
def project_onto_link(
    courses: LinkSegments, first: IntArray, link: int, point: tuple[float, float]
) -> tuple[float, float, float]:
    """Returns the place on a link that is nearest to a point: offset, x and y.

    `first` has the first segment of each link; a negative number -1 - s if the link has no segments
    of its own and those of its twin begin at s.
    """
    i = first[link]
    turned = i < 0
    if turned:
        i = -1 - i
    segments = courses.segment
    owner = segments[i].link
    best, offset, x, y = np.inf, 0.0, 0.0, 0.0
    while i < len(segments) and segments[i].link == owner:
        square, share = project_onto_segment(segments, i, point[0], point[1])
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
    """Returns the offset along its twin of a place on a link."""
    return float(max(length[twin] * (1.0 - offset / length[link]), 0.0))


def first_segments(courses: LinkSegments) -> IntArray:
    """Returns the first segment of each link, as `project_onto_link` reads it."""
    first = np.zeros(len(courses.length), dtype=np.int64)
    link, twin = courses.segment["link"], courses.segment["twin"]
    begins = np.flatnonzero(np.diff(link, prepend=-1) != 0)
    first[link[begins]] = begins
    shared = begins[twin[begins] >= 0]
    first[twin[shared]] = -1 - shared
    return first
