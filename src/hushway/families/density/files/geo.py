"""A published density as GeoParquet 1.1: one row an area, with its shape and its whole series.

Programs for maps open the file as it is. The metadata that makes a Parquet file a GeoParquet file
is a few lines of JSON, written here.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import shapely

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.files.rows import MOMENT, start_times
from hushway.families.density.mechanism.table import DensityTable
from hushway.geography.areas import Areas
from hushway.release.formats.places import (
    check_geoparquet,
    number_array,
    text_array,
    write_geoparquet,
)

_SERIES = pa.list_(pa.field("element", pa.float64(), nullable=False))
_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("geometry", pa.binary(), nullable=False),
        pa.field("total", pa.float64(), nullable=False),
        pa.field("mean", pa.float64(), nullable=False),
        pa.field("busiest", MOMENT, nullable=False),
        pa.field("counts", _SERIES, nullable=False),
        pa.field("standard_errors", _SERIES, nullable=False),
    ]
)
COLUMNS = tuple(_SCHEMA.names)

_GEOMETRY = "geometry"
_HUNDREDTHS = 100


def totals_of(counts: FloatArray) -> FloatArray:
    """Returns the sum of each row of hundredths: exact, whatever the order of the additions."""
    hundredths = np.rint(counts * _HUNDREDTHS).astype(np.int64)
    totals: FloatArray = hundredths.sum(axis=-1) / _HUNDREDTHS
    return totals


def write_density_geo(table: DensityTable, path: Path) -> None:
    """Writes a density as one GeoParquet file."""
    write_geoparquet(_arrow(table), path)


def check_density_geo(table: DensityTable, path: Path) -> None:
    """Makes sure that a GeoParquet file holds a density.

    Raises:
        ReleaseError: It does not.
    """
    check_geoparquet(_arrow(table), path, "the areas")


def geo_metadata(areas: Areas) -> bytes:
    """Returns what makes a Parquet file a GeoParquet file.

    Without a word about coordinates they are longitudes and latitudes of WGS84 (OGC:CRS84).
    """
    kinds = {area.shape.geom_type for area in areas.areas}
    column: dict[str, Any] = {
        "encoding": "WKB",
        "geometry_types": sorted(kinds),
        "edges": "planar",
        "bbox": shapely.total_bounds(areas.shapes).tolist(),
    }
    facts = {"version": "1.1.0", "primary_column": _GEOMETRY, "columns": {_GEOMETRY: column}}
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _arrow(table: DensityTable) -> pa.Table:
    areas, periods = table.universe.areas, table.universe.periods
    totals = totals_of(table.counts)
    busiest: IntArray = start_times(periods)[table.counts.argmax(axis=1)]
    columns = [
        text_array(areas.ids),
        text_array([area.name for area in areas.areas]),
        _binary_array(_shapes(areas)),
        number_array(totals),
        number_array(np.round(totals / len(periods), 2)),
        number_array(busiest).cast(MOMENT),
        _lists(table.counts),
        _lists(table.standard_error),
    ]
    return pa.Table.from_arrays(
        columns, schema=_SCHEMA.with_metadata({b"geo": geo_metadata(areas)})
    )


def _shapes(areas: Areas) -> list[bytes]:
    # Heights are of no use on a map, and would ask for a box with heights.
    return list(shapely.to_wkb(shapely.force_2d(areas.shapes), byte_order=1))


def _lists(numbers: FloatArray) -> pa.Array:
    ends = np.arange(0, numbers.size + 1, numbers.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(
        number_array(ends), number_array(numbers.reshape(-1)), type=_SERIES
    )


def _binary_array(values: list[bytes]) -> pa.Array:
    ends = np.cumsum([0, *map(len, values)]).astype(np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(pa.binary(), len(values), buffers)
