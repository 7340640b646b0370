"""Roads from OpenStreetMap: PBF or XML, cut into lines wherever ways meet."""

import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from hushway.arrays import IntArray, TextArray
from hushway.families.links.public.cleaning import RoadDraft
from hushway.families.links.public.roads import starts_of
from hushway.families.links.public.words import (
    HIGHWAYS,
    SERVICE,
    Kind,
    damaged_roads,
    directions_of,
    lanes_of,
    no_roads,
    off_earth,
    per_direction,
    speed_of,
)

# What the x of a node is that the file does not hold.
NOWHERE = 2_147_483_647


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeRows:
    """The nodes of all ways in a row.

    Attributes:
        x: Longitude in ten millionths of a degree, or `NOWHERE`.
    """

    way: IntArray
    node: IntArray
    x: IntArray
    y: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class CutLines:
    """Lines between junctions.

    Attributes:
        place: The place of this row in its way, from 0.
        start: Where the points of each line begin; one entry more than lines.
        points: The rows of the points of all lines.
        cut_off: Number of ways with nodes that the file does not hold.
    """

    begin: IntArray
    place: IntArray
    start: IntArray
    points: IntArray
    cut_off: int


def cut_lines(rows: NodeRows) -> CutLines:
    """Returns the lines between junctions.

    A junction is the end of a way, or a node that ways pass more than once. A way that leaves the
    file ends at its last node inside, and begins anew where it comes back.
    """
    first = np.ones(len(rows.way), dtype=np.bool_)
    first[1:] = rows.way[1:] != rows.way[:-1]
    missing = rows.x == NOWHERE
    # A node that a way names twice in a row is no junction.
    again = ~first
    again[1:] &= rows.node[1:] == rows.node[:-1]
    kept = np.flatnonzero(~missing & ~again)
    piece, node = np.cumsum(first | missing)[kept], rows.node[kept]
    cuts = np.flatnonzero(_junctions(piece, node))
    joined = piece[cuts[:-1]] == piece[cuts[1:]]
    begin, end = cuts[:-1][joined], cuts[1:][joined]
    way_begins = np.flatnonzero(first)
    points = _stretches(begin, end)
    return CutLines(
        begin=kept[begin],
        place=kept[begin] - way_begins[rows.way[kept[begin]]],
        start=starts_of(end - begin + 1),
        points=kept[points],
        cut_off=len(np.unique(rows.way[missing])),
    )


def _junctions(piece: IntArray, node: IntArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    _, number, uses = np.unique(node, return_inverse=True, return_counts=True)
    junction = uses[number] > 1
    ends = np.flatnonzero(np.diff(piece))
    junction[ends] = True
    junction[ends + 1] = True
    junction[:1] = True
    junction[-1:] = True
    return junction


def _stretches(begin: IntArray, end: IntArray) -> IntArray:
    """Returns all numbers from each begin to its end, ends included."""
    sizes = end - begin + 1
    skipped = np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)
    return skipped + np.arange(len(skipped))


# The most specific word about cars decides.
_ACCESS: Final = ("motorcar", "motor_vehicle", "vehicle", "access")
_BARRED: Final = frozenset({"no", "agricultural", "forestry", "agricultural;forestry"})
_ROUND: Final = frozenset({"roundabout", "circular"})

# A city has a handful of limits on tens of thousands of ways.
_speed = lru_cache(maxsize=1024)(speed_of)
_count = lru_cache(maxsize=1024)(lanes_of)


@dataclass(frozen=True, kw_only=True, slots=True)
class OSMWay:
    """A way that cars may use.

    Attributes:
        kind: What is assumed about its kind of road.
        directions: Whether it may be driven along, and back.
        speed: Speed in km/h along and back; NaN if not said.
        lanes: Lanes along and back; NaN if not said.
    """

    id: int
    kind: Kind
    directions: tuple[bool, bool]
    speed: tuple[float, float]
    lanes: tuple[float, float]
    name: str


def way_of(number: int, tags: Any) -> OSMWay | None:
    """Returns what the tags of a way say; None if it is not for cars."""
    highway = tags.get("highway")
    access = next((tags.get(key) for key in _ACCESS if tags.get(key) is not None), "yes")
    if access in _BARRED or tags.get("area") == "yes":
        return None
    implied = highway == "motorway" or tags.get("junction") in _ROUND
    directions = directions_of(tags.get("oneway"), (True, not implied))
    return OSMWay(
        id=number,
        kind=HIGHWAYS[highway],
        directions=directions,
        speed=_speeds(tags),
        lanes=_lanes(tags, directions),
        name=tags.get("name") or tags.get("ref") or "",
    )


