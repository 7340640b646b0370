"""The public roads with the published counts as tables of the General Modeling Network Spec.

The spec fixes the names of the columns and allows further ones. In a release of one period the
counts are columns of the links; those of several periods have a table of their own.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import shapely

from hushway.arrays import FloatArray
from hushway.families.links.files.roads import course_lines
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.public.roads import RoadNetwork
from hushway.release.folder.published_file import PublishedFile
from hushway.release.formats.columns import NUMBER, TEXT, WHOLE, Column, Columns
from hushway.release.formats.places import csv_bytes, csv_parts

# What planners call the classes, from 1 to 5.
CLASS_WORDS = ("freeway", "principal arterial", "minor arterial", "collector", "local")

CONFIG = Columns(
    (
        Column("dataset_name", TEXT, "What the network is called."),
        Column("short_length", TEXT, "Unit of short lengths."),
        Column("long_length", TEXT, "Unit of the lengths of links."),
        Column("speed", TEXT, "Unit of speeds."),
        Column("crs", TEXT, "Coordinates: longitudes and latitudes of WGS84."),
        Column("geometry_field_format", TEXT, "How courses are written."),
        Column("id_type", TEXT, "Type of the ids."),
    ),
    key=("dataset_name",),
)
NODE = Columns(
    (
        Column("node_id", TEXT, "Id of the node."),
        Column("x_coord", NUMBER, "Longitude in degrees."),
        Column("y_coord", NUMBER, "Latitude in degrees."),
    ),
    key=("node_id",),
)
LINK = Columns(
    (
        Column("link_id", TEXT, "Id of the link."),
        Column("name", TEXT, "Name of the street; missing if it has none."),
        Column("from_node_id", TEXT, "Node that the link leaves."),
        Column("to_node_id", TEXT, "Node that it leads to."),
        Column("directed", pa.bool_(), "Always true: each direction is a link."),
        Column("geometry", TEXT, "Its course as well-known text."),
        Column("dir_flag", WHOLE, "Always 1: the course runs from the first node to the second."),
        Column("length", NUMBER, "Length in kilometres."),
        Column("facility_type", TEXT, "The class in the words of planners."),
        Column("free_speed", NUMBER, "Usual speed in km/h, which is public; not measured."),
        Column("lanes", WHOLE, "Number of lanes, rounded; missing if unknown."),
        Column("class", WHOLE, "Class, from 1 (motorways) to 5 (residential streets)."),
    ),
    key=("link_id",),
)
COUNTED_LINK = LINK.and_also(
    Column("count", NUMBER, "Published number of travellers; missing if the link does not show."),
    Column("standard_error", NUMBER, "What the count is expected to be off by; missing likewise."),
)
MEASUREMENT = Columns(
    (
        Column("link_id", TEXT, "Id of the link."),
        Column("name", TEXT, "Name of the street; empty if it has none."),
        Column("period", TEXT, "Label of the period."),
        Column("count", NUMBER, "Published number of travellers."),
        Column("standard_error", NUMBER, "What the count is expected to be off by."),
    ),
    key=("link_id", "period"),
)

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
    return csv_bytes(CONFIG.names, [("roads", "m", "km", "km/h", "EPSG:4326", "WKT", "string")])


def node_parts(roads: RoadNetwork) -> Iterator[bytes]:
    """Returns all nodes of the network, some rows at a time."""
    lon, lat = (_numbers(each, _DEGREE_DIGITS) for each in (roads.node_lon, roads.node_lat))
    return csv_parts(NODE.names, zip(roads.node_id.tolist(), lon, lat, strict=True))


def link_parts(table: LinkTable) -> Iterator[bytes]:
    """Returns all links of the network, some rows at a time.

    In a release of one period they include the published counts. Lanes are whole in the spec: half
    a lane counts as one.
    """
    rows: Iterator[Sequence[str]] = _links(table.universe.roads)
    if not has_counts(table):
        return csv_parts(LINK.names, rows)
    counts = [("", "")] * table.universe.roads.links
    numbers = zip(table.counts.tolist(), table.standard_error.tolist(), strict=True)
    for link, (count, error) in zip(table.link.tolist(), numbers, strict=True):
        counts[link] = (repr(count), repr(error))
    both = ((*row, *own) for row, own in zip(rows, counts, strict=True))
    return csv_parts(COUNTED_LINK.names, both)


def measurement_parts(table: LinkTable) -> Iterator[bytes]:
    """Returns the published rows of several periods, some at a time."""
    return csv_parts(MEASUREMENT.names, _measurements(table))


def _measurements(table: LinkTable) -> Iterator[tuple[str, ...]]:
    labels = table.universe.periods.labels
    # Millions of rows as Python's own texts would take gigabytes.
    for start in range(0, len(table.link), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        columns = (
            table.universe.roads.link_id[table.link[rows]].tolist(),
            table.universe.roads.name[table.link[rows]].tolist(),
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


def _links_words(table: LinkTable) -> str:
    return (
        "The whole public network as the link table of the General Modeling Network Specification"
        f"{', with the counts of the links that show' if has_counts(table) else ''}."
    )


LinkFile = PublishedFile[LinkTable, LinkTable]

GMNS_FILES: tuple[LinkFile, ...] = (
    LinkFile(
        path=GMNS_LINKS,
        title="Roads as GMNS links",
        description=_links_words,
        columns=lambda table: COUNTED_LINK if has_counts(table) else LINK,
        parts=link_parts,
    ),
    LinkFile(
        path=GMNS_NODES,
        title="Nodes as GMNS nodes",
        description="All nodes of the public network.",
        columns=NODE,
        parts=lambda table: node_parts(table.universe.roads),
    ),
    LinkFile(
        path=GMNS_CONFIG,
        title="Units of the GMNS tables",
        description="One row. Lengths over speeds give hours.",
        columns=CONFIG,
        parts=lambda _: [config_csv()],
    ),
    LinkFile(
        path=GMNS_MEASUREMENTS,
        title="Counts of GMNS links",
        description="The published counts by link and period. The specification has no table for "
        "them.",
        columns=MEASUREMENT,
        parts=measurement_parts,
        is_there=lambda table: not has_counts(table),
    ),
)
