"""From positions to areas: a public raster answers for most of the ground, polygons for the rest.

A pixel that no border touches lies wholly in one area or in none, so it needs one look. Positions
in other pixels are compared with the polygons themselves.
"""

from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from hushway.arrays import BoolArray, FloatArray, Int32Array
from hushway.geography.areas import Areas
from hushway.numerics.compiled import compiled_for_threads

NOWHERE: Final = -1
_BORDER = -2
_UNKNOWN = -3
_PIXELS = 2048
# In pixels: far more than rounding can move a border, far less than a pixel.
_MARGIN = 1e-6


class AreaIndex:
    """Says in which area positions lie.

    A position on a border, or where areas overlap by a sliver, belongs to the lowest index.

    Args:
        areas: The public areas.
        pixels: Number of pixels of the raster along each side.
    """

    def __init__(self, areas: Areas, pixels: int = _PIXELS) -> None:
        shapes = areas.shapes
        west, south, east, north = shapely.total_bounds(shapes)
        self._corner = np.array([west, south])
        self._scale = pixels / np.array([east - west, north - south])
        self._limits = np.array([west, south, east, north])
        self._tree = shapely.STRtree(shapes)
        self._raster = np.full((pixels, pixels), _UNKNOWN, dtype=np.int32)
        ends, joined = _borders(shapes)
        _draw((ends - self._corner) * self._scale, joined, self._raster)
        self._fill()

    def locate(self, lon: FloatArray, lat: FloatArray) -> Int32Array:
        """Returns the index of the area of each position; -1 if it lies in none.

        Args:
            lon: Longitudes in degrees; those that are no numbers lie in no area.
            lat: Latitudes, likewise.
        """
        area = np.empty(len(lon), dtype=np.int32)
        _look_up(lon, lat, self._limits, self._corner, self._scale, self._raster, area)
        near = np.flatnonzero(area == _BORDER)
        area[near] = self._exactly(lon[near], lat[near])
        return area

    def _exactly(self, lon: FloatArray, lat: FloatArray) -> Int32Array:
        found, area = self._tree.query(shapely.points(lon, lat), predicate="intersects")
        lowest = np.full(len(lon), len(self._tree), dtype=np.int32)
        np.minimum.at(lowest, found, area.astype(np.int32))
        return np.where(lowest < len(self._tree), lowest, np.int32(NOWHERE))

    def _fill(self) -> None:
        """Gives every pixel without a border its area: one look for each run in a row."""
        free = self._raster == _UNKNOWN
        begins = free.copy()
        begins[:, 1:] &= ~free[:, :-1]
        row, column = np.nonzero(begins)
        centre = self._corner + (np.column_stack([column, row]) + 0.5) / self._scale
        area = self._exactly(centre[:, 0].copy(), centre[:, 1].copy())
        run = np.cumsum(begins.ravel()) - 1
        inside = free.ravel()
        self._raster.ravel()[inside] = area[run[inside]]


def _borders(shapes: NDArray[Any]) -> tuple[FloatArray, BoolArray]:
    """Returns the corners of all borders, and whether each is joined to the next one."""
    rings = shapely.get_rings(shapely.get_parts(shapes))
    ends, ring = shapely.get_coordinates(rings, return_index=True)
    joined = np.zeros(len(ring), dtype=np.bool_)
    joined[:-1] = ring[1:] == ring[:-1]
    return ends, joined


@compiled_for_threads
def _draw(ends: FloatArray, joined: BoolArray, raster: Int32Array) -> None:
    """Marks every pixel that a border touches; corners are given in pixels."""
    rows, columns = raster.shape
    for i in range(len(ends) - 1):
        if not joined[i]:
            continue
        low, high = (i, i + 1) if ends[i, 1] <= ends[i + 1, 1] else (i + 1, i)
        x, y, to_x, to_y = ends[low, 0], ends[low, 1], ends[high, 0], ends[high, 1]
        first = max(int(np.floor(y - _MARGIN)), 0)
        last = min(int(np.floor(to_y + _MARGIN)), rows - 1)
        for row in range(first, last + 1):
            # The stretch of the border that lies in this row of pixels, and a little more.
            start = min(max((row - _MARGIN - y) / (to_y - y), 0.0), 1.0) if to_y > y else 0.0
            end = min(max((row + 1 + _MARGIN - y) / (to_y - y), 0.0), 1.0) if to_y > y else 1.0
            one, other = x + start * (to_x - x), x + end * (to_x - x)
            left = max(int(np.floor(min(one, other) - _MARGIN)), 0)
            right = min(int(np.floor(max(one, other) + _MARGIN)), columns - 1)
            for column in range(left, right + 1):
                raster[row, column] = _BORDER


@compiled_for_threads
def _look_up(  # noqa: PLR0917  one argument for each array
    lon: FloatArray,
    lat: FloatArray,
    limits: FloatArray,
    corner: FloatArray,
    scale: FloatArray,
    raster: Int32Array,
    area: Int32Array,
) -> None:
    rows, columns = raster.shape
    west, south, east, north = limits
    for i in range(len(lon)):
        # Not a number is not inside either.
        if not (west <= lon[i] <= east and south <= lat[i] <= north):
            area[i] = NOWHERE
            continue
        column = min(int((lon[i] - corner[0]) * scale[0]), columns - 1)
        row = min(int((lat[i] - corner[1]) * scale[1]), rows - 1)
        area[i] = raster[row, column]
