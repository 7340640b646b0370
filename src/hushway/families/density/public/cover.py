"""The cover: the fewest cells of sites and areas that hold every piece of the city.

Cells of sites (such as the Voronoi cells of phone towers) and areas are two ways to cut up the same
ground. Where a cell of one kind meets a cell of the other is a piece. A cover is a choice of
cells of both kinds such that every piece lies in one of them; each piece is given to exactly one.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import GeographyError
from hushway.privacy.public_facts import public_facts

# Larger numbers of quanta would leave too little room for sums in 64 bits.
_MOST_QUANTA = 1 << 20


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class Pieces:
    """Where the cells of sites and the areas overlap.

    Attributes:
        sites: Number of sites.
        areas: Number of areas.
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
        pieces: The pieces.
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
                f"A visit can be cut into 1 to {_MOST_QUANTA:,} parts.",
                advice="Use fewer quanta.",
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
        """Returns how each cell is shared among areas, by the size of the pieces given to it.

        Returns:
            (area, cell, share); the shares of each cell sum to 1.
        """
        pairs, inverse = np.unique(self.pieces.area * len(self) + self.cell, return_inverse=True)
        area, cell = np.divmod(pairs, len(self))
        size = np.bincount(inverse, weights=self.pieces.size)
        return area, cell, size / self.sizes[cell]

    def site_shares(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Returns how each site's cell is shared among areas, by size.

        Returns:
            (area, site, share); the shares of each site sum to 1.
        """
        pieces = self.pieces
        return pieces.area, pieces.site, pieces.size / pieces.site_sizes[pieces.site]


def _summed(group: IntArray, size: FloatArray, groups: int) -> FloatArray:
    return np.asarray(np.bincount(group, weights=size, minlength=groups), dtype=np.float64)
