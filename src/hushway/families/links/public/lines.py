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

from hushway.errors import GeographyError
from hushway.families.links.public.draft import RoadDraft
from hushway.families.links.public.ends import joined_ends
from hushway.families.links.public.errors import check_roads_columns, damaged_roads, no_roads
from hushway.families.links.public.record import DEGREES, LineRecord, draft_of, lines_in_degrees
from hushway.families.links.public.words import (
    SpeedUnit,
    directions_of,
    lanes_of,
    per_direction,
    speed_of,
)
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
            geometry, meaning = _geometry_column(file, opened.schema_arrow)
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


def _geometry_column(file: Path, schema: pa.Schema) -> tuple[str, Any]:
    """Returns the name of the column of geometries, and their CRS."""
    try:
        facts = json.loads((schema.metadata or {})[b"geo"])
        column = facts["primary_column"]
        wkb = facts["columns"][column]["encoding"] == "WKB" and column in schema.names
        crs = facts["columns"][column].get("crs", DEGREES)
    except (KeyError, TypeError, ValueError, AttributeError):
        wkb = False
    if not wkb:
        raise GeographyError(
            f"The roads file {file.name} is Parquet without geometries in WKB.",
            advice="Write it as GeoParquet: its metadata must name the column of geometries.",
        )
    return column, crs


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
