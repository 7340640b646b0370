"""The map in the picture of an OD release: places, tinted zones and the flows between them."""

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from hushway.arrays import FloatArray
from hushway.families.od.files.flows import sums_by_pair
from hushway.families.od.mechanism.table import ODTable
from hushway.release.ground import CLEAR_OF_NOISE, MOST_FLOWS, draw_flows, draw_places, plane
from hushway.release.sums import Sums


def draw_map(axes: Axes, table: ODTable) -> int:
    """Draws the places and the strongest flows; returns how many flows are clear of the noise."""
    places = table.universe.locations
    points = plane(places)
    sums = sums_by_pair(table)
    clear = _clear_flows(table, sums)
    strongest = clear[np.argsort(sums.totals[clear], kind="stable")[-MOST_FLOWS:]]
    draw_places(axes, points, [place.zone for place in places.places], _visits(table, sums))
    if len(strongest):
        _, origin, destination = table.universe.decode(sums.keys[strongest])
        draw_flows(axes, points[origin], points[destination], sums.totals[strongest])
    return len(clear)


def _clear_flows(table: ODTable, sums: Sums) -> NDArray[np.intp]:
    """Returns the positions of the flows between two places that exceed their noise clearly."""
    _, origin, destination = table.universe.decode(sums.keys)
    clear = sums.totals > CLEAR_OF_NOISE * sums.standard_errors
    return np.flatnonzero(clear & (origin != destination))


def _visits(table: ODTable, sums: Sums) -> FloatArray:
    """Returns the published trips of each place, in and out."""
    places = len(table.universe.locations)
    _, origin, destination = table.universe.decode(sums.keys)
    ends = np.bincount(origin, sums.totals, places)
    return (ends + np.bincount(destination, sums.totals, places)).astype(np.float64)
