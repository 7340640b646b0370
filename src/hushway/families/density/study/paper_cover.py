"""Counts of the cover's cells from sites, and of areas from cells: repaired, or as printed."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.density.public.cover import Cover


@dataclass(frozen=True, kw_only=True, eq=False)
class CoverRule:
    """Two public linear maps.

    Attributes:
        cells_of_sites: What a visit at each site (column) adds to each cell of the cover (row).
        areas_of_cells: What a visit in each cell of the cover (column) adds to each area (row).
    """

    cells_of_sites: FloatArray
    areas_of_cells: FloatArray


def repaired_rule(cover: Cover) -> CoverRule:
    """Returns the rule of the product: every piece of ground belongs to exactly one cell.

    Privacy:
        The columns of the first map sum to 1, so a visit moves all cells together by 1.
    """
    pieces = cover.pieces
    cells_of_sites = np.zeros((len(cover), pieces.sites))
    site_shares = pieces.size / pieces.site_sizes[pieces.site]
    np.add.at(cells_of_sites, (cover.cell, pieces.site), site_shares)
    areas_of_cells = np.zeros((pieces.areas, len(cover)))
    area, cell, share = cover.area_shares()
    areas_of_cells[area, cell] = share
    return CoverRule(cells_of_sites=cells_of_sites, areas_of_cells=areas_of_cells)


def subtraction_rule(cover: Cover) -> CoverRule:
    """Returns the rule that the paper prints in section 5.2.

    An area of the cover counts all visits of its ground. A site of the cover counts its visits
    less, for each area of the cover that it meets, the area's count times the share of the site's
    ground there. The paper does not say how the areas come back; here what was subtracted is added
    again, then formula (1) is used, so that without noise the areas are exact.

    Privacy:
        The area's count holds visits at other sites too. One visit therefore moves an area of the
        cover and every site of the cover that meets it, not 1 altogether as the paper claims.
    """
    pieces = cover.pieces
    areas_of_sites = np.zeros((pieces.areas, pieces.sites))
    area, site, share = cover.site_shares()
    np.add.at(areas_of_sites, (area, site), share)
    areas = _picked(cover.member, ~cover.is_site, pieces.areas)
    sites = _picked(cover.member, cover.is_site, pieces.sites)
    # By (site, cell): what is subtracted from each site for each visit in an area of the cover.
    subtracted = areas_of_sites.T @ areas.T
    counted = areas @ areas_of_sites
    through_sites = areas_of_sites @ (sites.T + subtracted)
    through_sites[cover.member[~cover.is_site]] = 0.0
    return CoverRule(
        cells_of_sites=sites + counted - sites @ subtracted @ counted,
        areas_of_cells=areas.T + through_sites,
    )


def _picked(member: IntArray, chosen: BoolArray, size: int) -> FloatArray:
    """Returns a matrix of (cell, member) that picks the members of the chosen cells."""
    cells = np.flatnonzero(chosen)
    picks = np.zeros((len(member), size))
    picks[cells, member[cells]] = 1.0
    return picks
