"""Roads from GraphML as osmnx writes it: one edge for each direction."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import shapely

from hushway.errors import GeographyError
from hushway.families.links.public.classes import kind_of
from hushway.families.links.public.draft import RoadDraft
from hushway.families.links.public.errors import check_nodes, check_unique, damaged_roads, no_roads
from hushway.families.links.public.record import (
    DEGREES,
    LineRecord,
    draft_of,
    lines_in_degrees,
    points_in_degrees,
)
from hushway.families.links.public.words import lanes_of, per_direction, speed_of

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

    Args:
        file: A .graphml file.
        crs: What the coordinates mean; None for what the file says.

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
        records = [_record(attributes, data) for attributes, data in graph.edges]
    except (KeyError, ValueError):
        raise GeographyError(
            f"Nodes or edges of {file.name} lack what osmnx writes: id, x, y, source, target.",
            advice="Write the file with osmnx.save_graphml.",
        ) from None
    check_unique(file, "nodes", ids)
    places = dict(zip(ids, zip(x, y, strict=True), strict=True))
    check_nodes(file, places, (end for record in records for end in (record.tail, record.head)))
    shapes = [
        _course(file, data.get("geometry"), places[record.tail], places[record.head])
        for record, (_, data) in zip(records, graph.edges, strict=True)
    ]
    degrees = points_in_degrees(file, x, y, meaning)
    return draft_of(
        file,
        records,
        lines_in_degrees(file, shapes, meaning),
        dict(zip(ids, degrees, strict=True)),
    )


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


def _record(attributes: Facts, data: Facts) -> LineRecord:
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


def _course(
    file: Path, text: str | None, tail: tuple[float, float], head: tuple[float, float]
) -> shapely.Geometry:
    if not text:
        return shapely.LineString([tail, head])
    try:
        return shapely.from_wkt(text)
    except (shapely.errors.GEOSException, ValueError):
        raise damaged_roads(file) from None
