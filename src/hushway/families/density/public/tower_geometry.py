"""From towers and areas to sites and the cover that is measured."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import shapely
from numpy.typing import NDArray

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import GeographyError
from hushway.families.density.public.cover import Cover
from hushway.families.density.public.minimum_cover import minimum_cover
from hushway.families.density.public.overlap import overlap
from hushway.families.density.public.tessellation import tessellation
from hushway.families.density.public.voronoi import voronoi_cells
from hushway.geography.areas import Areas
from hushway.geography.locations import Locations

Outside = Literal["refuse", "drop"]

_CENTIMETRES = 100
_LEFT_OUT = -1
_SHOWN = 5


@dataclass(frozen=True, kw_only=True, eq=False)
class TowerGeometry:
    """What is worked out from areas and towers.

    Attributes:
        site: The site of each tower; -1 if it is left out.
        cover: The cells of sites and areas that are measured.
    """

    site: IntArray
    cover: Cover


def tower_geometry(areas: Areas, towers: Locations, outside: Outside) -> TowerGeometry:
    """Returns the sites of the towers and their cover.

    Raises:
        GeographyError: Areas overlap, all towers are outside all areas, or one is and may not be
            left out.
    """
    shapes = tessellation(areas)
    points = areas.plane.to_metres(
        np.array([tower.lon for tower in towers.places]),
        np.array([tower.lat for tower in towers.places]),
    )
    inside = _inside(points, shapes)
    _check_outside(towers, inside, outside)
    site, first = _merged(points[inside])
    cells = voronoi_cells(points[inside][first], shapely.total_bounds(shapes))
    of_tower = np.full(len(towers), _LEFT_OUT, dtype=np.int64)
    of_tower[inside] = site
    return TowerGeometry(site=of_tower, cover=minimum_cover(overlap(cells, shapes)))


def _inside(points: FloatArray, shapes: NDArray[Any]) -> BoolArray:
    """Says which points are in an area or on its border."""
    inside = np.zeros(len(points), dtype=np.bool_)
    found, _ = shapely.STRtree(shapes).query(shapely.points(points), predicate="intersects")
    inside[found] = True
    return inside


def _merged(points: FloatArray) -> tuple[IntArray, IntArray]:
    """Returns the site of each point, and the first point of each site, in order of first points.

    Points that round to the same centimetre are one site.
    """
    rounded = np.rint(points * _CENTIMETRES).astype(np.int64)
    _, first, group = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[group.ravel()], np.sort(first)


def _check_outside(towers: Locations, inside: BoolArray, outside: Outside) -> None:
    if not inside.any():
        raise GeographyError(
            "All towers are outside all areas.",
            advice="Check that towers and areas are of the same city, and the CRS of both.",
        )
    left = [towers.ids[at] for at in np.flatnonzero(~inside)]
    if left and outside == "refuse":
        named = ", ".join(repr(key) for key in left[:_SHOWN])
        more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
        raise GeographyError(
            f"{len(left)} of {len(towers)} towers are outside all areas: {named}{more}.",
            advice='Leave them out of the list, or drop them and their events: outside = "drop".',
        )
