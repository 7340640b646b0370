"""Roads from GraphML as osmnx writes it."""

from pathlib import Path

import pytest

from hushway.errors import GeographyError
from hushway.families.links.public.read import read_roads

KEYS = {"x": "d0", "y": "d1", "crs": "d2", "highway": "d3", "maxspeed": "d4", "lanes": "d5"}
KEYS |= {"oneway": "d6", "name": "d7", "geometry": "d8"}
NODES = {"1": (0.0, 0.0), "2": (0.01, 0.0)}
THERE = ("1", "2", {"highway": "primary", "oneway": "False", "lanes": "4", "maxspeed": "30 mph"})
BACK = ("2", "1", {"highway": "['residential', 'secondary']", "name": "['A', 'B']"})

Edge = tuple[str, str, dict[str, str]]


def data(facts: dict[str, str]) -> str:
    return "".join(f'<data key="{KEYS[name]}">{value}</data>' for name, value in facts.items())


def write(folder: Path, *edges: Edge, crs: str = "epsg:4326") -> Path:
    parts = ['<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    parts += [f'<key id="{key}" for="all" attr.name="{name}"/>' for name, key in KEYS.items()]
    parts.append(f'<graph edgedefault="directed">{data({"crs": crs})}')
    parts += [
        f'<node id="{key}">{data({"x": str(x), "y": str(y)})}</node>'
        for key, (x, y) in NODES.items()
    ]
    parts += [
        f'<edge source="{u}" target="{v}" id="0">{data(facts)}</edge>' for u, v, facts in edges
    ]
    file = folder / "city.graphml"
    file.write_text("".join([*parts, "</graph></graphml>"]))
    return file


def test_edges_are_links_with_stable_ids(tmp_path: Path) -> None:
    roads, report = read_roads(write(tmp_path, THERE, BACK))
    assert roads.link_id.tolist() == ["1:2:0", "2:1:0"]
    assert roads.street.tolist() == [0, 0]
    assert roads.lon.tolist() == [0.0, 0.01, 0.01, 0.0]
    assert report.kept == 2


def test_lists_of_joined_ways_and_shared_lanes_are_understood(tmp_path: Path) -> None:
    roads, _ = read_roads(write(tmp_path, THERE, BACK))
    assert roads.road_class.tolist() == [2, 3]
    assert roads.lanes.tolist() == [2, 1]
    assert roads.speed.tolist() == pytest.approx([48.28032, 50])
    assert roads.name.tolist() == ["", "A"]


def test_courses_are_read_where_they_are_written(tmp_path: Path) -> None:
    bent = (*THERE[:2], {"highway": "primary", "geometry": "LINESTRING (0 0, 0.005 0.001, 0.01 0)"})
    roads, _ = read_roads(write(tmp_path, bent, BACK))
    assert roads.lat.tolist() == [0, 0.001, 0, 0, 0]
    assert roads.street.tolist() == [0, 1]


def test_the_crs_of_the_graph_is_honoured(tmp_path: Path) -> None:
    roads, _ = read_roads(write(tmp_path, THERE, BACK, crs="epsg:3857"))
    assert roads.node_lon[1] == pytest.approx(0.01 / 111319.49, abs=1e-7)
    with pytest.raises(GeographyError, match=r"CRS of the roads file city\.graphml is unknown"):
        read_roads(write(tmp_path, THERE, BACK, crs="epsg:nowhere"))


def test_unknown_kinds_are_reported(tmp_path: Path) -> None:
    _, report = read_roads(write(tmp_path, THERE, ("2", "1", {"highway": "busway"})))
    assert report.unknown_classes == ("busway",)


def test_unknown_nodes_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(GeographyError, match="unknown nodes: '9'"):
        read_roads(write(tmp_path, THERE, ("2", "9", {})))


def test_damaged_and_empty_graphs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GeographyError, match="no roads"):
        read_roads(write(tmp_path))
    file = write(tmp_path, THERE)
    whole = file.read_text()
    file.write_text(whole[:200])
    with pytest.raises(GeographyError, match="damaged"):
        read_roads(file)
    file.write_text(whole.replace('<data key="d0">0.01</data>', ""))
    with pytest.raises(GeographyError, match="lack what osmnx writes"):
        read_roads(file)
