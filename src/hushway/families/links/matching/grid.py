"""A grid of square cells that knows which segments pass through each."""

from typing import NamedTuple

import numpy as np

from hushway.arrays import IntArray
from hushway.families.links.matching.courses import Courses
from hushway.numerics.compiled import compiled_for_threads
from hushway.numerics.records import Rows

# Cells smaller than what is searched only cost time, and empty cells only memory.
_SMALLEST = 50.0
_CELLS_EACH = 4.0


class Grid(NamedTuple):
    """Square cells, row by row from the south-west.

    Attributes:
        x: Metres east of the south-west corner.
        y: Metres north of it.
        side: Side of a cell in metres.
        columns: Number of cells from west to east.
        rows: Number of cells from south to north.
        start: Where the segments of each cell begin; one entry more than cells.
        segment: The segments of all cells in a row.
    """

    x: float
    y: float
    side: float
    columns: int
    rows: int
    start: IntArray
    segment: IntArray


def grid_of(courses: Courses) -> Grid:
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
    """Counts the segments of each cell, or writes them down if there is where to."""
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
                if square_and_share(segments, i, x, y)[0] > reach:
                    continue
                cell = row * grid.columns + column
                if len(segment) > 0:
                    segment[at[cell]] = i
                at[cell] += 1


@compiled_for_threads
def square_and_share(segments: Rows, i: int, x: float, y: float) -> tuple[float, float]:
    """Returns the squared distance of a point to a segment, and how far along the nearest is."""
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
