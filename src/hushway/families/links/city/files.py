"""Traces as a Parquet file, as a collector of positions would hand them over."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

if TYPE_CHECKING:
    from hushway.families.links.city.traces_city import TraceCity


def write_traces(parts: Iterable["TraceCity"], path: Path) -> None:
    """Writes person, trip, time, lon, lat, speed and heading of every position.

    Args:
        parts: The city, or parts of it one after the other: only one is held at a time.
        path: Where to write.
    """
    with parquet.ParquetWriter(path, _SCHEMA) as file:
        for part in parts:
            file.write_table(_table(part))


_SCHEMA = pa.schema(
    [
        ("person", pa.int64()),
        ("trip", pa.int64()),
        ("time", pa.timestamp("ms")),
        ("lon", pa.float64()),
        ("lat", pa.float64()),
        ("speed", pa.float64()),
        ("heading", pa.float64()),
    ]
)


def _table(city: "TraceCity") -> pa.Table:
    size = np.diff(city.start)
    midnight = np.datetime64(city.first_day, "ms").astype(np.int64)
    columns: tuple[NDArray[Any], ...] = (
        np.repeat(city.person, size),
        np.repeat(city.trip, size),
        midnight + np.rint(1_000 * city.seconds).astype(np.int64),
        city.lon,
        city.lat,
        city.speed,
        city.heading,
    )
    arrays = [
        # What a device does not report is missing, not a number that is none.
        pa.array(column, type=field.type, mask=np.isnan(column))
        for column, field in zip(columns, _SCHEMA, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=_SCHEMA)
