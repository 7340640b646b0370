"""Builds the public universe of a density from areas, bins of time and towers."""

import zlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from hushway.errors import GeographyError
from hushway.families.density.public.cover import Cover, Pieces, identity_cover
from hushway.families.density.public.tower_geometry import (
    Outside,
    TowerGeometry,
    tessellation,
    tower_geometry,
)
from hushway.families.density.public.visits import DensityUniverse, Sites
from hushway.geography.areas import Areas
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.privacy.public_facts import digest_of

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
        periods: The bins of time, with the cycle "window" or "week".
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
        {"areas": areas.digest, "towers": towers.digest, "outside": outside, "version": _VERSION}
    )
    kept = read_geometry(cache, digest, areas=len(areas), towers=len(towers))
    if kept is not None:
        return kept
    geometry = tower_geometry(areas, towers, outside)
    write_geometry(cache, digest, geometry)
    return geometry


_DIMENSIONS = 2
_LEFT_OUT = -1
_DAMAGED = (
    BadZipFile,
    EOFError,
    GeographyError,
    IndexError,
    KeyError,
    NotImplementedError,
    OSError,
    TypeError,
    ValueError,
    zlib.error,
)


def read_geometry(folder: Path, digest: str, *, areas: int, towers: int) -> TowerGeometry | None:
    """Returns a kept geometry, or None if there is none or its file is damaged."""
    try:
        # Nothing is ever unpickled: a file in a cache must not be able to run code.
        with (
            _file(folder, digest).open("rb") as opened,
            np.load(opened, allow_pickle=False) as kept,
        ):
            if str(kept["digest"]) != digest:
                return None
            return _geometry(kept, areas, towers)
    except _DAMAGED:
        return None


def write_geometry(folder: Path, digest: str, geometry: TowerGeometry) -> None:
    """Keeps a geometry; whoever reads at the same time sees a whole file or none."""
    cover, pieces = geometry.cover, geometry.cover.pieces
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder) as scratch:
            whole = Path(scratch) / "geometry.npz"
            np.savez(
                whole,
                digest=np.array(digest),
                tower_site=geometry.site,
                piece_site=pieces.site,
                piece_area=pieces.area,
                piece_size=pieces.size,
                piece_cell=cover.cell,
                cell_is_site=cover.is_site,
                cell_member=cover.member,
                cell_centre=cover.centres,
            )
            whole.replace(_file(folder, digest))
    except OSError:
        raise GeographyError(
            f"The geometry cannot be kept in the folder {folder}.",
            advice="Name a folder that you may write to, or keep nothing.",
        ) from None


def _geometry(kept: Mapping[str, NDArray[Any]], areas: int, towers: int) -> TowerGeometry:
    """Puts a geometry together from its arrays.

    Raises:
        ValueError: The arrays do not fit each other or the lists.
    """
    site, member, cell = kept["tower_site"], kept["cell_member"], kept["piece_cell"]
    pieces = Pieces(
        sites=int(site.max()) + 1,
        areas=areas,
        site=kept["piece_site"],
        area=kept["piece_area"],
        size=kept["piece_size"],
    )
    count = len(pieces.size)
    fits = (
        _is(site, np.int64, (towers,)) and bool((site >= _LEFT_OUT).all()),
        _fills(site[site != _LEFT_OUT], int((site != _LEFT_OUT).sum()), pieces.sites),
        _fills(pieces.site, count, pieces.sites),
        _fills(pieces.area, count, areas),
        _fills(cell, count, len(member)),
        _is(pieces.size, np.float64, (count,)) and bool((pieces.size > 0).all()),
        _is(member, np.int64, (len(member),)),
        _is(kept["cell_is_site"], np.bool_, (len(member),)),
        _is(kept["cell_centre"], np.float64, (len(member), _DIMENSIONS)),
    )
    if not all(fits):
        raise ValueError
    cover = Cover(
        pieces=pieces,
        is_site=kept["cell_is_site"],
        member=member,
        cell=cell,
        centres=kept["cell_centre"],
    )
    return TowerGeometry(site=site, cover=cover)


def _fills(index: NDArray[Any], count: int, size: int) -> bool:
    """Says whether `count` indexes name everything from 0 to below `size`, and nothing else."""
    whole = _is(index, np.int64, (count,))
    return whole and np.array_equal(np.unique(index), np.arange(size))


def _is(array: NDArray[Any], kind: Any, shape: tuple[int, ...]) -> bool:
    return bool(array.dtype == kind and array.shape == shape and np.isfinite(array).all())


def _file(folder: Path, digest: str) -> Path:
    return folder / f"{digest.rpartition(':')[2]}.npz"
