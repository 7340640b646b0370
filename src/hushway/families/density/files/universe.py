"""The public lists of a density: written to a folder, and read back from it."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from hushway.arrays import IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.density.files.clusters import cover_csv, pieces_csv, read_cover
from hushway.families.density.files.sites import read_sites, sites_csv
from hushway.families.density.public.cells import DensityUniverse
from hushway.families.density.public.cover import Cover
from hushway.geography.areas import Area, Areas
from hushway.privacy.certificate import parsed_json
from hushway.release.bounded import GEOMETRY_BYTES, read_plain, refuse_large
from hushway.release.formats.places import periods_csv, read_periods
from hushway.release.published_file import PERIODS

AREAS = "areas.geojson"
SITES = "sites.csv"
COVER = "cover.csv"
PIECES = "pieces.csv"

# Maps in metres differ by less between versions of their software.
_ROUNDING = 1e-6


def public_files(universe: DensityUniverse, cluster: IntArray) -> dict[str, Callable[[], bytes]]:
    """Returns the public lists by the name of their file, each made when it is asked for."""
    areas, cover, sites = universe.areas, universe.cover, universe.sites
    files = {
        AREAS: lambda: areas_geojson(areas),
        PERIODS: lambda: periods_csv(universe.periods),
        COVER: lambda: cover_csv(areas, cover, cluster),
        PIECES: lambda: pieces_csv(areas, cover),
    }
    if sites is not None:
        files[SITES] = lambda: sites_csv(sites)
    return files


def read_universe(folder: Path, *, sites: bool) -> tuple[DensityUniverse, IntArray]:
    """Reads the public universe and the clusters of its cover.

    Args:
        folder: The release.
        sites: Whether people were seen at sites of their own, which have a file.

    Raises:
        ReleaseError: The files are not what hushway writes for any universe.
    """
    return _universe(lambda name: read_plain(folder / name, GEOMETRY_BYTES), sites=sites)


def check_readable(universe: DensityUniverse, cluster: IntArray) -> None:
    """Makes sure that a verifier can read the public lists back from their files.

    Raises:
        ReleaseError: It could not.
    """
    files = public_files(universe, cluster)
    try:
        again, _ = _universe(lambda name: files[name](), sites=universe.sites is not None)
        same = again.digest == universe.digest and _same_cover(again.cover, universe.cover)
    except (ValueError, LookupError, TypeError, ReleaseError):
        same = False
    if not same:
        raise ReleaseError(
            "The public lists would not be the same when read back from the release.",
            advice="Use plain text for ids and names, and Python's own floats for positions; no "
            "column of the sites may be called site.",
        )


def check_pieces(universe: DensityUniverse) -> None:
    """Makes sure that the pieces of an area together are no larger than the area.

    Raises:
        ReleaseError: They are larger.
    """
    pieces, sizes = universe.cover.pieces, universe.areas.sizes
    held = np.bincount(pieces.area, weights=pieces.size, minlength=len(sizes))
    if bool(np.any(held > sizes * (1 + _ROUNDING))):
        raise ReleaseError(
            "The pieces of an area are larger than the area.",
            advice="Make the cover from the areas that are published.",
        )


def _universe(data_of: Callable[[str], bytes], *, sites: bool) -> tuple[DensityUniverse, IntArray]:
    areas = read_areas(data_of(AREAS))
    known = read_sites(data_of(SITES)) if sites else None
    count = len(areas) if known is None else int(known.site.max()) + 1
    cover, cluster = read_cover(data_of(COVER), data_of(PIECES), areas, count)
    periods = read_periods(data_of(PERIODS))
    return DensityUniverse(areas=areas, periods=periods, sites=known, cover=cover), cluster


def _same_cover(one: Cover, other: Cover) -> bool:
    return (
        np.array_equal(one.pieces.site, other.pieces.site)
        and np.array_equal(one.pieces.area, other.pieces.area)
        and np.array_equal(one.pieces.size, other.pieces.size)
        and np.array_equal(one.cell, other.cell)
        and np.array_equal(one.centres, other.centres)
    )


# The public areas of a density as GeoJSON that can be read back exactly.
#
# Positions are written with as many digits as they have, so that the digest of the areas can be
# computed again from the file.

_BEGIN, _BETWEEN, _END = '{"type":"FeatureCollection","features":[\n', ",\n", "\n]}\n"


def areas_geojson(areas: Areas) -> bytes:
    """Returns the public areas as GeoJSON, one line an area, in index order."""
    return (_BEGIN + _BETWEEN.join(map(_feature, areas.areas)) + _END).encode()


def read_areas(data: bytes) -> Areas:
    """Reads the public areas back.

    Raises:
        ReleaseError: The bytes are not what `areas_geojson` writes.
    """
    refuse_large("areas.geojson", len(data), GEOMETRY_BYTES)
    areas = Areas(
        areas=tuple(
            Area(
                id=feature["properties"]["id"],
                name=feature["properties"]["name"],
                shape=_shape(feature["geometry"]),
            )
            for feature in parsed_json(data)["features"]
        )
    )
    if areas_geojson(areas) != data:
        raise _rewritten()
    return areas


def _feature(area: Area) -> str:
    shape = area.shape
    several = isinstance(shape, shapely.MultiPolygon)
    polygons = [_rings(polygon) for polygon in shapely.get_parts(shape)]
    facts = {
        "type": "Feature",
        "properties": {"id": area.id, "name": area.name},
        "geometry": {
            "type": "MultiPolygon" if several else "Polygon",
            "coordinates": polygons if several else polygons[0],
        },
    }
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _rings(polygon: shapely.Polygon) -> list[Any]:
    return [
        shapely.get_coordinates(ring, include_z=bool(ring.has_z)).tolist()
        for ring in (polygon.exterior, *polygon.interiors)
    ]


def _shape(geometry: dict[str, Any]) -> shapely.Polygon | shapely.MultiPolygon:
    if geometry["type"] == "Polygon":
        return _polygon(geometry["coordinates"])
    return shapely.MultiPolygon([_polygon(rings) for rings in geometry["coordinates"]])


def _polygon(rings: Sequence[Any]) -> shapely.Polygon:
    return shapely.Polygon(rings[0], rings[1:])


def _rewritten() -> ReleaseError:
    return damaged("areas.geojson is not as hushway writes it, or is larger than it may be.")
