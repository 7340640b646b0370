"""Tables for maps as GeoParquet 1.1, written so that a verifier knows what they take.

The metadata that makes a Parquet file a GeoParquet file is a few lines of JSON, written here.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.arrays import FloatArray
from hushway.errors import damaged
from hushway.release.formats.places import nullable_array, number_array
from hushway.release.untrusted.parquet import open_parquet

GEOMETRY = "geometry"

# A reader holds a row group at a time.
_GROUP_BYTES = 1 << 26
# Pages may take some room beside the numbers themselves.
_OVERHEAD, _ROOM = 4, 1 << 20


def write_geoparquet(table: pa.Table, path: Path) -> None:
    """Writes a table with the metadata "geo", texts and shapes one by one.

    A verifier then knows what the file takes before it reads it.
    """
    rows = max(1, len(table) * _GROUP_BYTES // max(1, table.nbytes))
    pq.write_table(table, path, compression="zstd", use_dictionary=False, row_group_size=rows)


def check_geoparquet(expected: pa.Table, path: Path, what: str) -> None:
    """Makes sure that a GeoParquet file holds a table, with its metadata for maps.

    Args:
        expected: The table, with the metadata "geo".
        path: The file.
        what: What it should hold, for the message.
    """
    lists = [column for column in expected.columns if pa.types.is_list(column.type)]
    values = max((sum(len(part.values) for part in column.chunks) for column in lists), default=0)
    room = _OVERHEAD * expected.nbytes + _ROOM
    with open_parquet(path, expected.schema, rows=len(expected), values=values, size=room) as file:
        facts = file.metadata
        # Arrow reads a copy of its own: compare the metadata that other programs read.
        words = facts.metadata[b"geo"] == expected.schema.metadata[b"geo"]
        same = words and file.schema_arrow.equals(expected.schema, check_metadata=True)
        if not same or facts.num_rows != len(expected) or not _same_rows(file, expected):
            raise damaged(f"{path.name} does not hold {what} with the published numbers.")


def _same_rows(file: pq.ParquetFile, expected: pa.Table) -> bool:
    row = 0
    for group in range(file.num_row_groups):
        part = file.read_row_group(group)
        if not part.equals(expected.slice(row, len(part))):
            return False
        row += len(part)
    return row == len(expected)


def geo_metadata(kinds: Sequence[str], bounds: Sequence[float]) -> dict[bytes, bytes]:
    """Returns what makes a Parquet file a GeoParquet file.

    Without a `crs`, coordinates are longitudes and latitudes of WGS84 (OGC:CRS84).

    Args:
        kinds: What the shapes are.
        bounds: West, south, east and north of all of them; empty without shapes.
    """
    column: dict[str, Any] = {
        "encoding": "WKB",
        "geometry_types": list(kinds),
        "edges": "planar",
    }
    if len(bounds):
        column["bbox"] = list(bounds)
    facts = {"version": "1.1.0", "primary_column": GEOMETRY, "columns": {GEOMETRY: column}}
    words = json.dumps(facts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return {b"geo": words.encode()}


def series_array(numbers: FloatArray, kind: pa.DataType) -> pa.Array:
    """Returns each row of a matrix as a list; NaN is missing where the kind of list allows it."""
    flat = numbers.reshape(-1)
    ends = np.arange(0, flat.size + 1, numbers.shape[1], dtype=np.int32)
    values = nullable_array(flat) if kind.value_field.nullable else number_array(flat)
    return pa.ListArray.from_arrays(number_array(ends), values, type=kind)


def shape_array(shapes: Sequence[bytes]) -> pa.Array:
    """Returns shapes, as WKB, as an Arrow array."""
    ends = np.cumsum([0, *map(len, shapes)]).astype(np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(shapes))]
    return pa.Array.from_buffers(pa.binary(), len(shapes), buffers)
