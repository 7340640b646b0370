"""The names of the columns of a file, found out without reading its rows."""

import csv
import zlib
from pathlib import Path

from hushway.errors import HushwayError
from hushway.tables.first_lines import read_header
from hushway.tables.geojson import read_features

_PARQUET = (".parquet", ".pq", ".geoparquet")
_GEOJSON = (".geojson", ".json")
# Reading a larger one only for its names would take a second.
_MOST_GEOJSON_BYTES = 8_000_000


def column_names(file: Path) -> tuple[str, ...] | None:
    """Returns the names of a file's columns, or of its first feature's properties.

    The position of a feature counts as columns `lon` and `lat`, and an id of its own as `id`.

    Returns:
        The names; None where they cannot be told at once: the file is damaged, no file at
        all, of another format or large GeoJSON. Whoever reads it says what is wrong then.
    """
    name = file.name.lower()
    if not file.is_file():  # a pipe would keep its reader waiting
        return None
    try:
        if name.endswith((".csv", ".csv.gz")):
            return tuple(read_header(file)[1]) or None
        if name.endswith(_PARQUET):
            return _parquet_names(file)
        if name.endswith(_GEOJSON) and file.stat().st_size <= _MOST_GEOJSON_BYTES:
            return _property_names(file)
    except (OSError, EOFError, UnicodeError, csv.Error, zlib.error, HushwayError):
        return None
    return None


def _parquet_names(file: Path) -> tuple[str, ...] | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return tuple(pq.read_schema(file).names)
    except pa.ArrowException:
        return None


def _property_names(file: Path) -> tuple[str, ...] | None:
    features = read_features(file, "features").features
    if not features:
        return None
    first = features[0]
    return (*first.properties, *(() if first.own_id is None else ("id",)), "lon", "lat")
