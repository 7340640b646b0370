"""A published density as GeoParquet 1.1: one row an area, with its shape and its whole series.

Programs for maps open the file as it is.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import shapely

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.files.rows import MOMENT, start_times
from hushway.families.density.mechanism.table import DensityTable
from hushway.geography.areas import Areas
from hushway.release.formats.geoparquet import (
    check_geoparquet,
    geo_metadata,
    shape_array,
    write_geoparquet,
)
from hushway.release.formats.places import number_array, text_array

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


def _arrow(table: DensityTable) -> pa.Table:
    areas, periods = table.universe.areas, table.universe.periods
    totals = totals_of(table.counts)
    busiest: IntArray = start_times(periods)[table.counts.argmax(axis=1)]
    columns = [
        text_array(areas.ids),
        text_array([area.name for area in areas.areas]),
        shape_array(_shapes(areas)),
        number_array(totals),
        number_array(np.round(totals / len(periods), 2)),
        number_array(busiest).cast(MOMENT),
        _lists(table.counts),
        _lists(table.standard_error),
    ]
    kinds = sorted({area.shape.geom_type for area in areas.areas})
    metadata = geo_metadata(kinds, shapely.total_bounds(areas.shapes).tolist())
    return pa.Table.from_arrays(columns, schema=_SCHEMA.with_metadata(metadata))


def _shapes(areas: Areas) -> list[bytes]:
    # Heights are of no use on a map, and would ask for a box with heights.
    return list(shapely.to_wkb(shapely.force_2d(areas.shapes), byte_order=1))


def _lists(numbers: FloatArray) -> pa.Array:
    ends = np.arange(0, numbers.size + 1, numbers.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(
        number_array(ends), number_array(numbers.reshape(-1)), type=_SERIES
    )
