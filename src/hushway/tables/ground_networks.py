"""What is drawn under a map of networks: the lines of a timetable, and the links of a GMNS."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import shapely

from hushway.errors import GeographyError
from hushway.tables.crs import DEGREES
from hushway.tables.gtfs_feed import feed_part
from hushway.tables.unpacking import refuse_unfit_archive

SHAPES: Final = "shapes.txt"
_LINKS, _NODES = "link.csv", "node.csv"
# What a network may do without.
_COURSES, _CONFIG = "geometry.csv", "config.csv"
_TRANSIT: Final = {"railway": "transit"}
_ROAD: Final = {"highway": "road"}

Lines = tuple[list[tuple[Mapping[str, Any], shapely.Geometry]], str]


def gtfs_lines(feed: Path) -> Lines:
    """Returns the ways that vehicles of a GTFS feed take, as its shapes.txt draws them."""
    ways: dict[str, list[tuple[int, float, float]]] = {}
    try:
        for row in _rows(feed, SHAPES):
            place = float(row["shape_pt_lon"]), float(row["shape_pt_lat"])
            ways.setdefault(row["shape_id"], []).append((int(row["shape_pt_sequence"]), *place))
    except (KeyError, TypeError, ValueError):
        raise _damaged(feed, SHAPES) from None
    lines = [[place for _, *place in sorted(way)] for way in ways.values() if len(way) > 1]
    return [(_TRANSIT, shapely.LineString(line)) for line in lines], DEGREES


def gmns_lines(folder: Path) -> Lines:
    """Returns the links of a GMNS network in a folder; one without a geometry goes straight."""
    config = next(iter(_further(folder, _CONFIG)), {})
    try:
        courses = {row["geometry_id"]: row["geometry"] for row in _further(folder, _COURSES)}
        nodes = {
            row["node_id"]: (float(row["x_coord"]), float(row["y_coord"]))
            for row in _rows(folder, _NODES)
        }
        lines = [
            shapely.from_wkt(course)
            if (course := row.get("geometry") or courses.get(row.get("geometry_id", "")))
            else shapely.LineString([nodes[row["from_node_id"]], nodes[row["to_node_id"]]])
            for row in _rows(folder, _LINKS)
        ]
    except (KeyError, TypeError, ValueError, shapely.GEOSException):
        raise _damaged(folder, _LINKS) from None
    return [(_ROAD, line) for line in lines], config.get("crs") or DEGREES


def _further(folder: Path, name: str) -> list[dict[str, str]]:
    return _rows(folder, name) if (folder / name).exists() else []


def _rows(folder: Path, name: str) -> list[dict[str, str]]:
    if not folder.is_dir():
        refuse_unfit_archive(folder)
    data = feed_part(folder, name, advice="Ask for a feed that draws its lines, or leave it out.")
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))


def _damaged(folder: Path, name: str) -> GeographyError:
    return GeographyError(
        f"{name} of the ground {folder.name} lacks a column, or holds something that is no "
        "position.",
        advice="Check it against its standard, or leave it out.",
    )
