"""Reads the public list of areas. Public, so its errors may name ids and places in the file."""

import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from hushway.errors import GeographyError
from hushway.families.density.public.areas_geoparquet import geoparquet_areas
from hushway.families.density.public.areas_record import AreaColumns, AreaRecord, AreaRecords
from hushway.families.density.public.areas_shapefile import shapefile_areas
from hushway.families.density.public.geojson import geojson_areas
from hushway.families.density.public.repair import mended, refuse_missing
from hushway.geography.areas import Area, Areas
from hushway.tables.crs import known_crs, to_degrees
from hushway.tables.unpacking import refuse_unfit

__all__ = ["AreaColumns", "read_areas"]

_READERS = {
    ".geojson": geojson_areas,
    ".json": geojson_areas,
    ".geojson.gz": geojson_areas,
    ".json.gz": geojson_areas,
    ".parquet": geoparquet_areas,
    ".geoparquet": geoparquet_areas,
    ".pq": geoparquet_areas,
    ".shp": shapefile_areas,
    ".zip": shapefile_areas,
}
_SHOWN = 5


def read_areas(
    path: Path | str,
    columns: AreaColumns | None = None,
    *,
    crs: str | None = None,
    dissolve: bool = False,
) -> Areas:
    """Reads areas from GeoJSON, GeoParquet or a shapefile, and turns them into WGS84 degrees.

    Args:
        path: A .geojson or .json file (also with .gz), a .parquet or .geoparquet file, a .shp file
            with its other parts beside it, or a .zip of these parts.
        columns: Which column or property holds what.
        crs: What the coordinates mean, such as EPSG:2154; None for what the file says.
        dissolve: Whether features with the same id are merged; without it they are refused.

    Raises:
        GeographyError: The file cannot be used; the message says where it is wrong.
    """
    file = Path(path)
    found = _read(file, AreaColumns() if columns is None else columns)
    if not found.records:
        raise GeographyError(
            f"The areas file {file.name} is empty.", advice="Give a file with at least one area."
        )
    _check_ids(file, found.records, dissolve=dissolve)
    shapes = _mended_degrees(file, found, crs)
    groups: dict[str, list[int]] = {}
    for at, record in enumerate(found.records):
        groups.setdefault(record.id, []).append(at)
    return Areas(
        areas=tuple(
            Area(
                id=key,
                name=found.records[group[0]].name or key,
                shape=shapes[group[0]] if len(group) == 1 else shapely.union_all(shapes[group]),
            )
            for key, group in groups.items()
        )
    )


def _read(file: Path, columns: AreaColumns) -> AreaRecords:
    name = file.name.lower()
    endings = [ending for ending in _READERS if name.endswith(ending)]
    if not endings:
        raise GeographyError(
            f"The areas file {file.name} has an unknown format.",
            advice="Give a .geojson, .json, .parquet, .geoparquet, .shp or zipped .shp file.",
        )
    refuse_unfit(file)
    try:
        # Corners that are no numbers are refused later, once and by name of the file.
        with np.errstate(invalid="ignore"):
            return _READERS[endings[0]](file, columns)
    except FileNotFoundError:
        raise GeographyError(
            f"There is no areas file {file.name}.", advice="Check its path."
        ) from None
    except UnicodeDecodeError:
        raise GeographyError(
            f"The areas file {file.name} is not UTF-8.", advice="Save it as UTF-8."
        ) from None
    except (OSError, EOFError, zlib.error):
        raise GeographyError(
            f"The areas file {file.name} cannot be read.",
            advice="Check that it is a file, that it is whole and that you may read it.",
        ) from None


def _check_ids(file: Path, records: tuple[AreaRecord, ...], *, dissolve: bool) -> None:
    nameless = [record.where for record in records if not record.id.strip()]
    if nameless:
        raise GeographyError(
            f"Areas in {file.name} have no id: {_some(nameless)}.", advice="Give every area an id."
        )
    repeated = [key for key, n in Counter(record.id for record in records).items() if n > 1]
    if repeated and not dissolve:
        raise GeographyError(
            f"Area ids in {file.name} appear more than once: {_some(map(repr, repeated))}.",
            advice="Give every area an id of its own, or dissolve areas with the same id into one.",
        )


def _mended_degrees(file: Path, found: AreaRecords, crs: str | None) -> NDArray[Any]:
    """Returns valid polygons in degrees, one for each record."""
    meaning = found.crs if crs is None else crs
    if meaning is None:
        raise GeographyError(
            f"The areas file {file.name} does not say in which CRS its coordinates are.",
            advice="Name its CRS, for example EPSG:2154, or add the .prj part of a shapefile.",
        )
    noun = f"the areas file {file.name}"
    names = [f"{record.id!r} ({record.where} of {file.name})" for record in found.records]
    shapes = np.empty(len(names), dtype=object)
    shapes[:] = [record.shape for record in found.records]
    refuse_missing(shapes, names)
    return mended(to_degrees(shapes, known_crs(meaning, noun), noun), names)


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    shown = ", ".join(listed[:_SHOWN])
    return shown if len(listed) <= _SHOWN else f"{shown} and {len(listed) - _SHOWN} more"
