"""Lines one by one, as small formats give them, put together into a draft."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from hushway.families.links.public.classes import kind_or_least
from hushway.families.links.public.draft import RoadDraft
from hushway.families.links.public.errors import (
    check_named,
    check_nodes,
    check_unique,
    damaged_roads,
)
from hushway.tables.crs import known_crs, to_degrees

DEGREES = "OGC:CRS84"


@dataclass(frozen=True, kw_only=True, eq=False)
class LineRecord:
    """One line as written.

    Attributes:
        id: What it is called.
        tail: Id of the node at its beginning.
        head: Id of the node at its end.
        kind: What its source calls its kind of road.
        speed: Speed in km/h; NaN if not said.
        lanes: Lanes in one direction; NaN if not said.
        directions: Whether it may be driven along, and back.
        name: Name of the street, or "".
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
    """Returns the draft of some lines.

    Args:
        file: Where they come from, for messages.
        records: The lines.
        courses: Their courses in degrees: line strings.
        nodes: Longitude and latitude of the nodes.

    Raises:
        GeographyError: A line names an unknown node, or an id is blank or appears twice.
    """
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
    """Returns line strings in degrees.

    Raises:
        GeographyError: The CRS is unknown or does not suit, or something is not one line.
    """
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
    """Returns positions in degrees, longitude first.

    Raises:
        GeographyError: The CRS is unknown or does not suit.
    """
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
