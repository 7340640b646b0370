"""Roads from OpenStreetMap: PBF or XML, cut into lines wherever ways meet."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from hushway.arrays import IntArray, TextArray
from hushway.families.links.public.classes import HIGHWAYS, SERVICE
from hushway.families.links.public.draft import RoadDraft
from hushway.families.links.public.errors import damaged_roads, no_roads, off_earth
from hushway.families.links.public.osm_lines import NOWHERE, NodeRows, cut_lines
from hushway.families.links.public.osm_tags import OSMWay, way_of

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

    Args:
        file: A .pbf or .osm file; XML may be compressed (.gz, .bz2).
        service: Whether service roads are read.

    Raises:
        GeographyError: The file is damaged, has no roads, or a node is not on Earth.
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
