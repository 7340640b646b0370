"""Roads from GMNS, the General Modeling Network Specification: a folder of CSV files."""

import csv
from collections.abc import Mapping
from pathlib import Path

import shapely

from hushway.errors import GeographyError
from hushway.families.links.public.draft import RoadDraft
from hushway.families.links.public.errors import (
    check_nodes,
    check_roads_columns,
    check_unique,
    damaged_roads,
    no_roads,
)
from hushway.families.links.public.record import (
    DEGREES,
    LineRecord,
    draft_of,
    lines_in_degrees,
    points_in_degrees,
)
from hushway.families.links.public.words import SpeedUnit, lanes_of, speed_of
from hushway.tables.csv_header import open_text
from hushway.tables.unpacking import refuse_unfit

_NODE_COLUMNS = ("node_id", "x_coord", "y_coord")
_LINK_COLUMNS = ("link_id", "from_node_id", "to_node_id")
_FALSE = frozenset({"0", "false", "f", "no"})

Row = Mapping[str, str]
Place = tuple[float, float]


def gmns_roads(folder: Path, *, crs: str | None, speed_unit: SpeedUnit | None) -> RoadDraft:
    """Returns a line for each row of link.csv.

    Args:
        folder: Holds link.csv and node.csv, and maybe geometry.csv and config.csv.
        crs: What the coordinates mean; None for what config.csv says, or else degrees.
        speed_unit: The unit of free_speed; None for what config.csv says, or else km/h.

    Raises:
        GeographyError: A file is missing or damaged, lacks a column, or names an unknown node.
        OSError: A file cannot be read.
    """
    config = _first_row(folder / "config.csv")
    meaning = crs or config.get("crs") or DEGREES
    unit: SpeedUnit = speed_unit or ("mph" if "mph" in config.get("speed", "").lower() else "km/h")
    node_file, link_file = folder / "node.csv", folder / "link.csv"
    links = _rows(link_file, _LINK_COLUMNS)
    if not links:
        raise no_roads(link_file)
    places = _places(node_file)
    records = [_record(row, unit) for row in links]
    check_nodes(link_file, places, (end for each in records for end in (each.tail, each.head)))
    drawn = _drawn(folder / "geometry.csv")
    shapes = [
        _course(link_file, row, drawn, (places[record.tail], places[record.head]))
        for row, record in zip(links, records, strict=True)
    ]
    x, y = zip(*places.values(), strict=True)
    degrees = points_in_degrees(node_file, x, y, meaning)
    return draft_of(
        link_file,
        records,
        lines_in_degrees(link_file, shapes, meaning),
        dict(zip(places, degrees, strict=True)),
    )


def _rows(file: Path, demanded: tuple[str, ...]) -> list[Row]:
    refuse_unfit(file)
    try:
        with open_text(file) as opened:
            reader = csv.DictReader(opened, restval="")
            rows: list[Row] = list(reader)
            # Read from the file if there was no row, so not after it is closed.
            names = reader.fieldnames or ()
    except csv.Error:
        raise damaged_roads(file) from None
    check_roads_columns(file, names, demanded)
    # What stands beyond the last column is kept by the reader under no name.
    if any(None in row for row in rows):
        raise damaged_roads(file)
    return rows


def _first_row(file: Path) -> Row:
    return next(iter(_rows(file, ())), {}) if file.exists() else {}


def _places(file: Path) -> dict[str, Place]:
    rows = _rows(file, _NODE_COLUMNS)
    check_unique(file, "nodes", (row["node_id"] for row in rows))
    places: dict[str, Place] = {}
    for row in rows:
        try:
            places[row["node_id"]] = float(row["x_coord"]), float(row["y_coord"])
        except ValueError:
            raise GeographyError(
                f"The node {row['node_id']!r} of {file.name} has no position.",
                advice="Give every node x_coord and y_coord as numbers.",
            ) from None
    return places


def _drawn(file: Path) -> dict[str, str]:
    if not file.exists():
        return {}
    return {row["geometry_id"]: row["geometry"] for row in _rows(file, ("geometry_id", "geometry"))}


def _record(row: Row, unit: SpeedUnit) -> LineRecord:
    both = row.get("directed", "").strip().lower() in _FALSE
    return LineRecord(
        id=row["link_id"],
        tail=row["from_node_id"],
        head=row["to_node_id"],
        kind=row.get("facility_type") or row.get("link_type_name") or row.get("link_type") or "",
        speed=speed_of(row.get("free_speed"), unit),
        # GMNS counts the lanes of a link in its direction.
        lanes=lanes_of(row.get("lanes")),
        directions=(True, both),
        name=row.get("name", ""),
    )


def _course(
    file: Path, row: Row, drawn: Mapping[str, str], ends: tuple[Place, Place]
) -> shapely.Geometry:
    text = row.get("geometry") or drawn.get(row.get("geometry_id", ""))
    if not text:
        return shapely.LineString(ends)
    try:
        shape = shapely.from_wkt(text)
    except (shapely.errors.GEOSException, ValueError):
        raise damaged_roads(file) from None
    return shapely.reverse(shape) if row.get("dir_flag", "").strip() == "-1" else shape
