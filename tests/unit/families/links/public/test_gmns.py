"""Roads from GMNS."""

from pathlib import Path

import pytest

from hushway.errors import GeographyError
from hushway.families.links.public.read import read_roads

NODES = "node_id,x_coord,y_coord\n1,0,0\n2,0.01,0\n"
HEAD = "link_id,from_node_id,to_node_id,directed,geometry_id,geometry,dir_flag,facility_type,"
HEAD += "free_speed,lanes,name\n"
PAIR = "7,1,2,1,g,,1,freeway,60,3,High\n8,2,1,1,g,,-1,freeway,60,2,High\n"
COURSES = 'geometry_id,geometry\ng,"LINESTRING (0 0, 0.004 0.001, 0.01 0)"\n'


def write(
    folder: Path, *, nodes: str = NODES, links: str = HEAD + PAIR, courses: str | None = COURSES
) -> Path:
    (folder / "node.csv").write_text(nodes)
    (folder / "link.csv").write_text(links)
    if courses is not None:
        (folder / "geometry.csv").write_text(courses)
    return folder


def refusal(folder: Path) -> str:
    with pytest.raises(GeographyError) as caught:
        read_roads(folder)
    assert caught.value.advice
    return str(caught.value)


def test_links_share_a_course_by_its_id_and_direction(tmp_path: Path) -> None:
    roads, report = read_roads(write(tmp_path))
    assert roads.link_id.tolist() == ["7", "8"]
    assert roads.lon.tolist() == [0, 0.004, 0.01, 0.01, 0.004, 0]
    assert roads.street.tolist() == [0, 0]
    assert roads.lanes.tolist() == [3, 2]
    assert roads.road_class.tolist() == [1, 1]
    assert (report.turned, report.assumed_speeds) == (0, 0)


def test_a_folder_may_be_named_by_its_links(tmp_path: Path) -> None:
    by_folder, _ = read_roads(write(tmp_path))
    by_file, _ = read_roads(tmp_path / "link.csv")
    assert by_folder.digest == by_file.digest


def test_undirected_links_are_driven_both_ways(tmp_path: Path) -> None:
    roads, _ = read_roads(write(tmp_path, links=HEAD + "7,1,2,0,,,,local,,,\n", courses=None))
    assert roads.link_id.tolist() == ["7", "7:b"]
    assert roads.speed.tolist() == [30, 30]


def test_courses_may_stand_in_the_links(tmp_path: Path) -> None:
    links = HEAD + '7,1,2,0,,"LINESTRING (0 0, 0.003 0.002, 0.01 0)",,local,,,\n'
    roads, _ = read_roads(write(tmp_path, links=links, courses=None))
    assert roads.lat.max() == 0.002


def test_units_and_crs_come_from_the_config_or_the_reader(tmp_path: Path) -> None:
    write(tmp_path)
    assert read_roads(tmp_path, speed_unit="mph")[0].speed[0] == pytest.approx(96.56064)
    (tmp_path / "config.csv").write_text("speed,crs\nmph,EPSG:3857\n")
    roads, _ = read_roads(tmp_path, speed_unit="km/h", crs="EPSG:4326")
    assert (roads.speed[0], roads.node_lon[1]) == (60, 0.01)
    (tmp_path / "config.csv").write_text("speed,crs\nmph,EPSG:4326\n")
    assert read_roads(tmp_path)[0].speed[0] == pytest.approx(96.56064)


def test_metres_that_are_said_to_be_degrees_are_refused(tmp_path: Path) -> None:
    nodes = "node_id,x_coord,y_coord\n1,1523373,1003235\n2,1523873,1003225\n"
    assert "cannot be in the CRS" in refusal(write(tmp_path, nodes=nodes, courses=None))


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    assert "no column 'from_node_id'" in refusal(write(tmp_path, links="link_id,to_node_id\n1,2\n"))
    assert "no column 'x_coord'" in refusal(write(tmp_path, nodes="node_id,y_coord\n1,2\n"))
    unknown = HEAD + "7,1,99,1,,,,local,,,\n"
    assert "unknown nodes: '99'" in refusal(write(tmp_path, links=unknown))
    assert "node '2' of node.csv has no position" in refusal(
        write(tmp_path, nodes="node_id,x_coord,y_coord\n1,0,0\n2,,0\n")
    )
    assert "no roads" in refusal(write(tmp_path, links=HEAD))
    twice = HEAD + "7,1,2,1,,,,local,,,\n7,2,1,1,,,,local,,,\n"
    assert "appear more than once: '7'" in refusal(write(tmp_path, links=twice))
    damaged = HEAD + "7,1,2,1,,LINESTRING(,,local,,,\n"
    assert "damaged" in refusal(write(tmp_path, links=damaged))
    (tmp_path / "node.csv").unlink()
    assert "no roads file node.csv" in refusal(tmp_path)


def test_ids_of_blanks_are_refused(tmp_path: Path) -> None:
    blank = write(tmp_path, links=HEAD + PAIR.replace("7,1,2", "  ,1,2"))
    assert "links in link.csv have no id" in refusal(blank)
    nodes = NODES.replace("\n1,", "\n  ,")
    assert "nodes in link.csv have no id" in refusal(
        write(
            tmp_path, nodes=nodes, links=HEAD + PAIR.replace("1,2", "  ,2").replace("2,1", "2,  ")
        )
    )
