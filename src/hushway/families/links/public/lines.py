"""Roads from GeoJSON and GeoParquet: lines with columns."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from hushway.errors import GeographyError
from hushway.families.links.public.cleaning import RoadDraft
from hushway.families.links.public.words import (
    SpeedUnit,
    check_named,
    check_nodes,
    check_roads_columns,
    check_unique,
    damaged_roads,
    directions_of,
    kind_or_least,
    lanes_of,
    no_roads,
    per_direction,
    speed_of,
)
from hushway.geography.areas import Plane
from hushway.tables.crs import DEGREES, geometry_column, known_crs, to_degrees
from hushway.tables.geojson import read_features


@dataclass(frozen=True, kw_only=True)
class RoadColumns:
    """Which column or property of lines holds what; None for what the file does not hold.

    A file without one of these columns is fine, but for that of the class; any other name was
    chosen on purpose and must be there.
    """

    id: str | None = "link_id"
    from_node: str | None = "from_node"
    to_node: str | None = "to_node"
    road_class: str | None = "class"
    speed: str | None = "speed"
    lanes: str | None = "lanes"
    oneway: str | None = "oneway"
    name: str | None = "name"

    @property
    def demanded(self) -> tuple[str, ...]:
        """The columns that must be there."""
        return tuple(
            column
            for field in fields(self)
            if (column := getattr(self, field.name)) is not None
            and (field.name == "road_class" or column != field.default)
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Lines:
    """The lines of a file: values by column, shapes, and what their coordinates mean."""

    values: Mapping[str, Sequence[Any]]
    shapes: Sequence[Any]
    crs: Any


def geojson_roads(
    file: Path, columns: RoadColumns, *, crs: str | None, speed_unit: SpeedUnit | None
) -> RoadDraft:
    """Returns a line for each feature.

    Raises:
        GeographyError: The file is no collection of lines, or lacks a property.
        OSError: The file cannot be read.
    """
    collection = read_features(file, "roads")
    names = dict.fromkeys(key for feature in collection.features for key in feature.properties)
    try:
        shapes = [
            shapely.from_geojson(json.dumps(feature.geometry)) for feature in collection.features
        ]
    except (shapely.errors.GEOSException, ValueError, TypeError, RecursionError):
        raise damaged_roads(file) from None
    values = {
        name: [feature.properties.get(name) for feature in collection.features] for name in names
    }
    meaning = DEGREES if collection.crs is None else collection.crs
    return _draft(
        file, _Lines(values=values, shapes=shapes, crs=crs or meaning), columns, speed_unit
    )


def geoparquet_roads(
    file: Path, columns: RoadColumns, *, crs: str | None, speed_unit: SpeedUnit | None
) -> RoadDraft:
    """Returns a line for each row.

    Raises:
        GeographyError: The file is damaged, is no GeoParquet of lines, or lacks a column.
        OSError: The file cannot be read.
    """
    try:
        with pq.ParquetFile(file) as opened:
            geometry, meaning = geometry_column(file, "roads", opened.schema_arrow)
            used = [getattr(columns, field.name) for field in fields(columns)]
            check_roads_columns(file, opened.schema_arrow.names, columns.demanded)
            wanted = [name for name in opened.schema_arrow.names if name in (*used, geometry)]
            table = opened.read(wanted)
        shapes = shapely.from_wkb(table[geometry].to_pylist())
    except (pa.ArrowException, shapely.errors.GEOSException, TypeError, ValueError):
        raise damaged_roads(file) from None
    values = {name: table[name].to_pylist() for name in wanted if name != geometry}
    lines = _Lines(values=values, shapes=shapes, crs=crs or meaning)
    return _draft(file, lines, columns, speed_unit)


def _draft(
    file: Path, lines: _Lines, columns: RoadColumns, speed_unit: SpeedUnit | None
) -> RoadDraft:
    if not len(lines.shapes):
        raise no_roads(file)
    check_roads_columns(file, lines.values, columns.demanded)
    count = len(lines.shapes)
    if lines.crs is None:
        raise GeographyError(
            f"The roads file {file.name} does not say in which CRS its coordinates are.",
            advice="Name its CRS, for example EPSG:2154.",
        )
    courses = lines_in_degrees(file, lines.shapes, lines.crs)

    def column(name: str | None) -> Sequence[Any]:
        return lines.values.get(name or "", [None] * count)

    named = columns.from_node in lines.values and columns.to_node in lines.values
    ends = (
        _named_ends(file, column(columns.from_node), column(columns.to_node), courses)
        if named
        else joined_ends(courses)
    )
    tails, heads, nodes = ends
    numbered = columns.id not in lines.values
    ids = range(1, count + 1) if numbered else column(columns.id)
    records = []
    # Rows with named nodes are links; lines without them are streets, to be driven both ways.
    unsaid = (True, not named)
    for key, tail, head, word, speed, lanes, oneway, name in zip(
        ids,
        tails,
        heads,
        column(columns.road_class),
        column(columns.speed),
        column(columns.lanes),
        column(columns.oneway),
        column(columns.name),
        strict=True,
    ):
        directions = directions_of(oneway, unsaid)
        records.append(
            LineRecord(
                id=_text(key),
                tail=tail,
                head=head,
                kind=_text(word) if columns.road_class else "residential",
                speed=speed_of(speed, speed_unit or "km/h"),
                lanes=per_direction(lanes_of(lanes), directions),
                directions=directions,
                name=_text(name),
            )
        )
    return draft_of(file, records, courses, nodes)


def _named_ends(
    file: Path, tails: Sequence[Any], heads: Sequence[Any], courses: NDArray[Any]
) -> tuple[list[str], list[str], dict[str, tuple[float, float]]]:
    """Returns the ends of lines, and nodes where the first line that names them has its end."""
    if any(end is None or end == "" for end in (*tails, *heads)):
        raise GeographyError(
            f"Lines of {file.name} do not name both of their nodes.",
            advice="Fill in the nodes, or set both columns to none: ends that touch are joined.",
        )
    begins = shapely.get_coordinates(shapely.get_point(courses, 0)).tolist()
    finishes = shapely.get_coordinates(shapely.get_point(courses, -1)).tolist()
    first, last = [_text(end) for end in tails], [_text(end) for end in heads]
    nodes: dict[str, tuple[float, float]] = {}
    for tail, head, begin, finish in zip(first, last, begins, finishes, strict=True):
        nodes.setdefault(tail, tuple(begin))
        nodes.setdefault(head, tuple(finish))
    return first, last, nodes


def _text(value: Any) -> str:
    if value is None:
        return ""
    # Columns of whole numbers with gaps become floats in many programs.
    whole = isinstance(value, float) and np.isfinite(value) and value == int(value)
    return str(int(value)) if whole else str(value)


# Ends that are so near in metres are one node.
TOUCHING = 0.1


def joined_ends(
    courses: NDArray[Any],
) -> tuple[list[str], list[str], dict[str, tuple[float, float]]]:
    """Returns the nodes at both ends of lines, and where the nodes are.

    Ends at most 10 centimetres apart are one node, called by the position of one of them.
    """
    ends = np.concatenate(
        [
            shapely.get_coordinates(shapely.get_point(courses, 0)),
            shapely.get_coordinates(shapely.get_point(courses, -1)),
        ]
    )
    # By the ten millionth of a degree, so that a name tells positions apart.
    places, number = np.unique(np.round(ends, 7), axis=0, return_inverse=True)
    west, south = places.min(axis=0)
    east, north = places.max(axis=0)
    plane = Plane(lon=float(west + east) / 2, lat=float(south + north) / 2)
    near = KDTree(plane.to_metres(places[:, 0], places[:, 1])).query_pairs(
        TOUCHING, output_type="ndarray"
    )
    graph = coo_array((np.ones(len(near), dtype=np.int8), near.T), shape=(len(places),) * 2)
    _, node = connected_components(graph, directed=False)
    _, first = np.unique(node, return_index=True)
    lon, lat = places[first].T.tolist()
    names = [f"{x:.7f},{y:.7f}" for x, y in zip(lon, lat, strict=True)]
    named = [names[at] for at in node[number.ravel()].tolist()]
    nodes = dict(zip(names, zip(lon, lat, strict=True), strict=True))
    return named[: len(courses)], named[len(courses) :], nodes


@dataclass(frozen=True, kw_only=True, eq=False)
class LineRecord:
    """One line as written.

    Attributes:
        kind: What its source calls its kind of road.
        speed: Speed in km/h; NaN if not said.
        lanes: Lanes in one direction; NaN if not said.
        directions: Whether it may be driven along, and back.
    """

    id: str
    tail: str
    head: str
    kind: str
    speed: float
    lanes: float
    directions: tuple[bool, bool]
    name: str


def draft_of(
    file: Path,
    records: Sequence[LineRecord],
    courses: NDArray[Any],
    nodes: Mapping[str, tuple[float, float]],
) -> RoadDraft:
    """Returns the draft of some lines."""
    check_named(file, "nodes", nodes)
    check_named(file, "links", (record.id for record in records))
    check_nodes(file, nodes, (node for record in records for node in (record.tail, record.head)))
    check_unique(file, "links", (record.id for record in records))
    number = {key: at for at, key in enumerate(nodes)}
    where = np.array(list(nodes.values()), dtype=np.float64).reshape(-1, 2)
    points, line = shapely.get_coordinates(courses, return_index=True)
    kinds = [kind_or_least(record.kind) for record in records]
    unknown = {
        record.kind or "(none)"
        for record, (_, known) in zip(records, kinds, strict=True)
        if not known
    }
    both = np.ones((1, 2))
    return RoadDraft(
        node_id=np.array(list(nodes), dtype=np.str_),
        node_lon=where[:, 0],
        node_lat=where[:, 1],
        line_id=np.array([record.id for record in records], dtype=np.str_),
        tail=np.array([number[record.tail] for record in records], dtype=np.int64),
        head=np.array([number[record.head] for record in records], dtype=np.int64),
        directions=np.array([record.directions for record in records], dtype=np.bool_),
        speed=np.array([[record.speed] for record in records]) * both,
        lanes=np.array([[record.lanes] for record in records]) * both,
        usual_speed=np.array([kind.speed for kind, _ in kinds], dtype=np.float64),
        usual_lanes=np.array([kind.lanes for kind, _ in kinds], dtype=np.float64),
        road_class=np.array([kind.road_class for kind, _ in kinds], dtype=np.int64),
        name=np.array([record.name for record in records], dtype=np.str_),
        start=np.searchsorted(line, np.arange(len(records) + 1)).astype(np.int64),
        lon=points[:, 0],
        lat=points[:, 1],
        unknown_classes=tuple(sorted(unknown)),
    )


def lines_in_degrees(file: Path, shapes: Sequence[Any], crs: Any) -> NDArray[Any]:
    """Returns line strings in degrees."""
    drawn = np.empty(len(shapes), dtype=object)
    drawn[:] = shapes
    drawn = _joined(drawn)
    is_line = shapely.get_type_id(drawn) == shapely.GeometryType.LINESTRING
    if not (is_line & ~shapely.is_empty(drawn)).all():
        raise damaged_roads(file)
    noun = f"the roads file {file.name}"
    return to_degrees(drawn, known_crs(crs, noun), noun)


def points_in_degrees(
    file: Path, x: Sequence[float], y: Sequence[float], crs: Any
) -> list[tuple[float, float]]:
    """Returns positions in degrees, longitude first."""
    noun = f"the roads file {file.name}"
    shapes = to_degrees(np.asarray(shapely.points(x, y)), known_crs(crs, noun), noun)
    return [(lon, lat) for lon, lat in shapely.get_coordinates(shapes).tolist()]


def _joined(shapes: NDArray[Any]) -> NDArray[Any]:
    """Turns several lines that hang together into one: many programs write all lines so."""
    several = shapely.get_type_id(shapes) == shapely.GeometryType.MULTILINESTRING
    if several.any():
        single = several & (shapely.get_num_geometries(shapes) == 1)
        shapes[single] = shapely.get_geometry(shapes[single], 0)
        rest = several & ~single
        shapes[rest] = shapely.line_merge(shapes[rest], directed=True)
    return shapes
