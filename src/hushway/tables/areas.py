"""Reads the public list of areas. Public, so its errors may name ids and places in the file."""

import json
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from numpy.typing import NDArray

from hushway.arrays import BoolArray
from hushway.errors import GeographyError
from hushway.geography.areas import Area, Areas
from hushway.tables.areas_shapefile import (
    AreaColumns,
    AreaRecord,
    AreaRecords,
    check_columns,
    damaged_file,
    id_text,
    shapefile_areas,
)
from hushway.tables.crs import known_crs, to_degrees
from hushway.tables.geojson import Feature, damaged_feature, read_features
from hushway.tables.unpacking import refuse_unfit

# What coordinates mean in GeoParquet that does not say; null means that nobody knows.


def geoparquet_areas(file: Path, columns: AreaColumns) -> AreaRecords:
    """Returns one record for each row.

    Raises:
        GeographyError: The file is damaged, is no GeoParquet, or lacks a column.
        OSError: The file cannot be read.
    """
    if not file.stat().st_size:
        return AreaRecords(records=(), crs=None)
    try:
        schema = pq.read_schema(file)
        column, crs = _geometry_column(file, schema)
        check_columns(file, schema.names, columns)
        wanted = dict.fromkeys([columns.id, columns.name, column])
        with pq.ParquetFile(file) as opened:
            table = opened.read([name for name in wanted if name in schema.names])
    except pa.ArrowException:
        raise damaged_file(file) from None
    ids = table[columns.id].to_pylist()
    named = columns.name in table.column_names
    names = table[columns.name].to_pylist() if named else [None] * len(ids)
    shapes = _shapes(file, table[column])
    return AreaRecords(
        records=tuple(
            AreaRecord(
                where=f"row {row}",
                id=id_text(file, key, f"row {row}"),
                name=id_text(file, name, f"row {row}"),
                shape=shape,
            )
            for row, (key, name, shape) in enumerate(zip(ids, names, shapes, strict=True), start=1)
        ),
        crs=crs,
    )


def _geometry_column(file: Path, schema: pa.Schema) -> tuple[str, Any]:
    """Returns the name of the column of geometries, and their CRS."""
    try:
        facts = json.loads((schema.metadata or {})[b"geo"])
        column = facts["primary_column"]
        geometry = facts["columns"][column]
        encoding = geometry["encoding"]
        crs = geometry.get("crs", _DEGREES)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise GeographyError(
            f"The areas file {file.name} is Parquet without geometries.",
            advice="Write it as GeoParquet: its metadata must name the column of geometries.",
        ) from None
    if encoding != "WKB" or column not in schema.names:
        raise GeographyError(
            f"The areas file {file.name} has no geometries in WKB.",
            advice="Write it as GeoParquet with the encoding WKB.",
        )
    return column, crs


def _shapes(file: Path, column: pa.ChunkedArray) -> list[shapely.Geometry | None]:
    try:
        return list(shapely.from_wkb(column.to_pylist()))
    except (shapely.errors.GEOSException, TypeError, ValueError):
        raise damaged_file(file) from None


# Mending may change the size of an area by this part of it.
_MOST_CHANGED = 1e-3
_POLYGONAL = (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)


def refuse_missing(shapes: NDArray[Any], names: list[str]) -> None:
    """Refuses shapes that are missing, empty, or no polygons."""
    empty = shapely.is_missing(shapes) | shapely.is_empty(shapes)
    _refuse(empty, names, "Areas have no shape", "Give every area a polygon.")
    other = ~np.isin(shapely.get_type_id(shapes), _POLYGONAL)
    _refuse(other, names, "Areas are not polygons", "Give every area as Polygon or MultiPolygon.")


def mended(shapes: NDArray[Any], names: list[str]) -> NDArray[Any]:
    """Returns polygons that do not cross themselves."""
    crossed = ~shapely.is_valid(shapes)
    whole = shapes.copy()
    whole[crossed] = [_polygonal(shape) for shape in shapely.make_valid(shapes[crossed])]
    before, after = shapely.area(shapes), shapely.area(whole)
    changed = abs(after - before) > _MOST_CHANGED * np.maximum(before, after)
    _refuse(
        changed,
        names,
        "The borders of areas cross themselves",
        "Repair the polygons, for example with make_valid, and check what they look like.",
    )
    _refuse(after <= 0, names, "Areas have no size", "Give every area a polygon with a size.")
    return whole


def _polygonal(shape: shapely.Geometry) -> shapely.Geometry:
    """Returns the polygons of a mended shape; lines and points have no size."""
    if shapely.get_type_id(shape) in _POLYGONAL:
        return shape
    # Twice: a collection may hold a multipolygon.
    parts = shapely.get_parts(shapely.get_parts(shape))
    return shapely.union_all(parts[shapely.get_type_id(parts) == shapely.GeometryType.POLYGON])


def _refuse(wrong: BoolArray, names: list[str], what: str, advice: str) -> None:
    if not wrong.any():
        return
    named = [names[at] for at in np.flatnonzero(wrong)]
    more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
    raise GeographyError(f"{what}: {', '.join(named[:_SHOWN])}{more}.", advice=advice)


# What coordinates mean in GeoJSON that does not say: RFC 7946.
_DEGREES = "OGC:CRS84"


def geojson_areas(file: Path, columns: AreaColumns) -> AreaRecords:
    """Returns one record for each feature.

    Raises:
        GeographyError: The file is not a collection of features, or lacks a property.
        OSError: The file cannot be read.
        EOFError: The file is cut off.
        UnicodeDecodeError: The file is not UTF-8.
    """
    collection = read_features(file, "areas")
    features = collection.features
    if features:
        found = dict.fromkeys(key for feature in features for key in feature.properties)
        # The feature's own id is a member beside the properties.
        own = (
            [columns.id]
            if any(_own_id(feature, columns) is not None for feature in features)
            else []
        )
        check_columns(file, [*found, *own], columns)
    return AreaRecords(
        records=tuple(
            AreaRecord(
                where=feature.where,
                id=id_text(file, _id(feature, columns), feature.where),
                name=id_text(file, feature.properties.get(columns.name or ""), feature.where),
                shape=_shape(file, feature),
            )
            for feature in features
        ),
        crs=_DEGREES if collection.crs is None else collection.crs,
    )


def _id(feature: Feature, columns: AreaColumns) -> Any:
    return feature.properties.get(columns.id, _own_id(feature, columns))


def _own_id(feature: Feature, columns: AreaColumns) -> Any:
    return feature.own_id if columns.id == "id" else None


def _shape(file: Path, feature: Feature) -> shapely.Geometry | None:
    if feature.geometry is None:
        return None
    try:
        return shapely.from_geojson(json.dumps(feature.geometry))
    except (shapely.errors.GEOSException, ValueError, TypeError, RecursionError):
        raise damaged_feature(file, feature.where) from None


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
