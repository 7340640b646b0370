"""From towers and areas to sites and the cover that is measured."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import Voronoi

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import GeographyError
from hushway.escaping import some_of
from hushway.families.density.public.cover import Cover, minimum_cover, overlap
from hushway.geography.areas import Areas
from hushway.geography.locations import Locations

# Areas that share borders but no ground, but for what digitising leaves.
#
# Whoever lives in two areas would be published twice, so areas that overlap are refused. Borders
# drawn twice cross each other by slivers, though: such ground is given to the first of the two
# areas.

# Overlaps above this part of the smaller area are not the noise of digitising. Official polygons
# that were simplified one by one overlap by up to half a percent.
_MOST_SHARED = 1e-2
# Overlaps below this part are the rounding of coordinates: cutting them off changes nothing.
_LEAST_SHARED = 1e-9


def tessellation(areas: Areas) -> NDArray[Any]:
    """Returns the areas' shapes in metres, no ground in two of them."""
    shapes = _valid(areas.projected)
    first, second, shared = _overlaps(shapes)
    worst = [at for at in np.argsort(-shared, kind="stable") if shared[at] > _MOST_SHARED]
    if worst:
        _refuse(areas, ((first[at], second[at], shared[at]) for at in worst[:_SHOWN]), len(worst))
    # In the order of the first of two areas, so that ground in three goes to the first of all.
    for one, other in zip(first, second, strict=True):
        shapes[other] = shapely.difference(shapes[other], shapes[one])
    return shapes


def _overlaps(shapes: NDArray[Any]) -> tuple[IntArray, IntArray, FloatArray]:
    """Returns pairs (first, second) and the part of the smaller area that both hold."""
    left, right = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    once = left < right
    first, second = left[once], right[once]
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    sizes = shapely.area(shapes)
    common = shapely.area(shapely.intersection(shapes[first], shapes[second]))
    shared = common / np.minimum(sizes[first], sizes[second])
    real = shared > _LEAST_SHARED
    return first[real], second[real], shared[real]


def _valid(shapes: NDArray[Any]) -> NDArray[Any]:
    """Returns a copy, in which corners that met when rounded do not hinder any overlay."""
    shapes = shapes.copy()
    crossed = ~shapely.is_valid(shapes)
    shapes[crossed] = shapely.make_valid(shapes[crossed])
    return shapes


def _refuse(areas: Areas, pairs: Iterable[tuple[int, int, float]], count: int) -> None:
    named = ", ".join(
        f"{areas.ids[one]!r} and {areas.ids[other]!r} ({shared:.2%} of the smaller)"
        for one, other, shared in pairs
    )
    more = f", and {count - _SHOWN} more pairs" if count > _SHOWN else ""
    raise GeographyError(
        f"Areas overlap each other: {named}{more}.",
        advice="Give areas that share borders but no ground.",
    )


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
    """Returns the sites of the towers and their cover."""
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
        named = some_of(map(repr, left), _SHOWN)
        raise GeographyError(
            f"{len(left)} of {len(towers)} towers are outside all areas: {named}.",
            advice='Leave them out of the list, or drop them and their events: outside = "drop".',
        )


# Guards so far away that no ground is nearer to a guard than to a site: a cell between them ends
# well outside the ground, and no cell is infinite.
_GUARDS = 8 * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
_DIMENSIONS = 2


def voronoi_cells(points: FloatArray, ground: FloatArray) -> NDArray[Any]:
    """Returns the cell of every point, in the order of the points.

    Cells reach beyond the ground on all sides; whoever intersects them with areas clips them.
    Qhull cuts them: the diagram of GEOS goes wrong for points on a circle.

    Args:
        points: Distinct positions (x, y) in metres, one row each.
        ground: What the cells must cover at least: (west, south, east, north) in metres.
    """
    corners = np.concatenate([points, ground.reshape(_DIMENSIONS, _DIMENSIONS)])
    low, high = corners.min(axis=0), corners.max(axis=0)
    # Measured from the middle: far from 0 coordinates have fewer digits to spare.
    middle = (low + high) / 2
    # A metre is for a ground of no extent.
    diagonal = float(np.hypot(*(high - low))) + 1.0
    diagram = Voronoi(np.concatenate([points - middle, _GUARDS * diagonal]))
    regions = [diagram.regions[region] for region in diagram.point_region[: len(points)]]
    corner = np.concatenate([np.asarray(region) for region in regions])
    ring = np.repeat(np.arange(len(regions)), [len(region) for region in regions])
    rings = shapely.linearrings(diagram.vertices[corner] + middle, indices=ring)
    return np.asarray(shapely.polygons(rings))
