"""Keeps a cleaned road network as GeoParquet: one row for each link, every public fact in it."""

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

from hushway.arrays import FloatArray, TextArray
from hushway.errors import GeographyError
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.words import damaged_roads

# Files of this kind are read back as they are, without cleaning.
_MARK: Final = b"hushway_roads"
# How a column or a fact that is not there shows.
_NOT_OURS: Final = (KeyError, TypeError, ValueError, IndexError)
_GEO: Final = json.dumps(
    {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {"geometry": {"encoding": "WKB", "geometry_types": ["LineString"]}},
    }
)


def write_links_parquet(roads: RoadNetwork, path: Path | str) -> None:
    """Writes a network so that reading it back gives the same digest."""
    used = np.zeros(roads.nodes, dtype=np.bool_)
    used[roads.tail] = True
    used[roads.head] = True
    if not used.all():
        raise GeographyError(
            "The road network has nodes without links.",
            advice="Keep only nodes at which a link begins or ends.",
        )
    line = np.repeat(np.arange(roads.links), np.diff(roads.start))
    shapes = shapely.linestrings(np.column_stack([roads.lon, roads.lat]), indices=line)
    columns: dict[str, Any] = {
        "link_id": roads.link_id,
        "from_node": roads.node_id[roads.tail],
        "to_node": roads.node_id[roads.head],
        "class": roads.road_class,
        "speed": roads.speed,
        "lanes": roads.lanes,
        "length": roads.length,
        "street": roads.street,
        "name": roads.name,
        "tail": roads.tail,
        "head": roads.head,
        "from_lon": roads.node_lon[roads.tail],
        "from_lat": roads.node_lat[roads.tail],
        "to_lon": roads.node_lon[roads.head],
        "to_lat": roads.node_lat[roads.head],
        "geometry": shapely.to_wkb(shapes, byte_order=1),
    }
    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    facts = {b"geo": _GEO, _MARK: json.dumps({"version": 1, "digest": roads.digest})}
    pq.write_table(table.replace_schema_metadata(facts), path, compression="zstd")


def is_links_parquet(file: Path) -> bool:
    """Says whether a Parquet file was written by `write_links_parquet`.

    Raises:
        OSError: The file cannot be read.
    """
    try:
        return _MARK in (pq.read_schema(file).metadata or {})
    except pa.ArrowException:
        return False


def read_links_parquet(path: Path | str) -> RoadNetwork:
    """Reads a network that `write_links_parquet` wrote."""
    file = Path(path)
    try:
        with pq.ParquetFile(file) as opened:
            digest = json.loads(opened.schema_arrow.metadata[_MARK])["digest"]
            table = opened.read()
        roads = _network(table)
    except FileNotFoundError:
        raise GeographyError(
            f"There is no roads file {file.name}.", advice="Check its path."
        ) from None
    except (pa.ArrowException, shapely.errors.GEOSException, OSError, *_NOT_OURS):
        raise damaged_roads(file) from None
    if roads.digest != digest:
        raise GeographyError(
            f"The roads file {file.name} was changed after it was written.",
            advice="Read the roads from their source again.",
        )
    return roads


def _network(table: pa.Table) -> RoadNetwork:
    tail, head = table["tail"].to_numpy(), table["head"].to_numpy()
    nodes = int(max(tail.max(), head.max())) + 1
    node_lon, node_lat = np.empty(nodes), np.empty(nodes)
    for place, end in ((tail, "from"), (head, "to")):
        node_lon[place] = table[f"{end}_lon"].to_numpy()
        node_lat[place] = table[f"{end}_lat"].to_numpy()
    from_node, to_node = _texts(table["from_node"]), _texts(table["to_node"])
    node_id = np.empty(nodes, dtype=np.result_type(from_node, to_node))
    node_id[tail], node_id[head] = from_node, to_node
    shapes = shapely.from_wkb(table["geometry"].to_numpy())
    points, line = shapely.get_coordinates(shapes, return_index=True)
    return RoadNetwork(
        node_id=node_id,
        node_lon=node_lon,
        node_lat=node_lat,
        link_id=_texts(table["link_id"]),
        tail=tail.copy(),
        head=head.copy(),
        length=_floats(table["length"]),
        speed=_floats(table["speed"]),
        lanes=_floats(table["lanes"]),
        road_class=table["class"].to_numpy().copy(),
        street=table["street"].to_numpy().copy(),
        name=_texts(table["name"]),
        start=np.searchsorted(line, np.arange(len(shapes) + 1)).astype(np.int64),
        lon=points[:, 0].copy(),
        lat=points[:, 1].copy(),
    )


def _texts(column: pa.ChunkedArray) -> TextArray:
    return np.array(column.to_pylist(), dtype=np.str_)


def _floats(column: pa.ChunkedArray) -> FloatArray:
    return np.array(column.to_numpy(), dtype=np.float64)
