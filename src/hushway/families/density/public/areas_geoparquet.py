"""Areas from GeoParquet: a Parquet file whose metadata says what its geometries mean."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import shapely

from hushway.errors import GeographyError
from hushway.families.density.public.areas_record import (
    AreaColumns,
    AreaRecord,
    AreaRecords,
    check_columns,
    damaged_file,
    id_text,
)

# What coordinates mean in GeoParquet that does not say; null means that nobody knows.
_DEGREES = "OGC:CRS84"


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