def _speeds(tags: Any) -> tuple[float, float]:
    both = _speed(tags.get("maxspeed"))
    along, back = _speed(tags.get("maxspeed:forward")), _speed(tags.get("maxspeed:backward"))
    return (both if math.isnan(along) else along, both if math.isnan(back) else back)


def _lanes(tags: Any, directions: tuple[bool, bool]) -> tuple[float, float]:
    share = per_direction(_count(tags.get("lanes")), directions)
    along, back = _count(tags.get("lanes:forward")), _count(tags.get("lanes:backward"))
    return (share if math.isnan(along) else along, share if math.isnan(back) else back)


# OpenStreetMap counts in ten millionths of a degree.
_UNITS = 10_000_000
_MOST_LON, _MOST_LAT = 180, 90


@dataclass(frozen=True, kw_only=True, eq=False)
class _Ways:
    """All ways in a row; `size` nodes each."""

    ways: list[OSMWay] = field(default_factory=list)
    size: "array[int]" = field(default_factory=lambda: array("q"))
    node: "array[int]" = field(default_factory=lambda: array("q"))
    x: "array[int]" = field(default_factory=lambda: array("q"))
    y: "array[int]" = field(default_factory=lambda: array("q"))


def osm_roads(file: Path, *, service: bool) -> RoadDraft:
    """Returns the lines between junctions of all ways that cars may use.

    The id of a line is that of its way and the place of its first node in the way, which does not
    depend on what else is read.
    """
    found = _read(file, service=service)
    if not found.ways:
        raise no_roads(file)
    rows = NodeRows(
        way=np.repeat(np.arange(len(found.size)), found.size),
        node=np.frombuffer(found.node, dtype=np.int64),
        x=np.frombuffer(found.x, dtype=np.int64),
        y=np.frombuffer(found.y, dtype=np.int64),
    )
    _refuse_off_earth(file, rows)
    lines = cut_lines(rows)
    if not len(lines.begin):
        raise no_roads(file)
    ids, first, number = np.unique(rows.node[lines.points], return_index=True, return_inverse=True)
    of = rows.way[lines.begin]
    facts = found.ways
    lon, lat = rows.x[lines.points] / _UNITS, rows.y[lines.points] / _UNITS
    return RoadDraft(
        node_id=ids.astype(np.str_),
        node_lon=lon[first],
        node_lat=lat[first],
        line_id=_line_ids(np.array([each.id for each in facts])[of], lines.place),
        tail=number[lines.start[:-1]].astype(np.int64),
        head=number[lines.start[1:] - 1].astype(np.int64),
        directions=np.array([each.directions for each in facts], dtype=np.bool_)[of],
        speed=np.array([each.speed for each in facts], dtype=np.float64)[of],
        lanes=np.array([each.lanes for each in facts], dtype=np.float64)[of],
        usual_speed=np.array([each.kind.speed for each in facts], dtype=np.float64)[of],
        usual_lanes=np.array([each.kind.lanes for each in facts], dtype=np.float64)[of],
        road_class=np.array([each.kind.road_class for each in facts], dtype=np.int64)[of],
        name=np.array([each.name for each in facts], dtype=np.str_)[of],
        start=lines.start,
        lon=lon,
        lat=lat,
        along=":f",
        cut_off=lines.cut_off,
    )


def _refuse_off_earth(file: Path, rows: NodeRows) -> None:
    held = rows.x != NOWHERE
    off = (np.abs(rows.x) > _MOST_LON * _UNITS) | (np.abs(rows.y) > _MOST_LAT * _UNITS)
    if (held & off).any():
        raise off_earth(file)


def _line_ids(way: IntArray, place: IntArray) -> TextArray:
    return np.array([f"{a}:{b}" for a, b in zip(way.tolist(), place.tolist(), strict=True)])


def _read(file: Path, *, service: bool) -> _Ways:
    # Reading anything else does not need this library.
    import osmium

    kinds = [("highway", kind) for kind in HIGHWAYS if service or kind != SERVICE]
    found = _Ways()
    try:
        ways = (
            osmium.FileProcessor(str(file), osmium.osm.NODE | osmium.osm.WAY)
            .with_locations()
            .with_filter(osmium.filter.EntityFilter(osmium.osm.WAY))
            .with_filter(osmium.filter.TagFilter(*kinds))
        )
        for way in cast("Iterable[Any]", ways):
            facts = way_of(way.id, way.tags)
            if facts is not None:
                _append(found, facts, way.nodes)
    except osmium.InvalidLocationError:
        raise off_earth(file) from None
    except (RuntimeError, ValueError):
        raise damaged_roads(file) from None
    return found


def _append(found: _Ways, facts: OSMWay, nodes: Any) -> None:
    found.ways.append(facts)
    found.size.append(len(nodes))
    for node in nodes:
        found.node.append(node.ref)
        where = node.location
        found.x.append(where.x)
        found.y.append(where.y)
