"""Areas as shapes that a map can fill with colours."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.path import Path as Outline
from numpy.typing import NDArray

from hushway.geography.areas import Areas

# About a third of a pixel of the largest map: nobody sees what is left out.
_FINEST = 1 / 2000
_FEW_AREAS = 400


@dataclass(frozen=True, kw_only=True, eq=False)
class AreaShapes:
    """The outlines of areas, ready to be drawn several times.

    Attributes:
        outlines: One for each area, with its holes.
        bounds: West, south, east and north of all, in metres.
    """

    outlines: tuple[Outline, ...]
    bounds: tuple[float, float, float, float]

    @property
    def ratio(self) -> float:
        """Width over height."""
        west, south, east, north = self.bounds
        return (east - west) / (north - south)


def shapes_of(areas: Areas) -> AreaShapes:
    """Returns the outlines of areas on their map in metres."""
    west, south, east, north = shapely.total_bounds(areas.projected).tolist()
    simpler = shapely.simplify(areas.projected, max(east - west, north - south) * _FINEST)
    return AreaShapes(
        outlines=tuple(_outline(shape) for shape in simpler), bounds=(west, south, east, north)
    )


def draw_areas(axes: Axes, shapes: AreaShapes, colours: NDArray[Any]) -> None:
    """Fills every area with its colour and takes away everything else from the axes."""
    few = len(shapes.outlines) <= _FEW_AREAS
    axes.add_collection(
        PathCollection(
            list(shapes.outlines),
            facecolors=colours,
            # Many borders would hide the areas; in their own colour they only close the gaps.
            edgecolors="white" if few else colours,
            linewidths=0.35 if few else 0.2,
        )
    )
    west, south, east, north = shapes.bounds
    axes.set_xlim(west, east)
    axes.set_ylim(south, north)
    axes.set_aspect("equal")
    axes.set_anchor("NW")
    axes.set_axis_off()


def _outline(shape: shapely.Polygon | shapely.MultiPolygon) -> Outline:
    rings = [shapely.get_coordinates(ring) for ring in _rings(shape)]
    codes = [
        np.array([Outline.MOVETO, *[Outline.LINETO] * (len(ring) - 2), Outline.CLOSEPOLY])
        for ring in rings
    ]
    return Outline(np.concatenate(rings), np.concatenate(codes))


def _rings(shape: shapely.Polygon | shapely.MultiPolygon) -> Iterator[shapely.LinearRing]:
    # Holes run against their outer ring, so that filling leaves them out.
    for polygon in shapely.get_parts(shapely.orient_polygons(shape)):
        yield polygon.exterior
        yield from polygon.interiors
