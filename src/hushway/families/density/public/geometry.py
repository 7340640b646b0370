"""Builds the public universe of a density from areas, bins of time and towers."""

from pathlib import Path

from hushway.families.density.public.cells import DensityUniverse, Sites
from hushway.families.density.public.geometry_cache import read_geometry, write_geometry
from hushway.families.density.public.minimum_cover import identity_cover
from hushway.families.density.public.tessellation import tessellation
from hushway.families.density.public.tower_geometry import Outside, TowerGeometry, tower_geometry
from hushway.geography.areas import Areas
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.privacy.digest import digest_of

# Raised whenever the same lists give another geometry, so that no older file is read.
_VERSION = 1


def density_universe(
    areas: Areas,
    periods: Periods,
    towers: Locations | None,
    *,
    outside: Outside = "refuse",
    cache: Path | None = None,
) -> DensityUniverse:
    """Returns all that is public about a density before anything is measured.

    Args:
        areas: What is published.
        periods: The bins of time, with the cycle "window".
        towers: Where people are seen; None if their events carry positions. Towers at the same
            point, to the centimetre, are one site.
        outside: Whether towers outside all areas are refused, or left out with all their events.
        cache: A folder to keep the geometry of these very lists in; None to keep nothing.

    Raises:
        GeographyError: Areas overlap, or towers are outside all areas and may not be left out.
    """
    if towers is None:
        tessellation(areas)
        return DensityUniverse(
            areas=areas, periods=periods, sites=None, cover=identity_cover(areas)
        )
    geometry = _kept_geometry(areas, towers, outside, cache)
    return DensityUniverse(
        areas=areas,
        periods=periods,
        sites=Sites(locations=towers, site=geometry.site),
        cover=geometry.cover,
    )


def _kept_geometry(
    areas: Areas, towers: Locations, outside: Outside, cache: Path | None
) -> TowerGeometry:
    """Returns the geometry, from the cache if it is there."""
    if cache is None:
        return tower_geometry(areas, towers, outside)
    digest = digest_of(
        {
            "areas": areas.digest,
            "towers": towers.digest,
            "outside": outside,
            "version": _VERSION,
        }
    )
    kept = read_geometry(cache, digest, areas=len(areas), towers=len(towers))
    if kept is not None:
        return kept
    geometry = tower_geometry(areas, towers, outside)
    write_geometry(cache, digest, geometry)
    return geometry
