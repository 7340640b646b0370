"""The smallest cover: as few cells of sites and areas as can hold every piece.

Sites and areas are the two sides of a graph, and every piece is an edge between its site and its
area; a cover is a set of ends that touches every edge. Hopcroft and Karp find a largest matching,
and by Konig's theorem a smallest cover has as many cells as that matching has edges.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import GeographyError
from hushway.families.density.public.cover import Cover, Pieces
from hushway.geography.areas import Areas

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


_UNMATCHED = -1


def minimum_cover(overlap: Overlap) -> Cover:
    """Returns a smallest cover, every piece in exactly one of its cells.

    Among the smallest covers it is the one with the most areas. A piece whose site and area are
    both in the cover goes to the smaller of the two, to the area if they are equally large: small
    cells drown in noise, and of the plain rules this one leaves the most even cells. No cell is
    left empty: in a smallest cover every cell holds a piece that no other cell could.
    """
    pieces = overlap.pieces
    sites, areas = smallest_ends(pieces)
    at_site = _goes_to_site(pieces, sites, areas)
    # Cells of sites come first, then areas, each in index order.
    number = np.concatenate([np.cumsum(sites) - 1, sites.sum() + np.cumsum(areas) - 1])
    cell = number[np.where(at_site, pieces.site, pieces.sites + pieces.area)]
    count = int(sites.sum() + areas.sum())
    ground = np.bincount(cell, weights=pieces.size, minlength=count)
    return Cover(
        pieces=pieces,
        is_site=np.arange(count) < sites.sum(),
        member=np.concatenate([np.flatnonzero(sites), np.flatnonzero(areas)]),
        cell=cell,
        centres=np.column_stack(
            [
                np.bincount(cell, weights=pieces.size * along, minlength=count) / ground
                for along in overlap.centres.T
            ]
        ),
    )


def identity_cover(areas: Areas) -> Cover:
    """Returns the cover for people who are seen at positions: every area is a site and a cell."""
    every = np.arange(len(areas), dtype=np.int64)
    return Cover(
        pieces=Pieces(sites=len(areas), areas=len(areas), site=every, area=every, size=areas.sizes),
        is_site=np.zeros(len(areas), dtype=np.bool_),
        member=every,
        cell=every,
        centres=areas.centres,
    )


def smallest_ends(pieces: Pieces) -> tuple[BoolArray, BoolArray]:
    """Returns which sites and which areas are in the smallest cover with the most areas."""
    area_of_site = matching(pieces)
    matched = np.zeros(pieces.areas, dtype=np.bool_)
    matched[area_of_site[area_of_site != _UNMATCHED]] = True
    # Konig: walk from the areas without a partner, to sites along any edge and back along the
    # matching. What is reached needs its sites; everything else is held by its areas.
    areas = ~matched
    sites = np.zeros(pieces.sites, dtype=np.bool_)
    while True:
        met = np.zeros(pieces.sites, dtype=np.bool_)
        met[pieces.site[areas[pieces.area]]] = True
        new = met & ~sites
        if not new.any():
            return sites, ~areas
        sites |= new
        # Every site that is met has a partner, or the matching could be made larger.
        areas[area_of_site[new]] = True


def matching(pieces: Pieces) -> IntArray:
    """Returns the area that each site is matched with in a largest matching; -1 for none."""
    graph = csr_matrix(
        (np.ones(len(pieces.site), dtype=np.int8), (pieces.site, pieces.area)),
        shape=(pieces.sites, pieces.areas),
    )
    return np.asarray(maximum_bipartite_matching(graph, perm_type="column"), dtype=np.int64)


def _goes_to_site(pieces: Pieces, sites: BoolArray, areas: BoolArray) -> BoolArray:
    area_sizes = np.bincount(pieces.area, weights=pieces.size, minlength=pieces.areas)
    site_is_smaller = pieces.site_sizes[pieces.site] < area_sizes[pieces.area]
    at_site, at_area = sites[pieces.site], areas[pieces.area]
    return np.asarray(at_site & (~at_area | site_is_smaller))
