"""Reads the public list of areas. Public, so its errors may name ids and places in the file."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from numpy.typing import NDArray

from hushway.arrays import BoolArray
from hushway.errors import GeographyError
from hushway.escaping import some_of
from hushway.geography.areas import Area, Areas
from hushway.tables.areas_shapefile import (
    AreaColumns,
    AreaRecord,
    AreaRecords,
    check_columns,
    damaged_file,
    shapefile_areas,
)
from hushway.tables.crs import DEGREES, geometry_column, known_crs, to_degrees
from hushway.tables.geojson import Feature, damaged_feature, id_text, read_features
from hushway.tables.unpacking import public_file


def geoparquet_areas(file: Path, columns: AreaColumns) -> AreaRecords:
    """Returns one record for each row, and the CRS."""
    if not file.stat().st_size:
        return [], None
    try:
        schema = pq.read_schema(file)
        column, crs = geometry_column(file, "areas", schema)
        check_columns(file, schema.names, columns)
        wanted = dict.fromkeys([columns.id, columns.name, column])
        with pq.ParquetFile(file) as opened:
            table = opened.read([name for name in wanted if name in schema.names])
    except pa.ArrowException:
        raise damaged_file(file) from None
    ids = table[columns.id].to_pylist()
    named = columns.name in table.column_names
    names = table[columns.name].to_pylist() if named else [None] * len(ids)
    rows = enumerate(zip(ids, names, _shapes(file, table[column]), strict=True), start=1)
    return [
        AreaRecord(
            f"row {row}", id_text(file, key, f"row {row}"), id_text(file, name, f"row {row}"), shape
        )
        for row, (key, name, shape) in rows
    ], crs


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
    if wrong.any():
        named = some_of((names[at] for at in np.flatnonzero(wrong)), _SHOWN)
        raise GeographyError(f"{what}: {named}.", advice=advice)


def geojson_areas(file: Path, columns: AreaColumns) -> AreaRecords:
    """Returns one record for each feature, and the CRS."""
    collection = read_features(file, "areas")
    features = collection.features
    if features:
        found = dict.fromkeys(key for feature in features for key in feature.properties)
        # The feature's own id is a member beside the properties.
        own = any(_own_id(feature, columns) is not None for feature in features)
        check_columns(file, [*found, *([columns.id] if own else [])], columns)
    records = []
    for feature in features:
        where, own = feature.where, _own_id(feature, columns)
        key = id_text(file, feature.properties.get(columns.id, own), where)
        name = id_text(file, feature.properties.get(columns.name or ""), where)
        records.append(AreaRecord(where, key, name, _shape(file, feature)))
    return records, DEGREES if collection.crs is None else collection.crs


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
    records, said = _read(file, AreaColumns() if columns is None else columns)
    if not records:
        raise GeographyError(
            f"The areas file {file.name} is empty.", advice="Give a file with at least one area."
        )
    _check_ids(file, records, dissolve=dissolve)
    shapes = _mended_degrees(file, records, said if crs is None else crs)
    groups: dict[str, list[int]] = {}
    for at, record in enumerate(records):
        groups.setdefault(record.id, []).append(at)
    return Areas(
        areas=tuple(
            Area(
                id=key,
                name=records[group[0]].name or key,
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
    # Corners that are no numbers are refused later, once and by name of the file.
    with public_file(file, "areas"), np.errstate(invalid="ignore"):
        return _READERS[endings[0]](file, columns)


def _check_ids(file: Path, records: list[AreaRecord], *, dissolve: bool) -> None:
    nameless = [record.where for record in records if not record.id.strip()]
    if nameless:
        raise GeographyError(
            f"Areas in {file.name} have no id: {some_of(nameless, _SHOWN)}.",
            advice="Give every area an id.",
        )
    repeated = [key for key, n in Counter(record.id for record in records).items() if n > 1]
    if repeated and not dissolve:
        raise GeographyError(
            f"Area ids in {file.name} appear more than once: "
            f"{some_of(map(repr, repeated), _SHOWN)}.",
            advice="Give every area an id of its own, or dissolve areas with the same id into one.",
        )


def _mended_degrees(file: Path, records: list[AreaRecord], crs: Any) -> NDArray[Any]:
    """Returns valid polygons in degrees, one for each record."""
    if crs is None:
        raise GeographyError(
            f"The areas file {file.name} does not say in which CRS its coordinates are.",
            advice="Name its CRS, for example EPSG:2154, or add the .prj part of a shapefile.",
        )
    noun = f"the areas file {file.name}"
    names = [f"{record.id!r} ({record.where} of {file.name})" for record in records]
    shapes = np.empty(len(names), dtype=object)
    shapes[:] = [record.shape for record in records]
    refuse_missing(shapes, names)
    return mended(to_degrees(shapes, known_crs(crs, noun), noun), names)
