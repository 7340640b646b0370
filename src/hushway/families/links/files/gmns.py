"""The public roads with the published counts as tables of the General Modeling Network Spec.

The spec fixes the names of the columns and lets further ones stand beside them. A release of one
period has its counts beside the links; of several periods they are a table of their own.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from hushway.arrays import FloatArray
from hushway.families.links.files.roads import course_lines
from hushway.families.links.files.rows import PARQUET
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.public.roads import RoadNetwork
from hushway.release.folder.published_file import (
    PublishedFile,
    check_parts,
    columns_schema,
    write_parts,
)
from hushway.release.formats.places import csv_bytes, csv_parts

# What planners call the classes, from 1 to 5.
CLASS_WORDS = ("freeway", "principal arterial", "minor arterial", "collector", "local")

CONFIG_COLUMNS = (
    "dataset_name",
    "short_length",
    "long_length",
    "speed",
    "crs",
    "geometry_field_format",
    "id_type",
)
NODE_COLUMNS = ("node_id", "x_coord", "y_coord")
LINK_COLUMNS = (
    "link_id",
    "name",
    "from_node_id",
    "to_node_id",
    "directed",
    "geometry",
    "dir_flag",
    "length",
    "facility_type",
    "free_speed",
    "lanes",
    "class",
)
COUNT_COLUMNS = ("count", "standard_error")
MEASUREMENT_COLUMNS = ("link_id", "period", *COUNT_COLUMNS)

# About a centimetre, and a millimetre.
_DEGREE_DIGITS, _KILOMETRE_DIGITS = 7, 6
_SPEED_DIGITS = 2
_METRES = 1000
_ROWS_AT_ONCE = 1 << 16


def has_counts(table: LinkTable) -> bool:
    """Whether the counts stand beside the links: in a release of one period."""
    return len(table.universe.periods) == 1


def config_csv() -> bytes:
    """Returns the units of the tables. Lengths over speeds give hours."""
    return csv_bytes(CONFIG_COLUMNS, [("roads", "m", "km", "km/h", "EPSG:4326", "WKT", "string")])


def node_parts(roads: RoadNetwork) -> Iterator[bytes]:
    """Returns all nodes of the network, some rows at a time."""
    lon, lat = (_numbers(each, _DEGREE_DIGITS) for each in (roads.node_lon, roads.node_lat))
    return csv_parts(NODE_COLUMNS, zip(roads.node_id.tolist(), lon, lat, strict=True))


def link_parts(table: LinkTable) -> Iterator[bytes]:
    """Returns all links of the network, some rows at a time.

    In a release of one period, the counts of those that show stand beside them. Lanes are whole in
    the spec: half a lane counts as one.
    """
    rows: Iterator[Sequence[str]] = _links(table.universe.roads)
    if not has_counts(table):
        return csv_parts(LINK_COLUMNS, rows)
    counts = [("", "")] * table.universe.roads.links
    numbers = zip(table.counts.tolist(), table.standard_error.tolist(), strict=True)
    for link, (count, error) in zip(table.link.tolist(), numbers, strict=True):
        counts[link] = (repr(count), repr(error))
    both = ((*row, *own) for row, own in zip(rows, counts, strict=True))
    return csv_parts((*LINK_COLUMNS, *COUNT_COLUMNS), both)


def measurement_parts(table: LinkTable) -> Iterator[bytes]:
    """Returns the published rows of several periods, some at a time."""
    return csv_parts(MEASUREMENT_COLUMNS, _measurements(table))


def _measurements(table: LinkTable) -> Iterator[tuple[str, ...]]:
    labels = table.universe.periods.labels
    # Millions of rows as Python's own texts would take gigabytes.
    for start in range(0, len(table.link), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        columns = (
            table.universe.roads.link_id[table.link[rows]].tolist(),
            [labels[period] for period in table.period[rows].tolist()],
            map(repr, table.counts[rows].tolist()),
            map(repr, table.standard_error[rows].tolist()),
        )
        yield from zip(*columns, strict=True)


def _links(roads: RoadNetwork) -> Iterator[tuple[str, ...]]:
    lines = course_lines(roads, np.arange(roads.links))
    classes, links = roads.road_class.tolist(), roads.links
    columns = (
        roads.link_id.tolist(),
        roads.name.tolist(),
        roads.node_id[roads.tail].tolist(),
        roads.node_id[roads.head].tolist(),
        ["true"] * links,
        shapely.to_wkt(lines, rounding_precision=_DEGREE_DIGITS).tolist(),
        ["1"] * links,
        _numbers(roads.length / _METRES, _KILOMETRE_DIGITS),
        [CLASS_WORDS[road_class - 1] for road_class in classes],
        _numbers(roads.speed, _SPEED_DIGITS),
        map(_lanes, roads.lanes.tolist()),
        map(str, classes),
    )
    yield from zip(*columns, strict=True)


def _lanes(lanes: float) -> str:
    return str(int(lanes + 0.5)) if math.isfinite(lanes) and lanes >= 0 else ""


def _numbers(values: FloatArray, digits: int) -> list[str]:
    return [repr(value) for value in np.round(values, digits).tolist()]


GMNS_CONFIG = "gmns/config.csv"
GMNS_NODES = "gmns/node.csv"
GMNS_LINKS = "gmns/link.csv"
GMNS_MEASUREMENTS = "gmns/link_measurement.csv"

_LINK_WORDS = (
    ("string", "Id of the link."),
    ("string", "Name of the street; missing if it has none."),
    ("string", "Node that the link leaves."),
    ("string", "Node that it leads to."),
    ("boolean", "Always true: each direction is a link."),
    ("string", "Its course as well-known text."),
    ("integer", "Always 1: the course runs from the first node to the second."),
    ("number", "Length in kilometres."),
    ("string", "The class in the words of planners."),
    ("number", "Usual speed in km/h, which is public; not measured."),
    ("integer", "Number of lanes, rounded; missing if unknown."),
    ("integer", "Class, from 1 (motorways) to 5 (residential streets)."),
)
_COUNT_WORDS = (
    ("number", "Published number of travellers; missing if the link does not show."),
    ("number", "What the count is expected to be off by; missing likewise."),
)


def _links_words(table: LinkTable) -> str:
    return (
        "The whole public network as the link table of the General Modeling Network Specification"
        f"{', with the counts of the links that show' if has_counts(table) else ''}."
    )


def _links_schema(table: LinkTable) -> dict[str, Any]:
    if not has_counts(table):
        return columns_schema(LINK_COLUMNS, _LINK_WORDS, key=["link_id"])
    names = (*LINK_COLUMNS, *COUNT_COLUMNS)
    return columns_schema(names, (*_LINK_WORDS, *_COUNT_WORDS), key=["link_id"])


Parts = Callable[[LinkTable], Iterable[bytes]]


def check_rendered(path: Path, name: str, parts: Iterable[bytes]) -> None:
    """Makes sure that a file holds what follows from the table.

    Raises:
        ReleaseError: It does not.
    """
    check_parts(path, parts, f"{name} does not hold the same roads and numbers as {PARQUET}.")


def _written(parts: Parts) -> Callable[[LinkTable, Path], None]:
    return lambda table, path: write_parts(path, parts(table))


def _compared(name: str, parts: Parts) -> Callable[[LinkTable, Path], None]:
    return lambda table, path: check_rendered(path, name, parts(table))


def _node_parts(table: LinkTable) -> Iterable[bytes]:
    return node_parts(table.universe.roads)


def _config_parts(_: LinkTable) -> Iterable[bytes]:
    return [config_csv()]


LinkFile = PublishedFile[LinkTable, LinkTable]

GMNS_FILES: tuple[LinkFile, ...] = (
    LinkFile(
        path=GMNS_LINKS,
        title="Roads as GMNS links",
        description=_links_words,
        schema=_links_schema,
        write=_written(link_parts),
        check=_compared(GMNS_LINKS, link_parts),
    ),
    LinkFile(
        path=GMNS_NODES,
        title="Nodes as GMNS nodes",
        description="All nodes of the public network.",
        schema=columns_schema(
            NODE_COLUMNS,
            (
                ("string", "Id of the node."),
                ("number", "Longitude in degrees."),
                ("number", "Latitude in degrees."),
            ),
            key=["node_id"],
        ),
        write=_written(_node_parts),
        check=_compared(GMNS_NODES, _node_parts),
    ),
    LinkFile(
        path=GMNS_CONFIG,
        title="Units of the GMNS tables",
        description="One row. Lengths over speeds give hours.",
        schema=columns_schema(
            CONFIG_COLUMNS,
            (
                ("string", "What the network is called."),
                ("string", "Unit of short lengths."),
                ("string", "Unit of the lengths of links."),
                ("string", "Unit of speeds."),
                ("string", "Coordinates: longitudes and latitudes of WGS84."),
                ("string", "How courses are written."),
                ("string", "Type of the ids."),
            ),
            key=["dataset_name"],
        ),
        write=_written(_config_parts),
        check=_compared(GMNS_CONFIG, _config_parts),
    ),
    LinkFile(
        path=GMNS_MEASUREMENTS,
        title="Counts of GMNS links",
        description="The published counts by link and period. The specification has no table for "
        "them.",
        schema=columns_schema(
            MEASUREMENT_COLUMNS,
            (
                ("string", "Id of the link."),
                ("string", "Label of the period."),
                ("number", "Published number of travellers."),
                ("number", "What the count is expected to be off by."),
            ),
            key=["link_id", "period"],
        ),
        write=_written(measurement_parts),
        check=_compared(GMNS_MEASUREMENTS, measurement_parts),
        is_there=lambda table: not has_counts(table),
    ),
)
