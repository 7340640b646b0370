"""The map in the picture of a sequences release: ways from one stop straight on to the next."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from hushway.arrays import IntArray
from hushway.families.sequences.files.ways import sums_by_way, visits_by_location
from hushway.families.sequences.mechanism.table import SequenceTable
from hushway.release.ground import CLEAR_OF_NOISE, MOST_FLOWS, draw_flows, draw_places, plane


def draw_ways(axes: Axes, table: SequenceTable, prefix: IntArray, groups: Sequence[str]) -> int:
    """Draws the places and the strongest ways; returns how many ways are clear of the noise.

    Args:
        axes: Where to draw.
        table: The published tree.
        prefix: For each node the node of the stop before (`tree_shape.prefixes_of`).
        groups: The name of each location's group.
    """
    points = plane(table.taxonomy.locations)
    sums = sums_by_way(table, prefix)
    origin, destination = np.divmod(sums.keys, len(points))
    clear = np.flatnonzero(
        (sums.totals > CLEAR_OF_NOISE * sums.standard_errors) & (origin != destination)
    )
    strongest = clear[np.argsort(sums.totals[clear], kind="stable")[-MOST_FLOWS:]]
    draw_places(axes, points, groups, visits_by_location(table))
    if len(strongest):
        draw_flows(
            axes, points[origin[strongest]], points[destination[strongest]], sums.totals[strongest]
        )
    return len(clear)
