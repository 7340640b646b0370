"""Where cells of sites and areas overlap: the pieces of the city."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import GeographyError
from hushway.families.density.public.cover import Pieces

# A piece below this part of both its cells is the rounding of borders that should coincide. All
# slivers of a cell together stay below a millionth of it unless it has more than ten.
_SLIVER = 1e-7
# Overlays may lose this part of the ground to rounding before something is wrong.
_LOST = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class Overlap:
    """Pieces, and where they are.

    Attributes:
        pieces: The pieces, ordered by site and area.
        centres: Centre (x, y) of each piece in metres.
    """

    pieces: Pieces
    centres: FloatArray


def overlap(cells: NDArray[Any], areas: NDArray[Any]) -> Overlap:
    """Cuts the cells of sites and the areas along each other's borders.

    Slivers are dropped. The largest piece of a site or an area never is one, however small: it is
    no tiny part of its own cell.

    Args:
        cells: Cells of sites that cover all areas, in metres, no ground in two of them.
        areas: Areas in metres, no ground in two of them.

    Raises:
        GeographyError: A site or an area was left without ground.
    """
    site, area = shapely.STRtree(areas).query(cells, predicate="intersects")
    order = np.lexsort((area, site))
    site, area = site[order], area[order]
    shapes = shapely.intersection(cells[site], areas[area])
    size = shapely.area(shapes)
    _check_ground(float(size.sum()), float(shapely.area(areas).sum()))
    kept = _kept(site, area, size)
    points = shapely.centroid(shapes[kept])
    pieces = Pieces(
        sites=len(cells), areas=len(areas), site=site[kept], area=area[kept], size=size[kept]
    )
    _check_whole(pieces)
    return Overlap(
        pieces=pieces,
        centres=np.column_stack([shapely.get_x(points), shapely.get_y(points)]),
    )


def _kept(site: IntArray, area: IntArray, size: FloatArray) -> BoolArray:
    """Says which pieces have ground and are no slivers."""
    smaller = np.minimum(
        np.bincount(site, weights=size)[site], np.bincount(area, weights=size)[area]
    )
    return np.asarray((size > 0) & (size >= _SLIVER * smaller))


def _check_ground(cut: float, whole: float) -> None:
    if abs(cut - whole) > _LOST * whole:
        raise GeographyError(
            "The cells of the sites do not hold all ground of the areas, or hold some twice.",
            advice="Report this as a bug, with the areas and the sites.",
        )


def _check_whole(pieces: Pieces) -> None:
    missing = len(np.unique(pieces.site)) < pieces.sites
    if missing or len(np.unique(pieces.area)) < pieces.areas:
        raise GeographyError(
            "A site or an area has no ground of its own.",
            advice="Leave out sites that are outside all areas, and areas without a size.",
        )
