"""Reads the public road network. Public, so its errors may name ids and places in the file."""

import ast
import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import shapely

from hushway.errors import GeographyError
from hushway.families.links.public.cleaning import RoadDraft, RoadsReport, network_of
from hushway.families.links.public.geoparquet import is_links_parquet, read_links_parquet
from hushway.families.links.public.lines import (
    LineRecord,
    RoadColumns,
    draft_of,
    geojson_roads,
    geoparquet_roads,
    lines_in_degrees,
    points_in_degrees,
)
from hushway.families.links.public.osm import osm_roads
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.words import (
    SpeedUnit,
    check_nodes,
    check_roads_columns,
    check_unique,
    damaged_roads,
    kind_of,
    lanes_of,
    no_roads,
    per_direction,
    speed_of,
)
from hushway.tables.crs import DEGREES
from hushway.tables.first_lines import open_text
from hushway.tables.unpacking import public_file, refuse_unfit

__all__ = ["RoadColumns", "read_roads"]

_OSM = (".osm.pbf", ".pbf", ".osm", ".osm.gz", ".osm.bz2")
_GEOJSON = (".geojson", ".json", ".geojson.gz", ".json.gz")
_PARQUET = (".parquet", ".geoparquet", ".pq")
_LINK_FILE = "link.csv"


def read_roads(
    path: Path | str,
    *,
    columns: RoadColumns | None = None,
    crs: str | None = None,
    service: bool = False,
    speed_unit: SpeedUnit | None = None,
) -> tuple[RoadNetwork, RoadsReport]:
    """Reads roads, turns them into WGS84 degrees and cleans them.

    Args:
        path: OpenStreetMap as .pbf, .osm, .osm.gz or .osm.bz2; .graphml as osmnx writes it; a
            folder with link.csv and node.csv (GMNS); or lines as .geojson, .json, .parquet or
            .geoparquet.
        columns: Which column of GeoJSON or GeoParquet holds what.
        crs: What the coordinates mean, such as EPSG:2154; None for what the file says.
            OpenStreetMap is always in degrees.
        speed_unit: What speeds without a unit mean in GMNS, GeoJSON and GeoParquet; None for what
            the file says, or else km/h.

    Raises:
        GeographyError: The file cannot be used; the message says why.
    """
    given = Path(path)
    file = given.parent if given.name == _LINK_FILE else given
    # Corners that are no numbers are refused later, once and by name of the file.
    with public_file(file, "roads"), np.errstate(invalid="ignore"):
        if file.name.lower().endswith(_PARQUET) and is_links_parquet(file):
            return _as_kept(read_links_parquet(file))
        draft = _draft(file, columns or RoadColumns(), crs, speed_unit, service=service)
    return network_of(draft, file.name)


def _draft(
    file: Path,
    columns: RoadColumns,
    crs: str | None,
    speed_unit: SpeedUnit | None,
    *,
    service: bool,
) -> RoadDraft:
    name = file.name.lower()
    if not file.exists():
        raise FileNotFoundError(file.name)
    if file.is_dir():
        return gmns_roads(file, crs=crs, speed_unit=speed_unit)
    if name.endswith(_OSM):
        return osm_roads(file, service=service)
    if name.endswith(".graphml"):
        return graphml_roads(file, crs=crs)
    if name.endswith(_GEOJSON):
        return geojson_roads(file, columns, crs=crs, speed_unit=speed_unit)
    if name.endswith(_PARQUET):
        return geoparquet_roads(file, columns, crs=crs, speed_unit=speed_unit)
    raise GeographyError(
        f"The roads file {file.name} has an unknown format.",
        advice="Give .osm.pbf, .osm, .graphml, .geojson, .parquet, or a folder with link.csv.",
    )


def _as_kept(roads: RoadNetwork) -> tuple[RoadNetwork, RoadsReport]:
    """Returns a network that was cleaned before it was written."""
    report = RoadsReport(
        read=roads.links,
        kept=roads.links,
        dropped={},
        cut_off=0,
        turned=0,
        assumed_speeds=0,
        unknown_classes=(),
    )
    return roads, report


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
    drawn = _drawn(folder / "geometry.csv")
    texts = [row.get("geometry") or drawn.get(row.get("geometry_id", "")) for row in links]
    turned = [row.get("dir_flag", "").strip() == "-1" for row in links]
    return _draft_between(link_file, records, places, texts, meaning, turned)


