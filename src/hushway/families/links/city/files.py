"""Traces and roads as files: Parquet as collectors hand it over, and GMNS (node.csv, link.csv)."""

import csv
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from hushway.families.links.public.roads import RoadNetwork

if TYPE_CHECKING:
    from hushway.families.links.city.traces_city import TraceCity


def write_traces(parts: Iterable["TraceCity"], path: Path) -> None:
    """Writes person, trip, time, lon, lat, speed and heading of every position."""
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


# What the classes are called in the files, from 1 on.
_FACILITIES = ("", "motorway", "primary", "secondary", "tertiary", "residential")


def write_gmns(roads: RoadNetwork, folder: Path) -> None:
    """Writes the roads: one row for each node, and one for each direction of a street.

    Lengths are in metres, speeds in km/h, courses as WKT in WGS84 degrees.
    """
    with (folder / "node.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("node_id", "x_coord", "y_coord"))
        columns = roads.node_id, roads.node_lon, roads.node_lat
        rows.writerows(zip(*(column.tolist() for column in columns), strict=True))
    with (folder / "link.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(
            ("link_id", "name", "from_node_id", "to_node_id", "directed", "geometry", "length",
             "facility_type", "free_speed", "lanes")
        )  # fmt: skip
        rows.writerows(
            zip(
                roads.link_id.tolist(),
                roads.name.tolist(),
                roads.node_id[roads.tail].tolist(),
                roads.node_id[roads.head].tolist(),
                [1] * roads.links,
                _wkt(roads),
                roads.length.tolist(),
                [_FACILITIES[road_class] for road_class in roads.road_class.tolist()],
                roads.speed.tolist(),
                roads.lanes.astype(int).tolist(),
                strict=True,
            )
        )


def _wkt(roads: RoadNetwork) -> list[str]:
    # A float's own text is the shortest that reads back as the same number.
    point = [f"{x!r} {y!r}" for x, y in zip(roads.lon.tolist(), roads.lat.tolist(), strict=True)]
    start = roads.start.tolist()
    return [f"LINESTRING ({', '.join(point[begin:end])})" for begin, end in pairwise(start)]
