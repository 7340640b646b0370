"""The public road network as two GeoParquet files that can be read back exactly: links and nodes.

Programs for maps open both as they are. Positions are stored
with all their digits, so that the digest of the network can be computed again from the files.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import shapely

from hushway.arrays import FloatArray, IntArray, TextArray
from hushway.errors import ReleaseError, damaged
from hushway.families.links.files.rows import NODES, ROADS, ZONES, read_zones, zones_csv
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import LinkUniverse
from hushway.release.folder.guard import check_reads_back
from hushway.release.folder.published_file import PERIODS
from hushway.release.formats.columns import NUMBER, TEXT, WHOLE, WKB, Column, Columns
from hushway.release.formats.csv import positions_among, whole_column
from hushway.release.formats.geoparquet import GEOMETRY, geo_metadata, shape_array
from hushway.release.formats.places import (
    nullable_array,
    number_array,
    numbers_or,
    optional_texts,
    periods_csv,
    read_periods,
    text_array,
)
from hushway.release.untrusted.limits import LIST_BYTES, read_plain
from hushway.release.untrusted.parquet import open_parquet

LINKS_TABLE = Columns(
    (
        Column("link_id", TEXT, "Id of the link: one direction of a street between two nodes."),
        Column("from_node_id", TEXT, f"Id of the node that it leaves, as in {NODES}."),
        Column("to_node_id", TEXT, f"Id of the node that it leads to, as in {NODES}."),
        Column("length_m", NUMBER, "Length in metres."),
        Column("speed_kmh", NUMBER, "Usual speed in km/h."),
        Column("lanes", NUMBER, "Number of lanes; missing if unknown.", optional=True),
        Column("class", WHOLE, "Class, from 1 (motorways) to 5 (residential streets)."),
        Column("street", WHOLE, "Number of the street; its two directions share it."),
        Column("zone", WHOLE, f"Number of the zone, as in {ZONES}."),
        Column("name", TEXT, "Name of the street; missing if it has none.", optional=True),
        Column(GEOMETRY, WKB, "Course as WKB, in longitudes and latitudes."),
    ),
    key=("link_id",),
)
NODES_TABLE = Columns(
    (
        Column("node_id", TEXT, "Id of the node."),
        Column("lon", NUMBER, "Longitude in degrees (WGS84)."),
        Column("lat", NUMBER, "Latitude in degrees (WGS84)."),
        Column(GEOMETRY, WKB, "Position as WKB."),
    ),
    key=("node_id",),
)

_MOST_ROWS = 1 << 24
# In memory there are shapes, texts and copies beside the columns.
_MOST_BYTES = 1 << 28
# Texts side by side take as much room each as the longest of them.
_MOST_LETTERS = 1 << 26


def write_links(roads: RoadNetwork, zone: IntArray, path: Path) -> None:
    """Writes the links of a network with their courses and public zones."""
    pq.write_table(links_table(roads, zone), path, compression="zstd", use_dictionary=False)


def write_nodes(roads: RoadNetwork, path: Path) -> None:
    """Writes the nodes of a network."""
    pq.write_table(nodes_table(roads), path, compression="zstd", use_dictionary=False)


def read_roads(links_file: Path, nodes_file: Path) -> tuple[RoadNetwork, IntArray]:
    """Reads a network and the zone of each link."""
    return roads_of(_read(links_file, LINKS_TABLE.schema), _read(nodes_file, NODES_TABLE.schema))


def links_table(roads: RoadNetwork, zone: IntArray) -> pa.Table:
    """Returns the links of a network as the columns of their file."""
    ends = (roads.tail, roads.head)
    numbers = (roads.length, roads.speed)
    codes = (roads.road_class, roads.street, zone)
    columns = [
        text_array(roads.link_id.tolist()),
        *(text_array(roads.node_id[end].tolist()) for end in ends),
        *(number_array(column.astype(np.float64)) for column in numbers),
        nullable_array(roads.lanes.astype(np.float64)),
        *(number_array(column.astype(np.int64)) for column in codes),
        optional_texts(roads.name.tolist()),
        courses(roads, np.arange(roads.links)),
    ]
    metadata = lines_metadata(np.column_stack([roads.lon, roads.lat]))
    return pa.Table.from_arrays(columns, schema=LINKS_TABLE.schema.with_metadata(metadata))


def nodes_table(roads: RoadNetwork) -> pa.Table:
    """Returns the nodes of a network as the columns of their file."""
    positions = np.column_stack([roads.node_lon, roads.node_lat]).astype(np.float64)
    columns = [
        text_array(roads.node_id.tolist()),
        *(number_array(np.ascontiguousarray(each)) for each in positions.T),
        shape_array(shapely.to_wkb(shapely.points(positions), byte_order=1).tolist()),
    ]
    metadata = geo_metadata(["Point"], _bounds(positions))
    return pa.Table.from_arrays(columns, schema=NODES_TABLE.schema.with_metadata(metadata))


def roads_of(links: pa.Table, nodes: pa.Table) -> tuple[RoadNetwork, IntArray]:
    """Returns the network, and the zone of each link, that the columns of two files hold."""
    for name, table in ((ROADS, links), (NODES, nodes)):
        _refuse_much(name, table.nbytes)
    lines = shapely.from_wkb(_single(links, GEOMETRY).to_pylist())
    positions = shapely.get_coordinates(lines)
    ends = np.cumsum(shapely.get_num_coordinates(lines))
    zone = _numbers(links, "zone")
    roads = RoadNetwork(
        node_id=_texts(nodes, "node_id"),
        node_lon=_numbers(nodes, "lon"),
        node_lat=_numbers(nodes, "lat"),
        link_id=_texts(links, "link_id"),
        tail=_positions(links, "from_node_id", nodes),
        head=_positions(links, "to_node_id", nodes),
        length=_numbers(links, "length_m"),
        speed=_numbers(links, "speed_kmh"),
        lanes=numbers_or(_single(links, "lanes"), np.nan).copy(),
        road_class=_numbers(links, "class"),
        street=_numbers(links, "street"),
        name=_texts(links, "name", may_be_missing=True),
        start=np.concatenate([[0], ends]).astype(np.int64),
        lon=positions[:, 0].copy(),
        lat=positions[:, 1].copy(),
    )
    # Written again, the tables must be the same: anything else in them would be lost.
    for name, read, again in (
        (ROADS, links, links_table(roads, zone)),
        (NODES, nodes, nodes_table(roads)),
    ):
        if not read.equals(again) or read.schema.metadata[b"geo"] != again.schema.metadata[b"geo"]:
            raise _rewritten(name)
    return roads, zone


def courses(roads: RoadNetwork, links: IntArray) -> pa.Array:
    """Returns the courses of some links as WKB, in longitudes and latitudes."""
    return shape_array(shapely.to_wkb(course_lines(roads, links), byte_order=1).tolist())


def course_lines(roads: RoadNetwork, links: IntArray) -> Any:
    """Returns the courses of some links as shapes, in longitudes and latitudes."""
    sizes, points = course_points(roads, links)
    positions = np.column_stack([roads.lon, roads.lat])[points]
    return shapely.linestrings(positions, indices=np.repeat(np.arange(len(links)), sizes))


def course_points(roads: RoadNetwork, links: IntArray) -> tuple[IntArray, IntArray]:
    """Returns how many points the courses of some links have, and all these points in a row."""
    sizes = np.diff(roads.start)[links]
    before = np.cumsum(sizes) - sizes
    within = np.arange(int(sizes.sum())) - np.repeat(before, sizes)
    return sizes, np.asarray(np.repeat(roads.start[links], sizes) + within, dtype=np.int64)


def lines_metadata(positions: FloatArray) -> dict[bytes, bytes]:
    """Returns what makes a Parquet file of lines a GeoParquet file."""
    return geo_metadata(["LineString"], _bounds(positions))


def _bounds(positions: FloatArray) -> tuple[float, ...]:
    if not len(positions):
        return ()
    return (*positions.min(axis=0).tolist(), *positions.max(axis=0).tolist())


def _read(path: Path, schema: pa.Schema) -> pa.Table:
    # Beside the columns themselves, pages have a little to say about each of their values.
    with open_parquet(path, schema, rows=_MOST_ROWS, size=2 * _MOST_BYTES) as file:
        facts, table = file.metadata, file.read()
    # Arrow reads a copy of its own: compare the metadata that other programs read.
    return table.replace_schema_metadata({b"geo": facts.metadata[b"geo"]})


def _refuse_much(name: str, size: int) -> None:
    if size > _MOST_BYTES:
        raise ReleaseError(
            f"{name} holds more than {_MOST_BYTES:,} bytes, which is more than a network may have.",
            advice="Publish a smaller network, or one with simpler courses.",
        )


def _single(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name).combine_chunks()
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _numbers(table: pa.Table, name: str) -> Any:
    return whole_column(_single(table, name)).copy()


def _positions(links: pa.Table, name: str, nodes: pa.Table) -> IntArray:
    """Returns the row of each node that a column of the links names."""
    return positions_among(_single(links, name), _single(nodes, "node_id")).copy()


def _texts(table: pa.Table, name: str, *, may_be_missing: bool = False) -> TextArray:
    column = _single(table, name)
    if may_be_missing:
        column = column.fill_null("")
    longest = pc.max(pc.utf8_length(column)).as_py() or 0
    if column.null_count or longest * len(column) > _MOST_LETTERS:
        raise ReleaseError(
            f"The texts in the column {name} of the roads are missing or too long.",
            advice="Use shorter ids and names.",
        )
    return np.array(column.to_pylist(), dtype=np.str_)


def _rewritten(name: str) -> ReleaseError:
    return damaged(f"{name} is not as hushway writes it, or is larger than it may be.")


def read_universe(folder: Path) -> LinkUniverse:
    """Reads the public universe."""
    roads, zone = read_roads(folder / ROADS, folder / NODES)
    return LinkUniverse(
        roads=roads,
        periods=read_periods(read_plain(folder / PERIODS, LIST_BYTES)),
        zone=zone,
        zones=read_zones(read_plain(folder / ZONES, LIST_BYTES)),
    )


def check_readable(universe: LinkUniverse) -> None:
    """Makes sure that a verifier can read the public lists back from their files."""

    def is_same() -> bool:
        roads, zone = roads_of(
            links_table(universe.roads, universe.zone), nodes_table(universe.roads)
        )
        again = LinkUniverse(
            roads=roads,
            periods=read_periods(periods_csv(universe.periods)),
            zone=zone,
            zones=read_zones(zones_csv(universe.zones)),
        )
        return again.digest == universe.digest

    check_reads_back(
        "The public roads, zones and periods",
        is_same,
        "Use plain text for ids and names, and finite numbers for all else.",
    )
