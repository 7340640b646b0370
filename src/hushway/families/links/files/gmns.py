"""The public roads with the published counts as tables of the General Modeling Network Spec.

The spec fixes the names of the columns and lets further ones stand beside them. A release of one
period has its counts beside the links; of several periods they are a table of their own.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import shapely

from hushway.arrays import FloatArray
from hushway.families.links.files.roads import course_lines
from hushway.families.links.mechanism.table import LinkTable
from hushway.families.links.public.roads import RoadNetwork
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