def _draft_between(  # noqa: PLR0917  the parts of a network
    file: Path,
    records: Sequence[LineRecord],
    places: Mapping[str, Place],
    texts: Sequence[str | None],
    crs: Any,
    turned: Sequence[bool] | None = None,
) -> RoadDraft:
    """Returns the draft of lines between places; a line without WKT goes straight."""
    check_nodes(file, places, (end for each in records for end in (each.tail, each.head)))
    try:
        shapes = [
            shapely.from_wkt(text)
            if text
            else shapely.LineString([places[record.tail], places[record.head]])
            for record, text in zip(records, texts, strict=True)
        ]
    except (shapely.errors.GEOSException, ValueError):
        raise damaged_roads(file) from None
    for at, back in enumerate(turned or ()):
        if back and texts[at]:
            shapes[at] = shapely.reverse(shapes[at])
    x, y = zip(*places.values(), strict=True)
    degrees = points_in_degrees(file, x, y, crs)
    nodes = dict(zip(places, degrees, strict=True))
    return draft_of(file, records, lines_in_degrees(file, shapes, crs), nodes)


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


_SPACE = "{http://graphml.graphdrawing.org/xmlns}"

Facts = Mapping[str, str]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Graph:
    """Elements by kind, each with its attributes and its data by name."""

    graph: dict[str, str] = field(default_factory=dict)
    nodes: list[tuple[Facts, Facts]] = field(default_factory=list)
    edges: list[tuple[Facts, Facts]] = field(default_factory=list)


def graphml_roads(file: Path, *, crs: str | None) -> RoadDraft:
    """Returns a line for each edge.

    Raises:
        GeographyError: The file is damaged, has no roads, or an edge names an unknown node.
        OSError: The file cannot be read.
    """
    try:
        graph = _read(file)
    except (ET.ParseError, KeyError):
        raise damaged_roads(file) from None
    if not graph.edges:
        raise no_roads(file)
    meaning = crs or graph.graph.get("crs") or DEGREES
    try:
        ids = [attributes["id"] for attributes, _ in graph.nodes]
        x = [float(data["x"]) for _, data in graph.nodes]
        y = [float(data["y"]) for _, data in graph.nodes]
        records = [_record_of_graph(attributes, data) for attributes, data in graph.edges]
    except (KeyError, ValueError):
        raise GeographyError(
            f"Nodes or edges of {file.name} lack what osmnx writes: id, x, y, source, target.",
            advice="Write the file with osmnx.save_graphml.",
        ) from None
    check_unique(file, "nodes", ids)
    places = dict(zip(ids, zip(x, y, strict=True), strict=True))
    texts = [data.get("geometry") for _, data in graph.edges]
    return _draft_between(file, records, places, texts, meaning)


def _read(file: Path) -> _Graph:
    keys: dict[str, str] = {}
    found = _Graph()
    # A public file that the steward chose; the parser itself limits how far entities grow.
    for _, element in ET.iterparse(file):  # noqa: S314
        tag = element.tag.removeprefix(_SPACE)
        if tag == "key":
            keys[element.attrib["id"]] = element.attrib["attr.name"]
        elif tag in ("node", "edge"):
            data = dict(_data(element, keys))
            (found.nodes if tag == "node" else found.edges).append((dict(element.attrib), data))
            element.clear()
        elif tag == "graph":
            found.graph.update(_data(element, keys))
    return found


def _data(element: ET.Element, keys: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for part in element.findall(f"{_SPACE}data"):
        yield keys[part.attrib["key"]], part.text or ""


def _record_of_graph(attributes: Facts, data: Facts) -> LineRecord:
    # Both directions of a two-way street are edges of their own; their lanes are those of both.
    two_way = data.get("oneway", "True") == "False"
    tail, head = attributes["source"], attributes["target"]
    return LineRecord(
        id=f"{tail}:{head}:{attributes.get('id', '0')}",
        tail=tail,
        head=head,
        kind=_most_important(_values(data.get("highway"))),
        speed=speed_of(_values(data.get("maxspeed"))[0]),
        lanes=per_direction(lanes_of(_values(data.get("lanes"))[0]), (True, two_way)),
        directions=(True, False),
        name=_values(data.get("name"))[0],
    )


def _values(text: str | None) -> list[str]:
    """Returns the values of an edge that was put together from several ways: a written list."""
    if text is not None and text.startswith("["):
        try:
            listed: Any = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            listed = None
        if isinstance(listed, list) and listed:
            return [str(value) for value in listed]
    return [text or ""]


def _most_important(kinds: list[str]) -> str:
    known = [(kind.road_class, word) for word in kinds if (kind := kind_of(word)) is not None]
    return min(known)[1] if known else kinds[0]
