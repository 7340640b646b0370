"""The cover: the fewest cells of sites and areas that hold every piece of the city.

Cells of sites (such as the Voronoi cells of phone towers) and areas are two ways to cut up the same
ground. Where a cell of one kind meets a cell of the other is a piece. A cover is a choice of
cells of both kinds such that every piece lies in one of them; each piece is given to exactly one.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import GeographyError
from hushway.geography.areas import Areas
from hushway.privacy.public_facts import public_facts

# Larger numbers of quanta would leave too little room for sums in 64 bits.
_MOST_QUANTA = 1 << 20


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class Pieces:
    """Where the cells of sites and the areas overlap.

    Attributes:
        site: The site of each piece; every site has at least one.
        area: The area of each piece; every area has at least one.
        size: Its size in square metres, above 0.
    """

    sites: int
    areas: int
    site: IntArray
    area: IntArray
    size: FloatArray

    @cached_property
    def site_sizes(self) -> FloatArray:
        """The size of each site's cell."""
        return _summed(self.site, self.size, self.sites)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class Cover:
    """Cells that hold every piece, each piece in exactly one.

    Attributes:
        is_site: For each cell of the cover, whether it is a site's cell (else it is an area).
        member: Index of that site or area.
        cell: The cell of the cover that each piece is given to.
        centres: Centre (x, y) of the ground given to each cell, in metres.
    """

    pieces: Pieces
    is_site: BoolArray
    member: IntArray
    cell: IntArray
    centres: FloatArray

    def __post_init__(self) -> None:
        held = np.where(
            self.is_site[self.cell],
            self.pieces.site == self.member[self.cell],
            self.pieces.area == self.member[self.cell],
        )
        if not held.all() or len(np.unique(self.cell)) != len(self):
            raise GeographyError(
                "A cover gives a piece to a cell that does not hold it, or has a cell without any.",
                advice="Report this as a bug.",
            )

    def __len__(self) -> int:
        return len(self.member)

    @cached_property
    def sizes(self) -> FloatArray:
        """The size of the ground given to each cell, in square metres."""
        return _summed(self.cell, self.pieces.size, len(self))

    def quantised(self, quanta: int) -> tuple[IntArray, IntArray, IntArray]:
        """Returns how a visit at a site is shared among cells, in whole parts of `quanta`.

        Privacy:
            The parts of every site sum to exactly `quanta`, so one visit moves all cells together
            by one visit, however its site is cut up.

        Returns:
            (cell, site, parts), parts above 0, one entry for each pair, ordered by site and cell.
        """
        if not 1 <= quanta <= _MOST_QUANTA:
            raise GeographyError(
                f"A visit can be cut into 1 to {_MOST_QUANTA:,} parts.", advice="Use fewer quanta."
            )
        pairs, inverse = np.unique(self.pieces.site * len(self) + self.cell, return_inverse=True)
        site, cell = np.divmod(pairs, len(self))
        size = np.bincount(inverse, weights=self.pieces.size)
        wanted = size / self.pieces.site_sizes[site] * quanta
        parts = np.floor(wanted).astype(np.int64)
        given = np.bincount(site, weights=parts, minlength=self.pieces.sites).astype(np.int64)
        # What rounding down left over goes to the largest remainders of the site, one each.
        order = np.lexsort((-(wanted - parts), site))
        first = np.searchsorted(site[order], np.arange(self.pieces.sites))
        rank = np.arange(len(order)) - first[site[order]]
        parts[order] += rank < (quanta - given)[site[order]]
        used = parts > 0
        return cell[used], site[used], parts[used]

    def area_shares(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Returns how each cell is shared among areas, by size: (area, cell, share), 1 in all."""
        pairs, inverse = np.unique(self.pieces.area * len(self) + self.cell, return_inverse=True)
        area, cell = np.divmod(pairs, len(self))
        size = np.bincount(inverse, weights=self.pieces.size)
        return area, cell, size / self.sizes[cell]

    def site_shares(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Returns how each site is shared among areas, by size: (area, site, share), 1 in all."""
        pieces = self.pieces
        return pieces.area, pieces.site, pieces.size / pieces.site_sizes[pieces.site]


def _summed(group: IntArray, size: FloatArray, groups: int) -> FloatArray:
    return np.asarray(np.bincount(group, weights=size, minlength=groups), dtype=np.float64)


# The smallest cover: as few cells of sites and areas as can hold every piece.
#
# Sites and areas are the two sides of a graph, and every piece is an edge between its site and its
# area; a cover is a set of ends that touches every edge. Hopcroft and Karp find a largest matching,
# and by Konig's theorem a smallest cover has as many cells as that matching has edges.

# A piece below this part of both its cells is the rounding of borders that should coincide. All
# slivers of a cell together stay below a millionth of it unless it has more than ten.
_SLIVER = 1e-7
# Overlays may lose this part of the ground to rounding before something is wrong.
_LOST = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class Overlap:
    """Pieces, and where they are."""

    pieces: Pieces
    centres: FloatArray


def overlap(cells: NDArray[Any], areas: NDArray[Any]) -> Overlap:
    """Cuts the cells of sites and the areas along each other's borders.

    Slivers are dropped. The largest piece of a site or an area never is one, however small: it is
    no tiny part of its own cell.

    Args:
        cells: Cells of sites that cover all areas, in metres, no ground in two of them.
        areas: Areas in metres, no ground in two of them.
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
        pieces=pieces, centres=np.column_stack([shapely.get_x(points), shapely.get_y(points)])
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
