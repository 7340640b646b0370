"""How many streets, and which links, lie within some metres of points."""

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.matching.courses import Courses
from hushway.families.links.matching.grid import Grid, cell_range, square_and_share
from hushway.families.links.matching.near import Found, find_near
from hushway.numerics.compiled import compiled_for_threads


@compiled_for_threads
def streets_within(
    courses: Courses,
    grid: Grid,
    points: tuple[FloatArray, FloatArray],
    radii: FloatArray,
    streets: int,
) -> IntArray:
    """Counts the streets within growing radii: a row for each point, a column for each radius."""
    x, y = points
    counts = np.zeros((len(x), len(radii)), dtype=np.int64)
    seen = np.zeros(streets, dtype=np.int64)
    nearest = np.zeros(streets)
    found = np.zeros(streets, dtype=np.int64)
    squares = radii * radii
    furthest, most = radii[-1], squares[-1]
    for point in range(len(x)):
        count = 0
        here = (x[point], y[point])
        left, right = cell_range(
            here[0] - furthest, here[0] + furthest, grid.x, grid.side, grid.columns
        )
        low, high = cell_range(here[1] - furthest, here[1] + furthest, grid.y, grid.side, grid.rows)
        for row in range(low, high):
            if left >= right:
                break
            first = row * grid.columns
            for at in range(grid.start[first + left], grid.start[first + right]):
                i = grid.segment[at]
                square, _ = square_and_share(courses.segment, i, here[0], here[1])
                if square > most:
                    continue
                street = courses.segment[i].street
                if seen[street] != point + 1:
                    seen[street] = point + 1
                    nearest[street] = square
                    found[count] = street
                    count += 1
                elif square < nearest[street]:
                    nearest[street] = square
        for i in range(count):
            counts[point, np.searchsorted(squares, nearest[found[i]])] += 1
        for column in range(1, len(radii)):
            counts[point, column] += counts[point, column - 1]
    return counts


@compiled_for_threads
def links_near(
    courses: Courses,
    grid: Grid,
    found: Found,
    points: tuple[FloatArray, FloatArray],
    radius: float,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Returns how many links are within a radius of each point, and all of them, nearest first."""
    x, y = points
    counts = np.zeros(len(x), dtype=np.int64)
    link = np.empty(8 * len(x) + 8, dtype=np.int64)
    metres = np.empty(8 * len(x) + 8)
    filled = 0
    for point in range(len(x)):
        count = find_near(courses, grid, found, (x[point], y[point]), radius)
        if filled + 2 * count > len(link):
            more_links = np.empty(2 * (filled + 2 * count), dtype=np.int64)
            more_metres = np.empty(2 * (filled + 2 * count))
            more_links[:filled], more_metres[:filled] = link[:filled], metres[:filled]
            link, metres = more_links, more_metres
        before = filled
        for i in range(count):
            near = found.near[found.order[i]]
            link[filled], metres[filled] = near.link, np.sqrt(near.square)
            filled += 1
            if near.twin >= 0:
                link[filled], metres[filled] = near.twin, np.sqrt(near.square)
                filled += 1
        counts[point] = filled - before
    return counts, link[:filled].copy(), metres[:filled].copy()
