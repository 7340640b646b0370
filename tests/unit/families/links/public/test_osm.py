"""Roads from OpenStreetMap."""

import bz2
import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np
import osmium
import pytest

from hushway.errors import GeographyError
from hushway.families.links.public.read import read_roads
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.words import directions_of, lanes_of, per_direction, speed_of

# A ring of four corners with a street across, and a street that leads out of it.
NODES = {1: (0.0, 0.0), 2: (0.01, 0.0), 3: (0.01, 0.01), 4: (0.0, 0.01), 5: (0.005, -0.002)}

Way = tuple[int, list[int], dict[str, str]]
RING: Way = (10, [1, 5, 2, 3, 4, 1], {"highway": "residential", "name": "Ring"})
ACROSS: Way = (20, [1, 3], {"highway": "primary", "oneway": "yes", "maxspeed": "30 mph"})


def xml(*ways: Way, nodes: dict[int, tuple[float, float]] = NODES) -> str:
    """Ways as OpenStreetMap XML."""
    lines = ['<?xml version="1.0"?>', '<osm version="0.6">']
    lines += [f'<node id="{n}" lon="{x:.7f}" lat="{y:.7f}"/>' for n, (x, y) in nodes.items()]
    for number, refs, tags in ways:
        lines.append(f'<way id="{number}">')
        lines += [f'<nd ref="{ref}"/>' for ref in refs]
        lines += [f'<tag k="{key}" v="{value}"/>' for key, value in tags.items()]
        lines.append("</way>")
    return "\n".join([*lines, "</osm>"])


def write(folder: Path, *ways: Way, nodes: dict[int, tuple[float, float]] = NODES) -> Path:
    file = folder / "city.osm"
    file.write_text(xml(*ways, nodes=nodes))
    return file


def roads_of(folder: Path, *ways: Way) -> RoadNetwork:
    return read_roads(write(folder, *ways))[0]


def test_ways_are_cut_where_they_meet_and_keep_their_geometry(tmp_path: Path) -> None:
    roads = roads_of(tmp_path, RING, ACROSS)
    assert roads.link_id.tolist() == ["10:0:f", "10:0:b", "10:3:f", "10:3:b", "20:0:f"]
    assert roads.node_id.tolist() == ["1", "3"]
    first = slice(roads.start[0], roads.start[1])
    assert roads.lon[first].tolist() == [0.0, 0.005, 0.01, 0.01]
    assert roads.lat[first].tolist() == [0.0, -0.002, 0.0, 0.01]
    assert roads.street.tolist() == [0, 0, 1, 1, 2]
    assert roads.name.tolist() == ["Ring"] * 4 + [""]
    assert roads.road_class.tolist() == [5, 5, 5, 5, 2]


def test_ids_do_not_depend_on_what_else_is_read(tmp_path: Path) -> None:
    lane: Way = (30, [2, 4], {"highway": "service"})
    file = write(tmp_path, RING, ACROSS, lane)
    without, _ = read_roads(file)
    with_lane, _ = read_roads(file, service=True)
    assert "10:3:f" in without.link_id
    assert {"10:0:f", "10:2:f", "10:3:f", "10:4:f", "30:0:f"} <= set(with_lane.link_id.tolist())


def test_speeds_are_read_in_both_units_or_assumed(tmp_path: Path) -> None:
    roads, report = read_roads(write(tmp_path, RING, ACROSS))
    assert roads.speed[-1] == pytest.approx(48.28032)
    assert roads.speed[0] == 30
    assert report.assumed_speeds == 4


@pytest.mark.parametrize(
    ("tags", "links"),
    [
        ({"oneway": "yes"}, [":f"]),
        ({"oneway": "-1"}, [":b"]),
        ({"oneway": "no", "junction": "roundabout"}, [":f", ":b"]),
        ({"junction": "roundabout"}, [":f"]),
        ({"highway": "motorway"}, [":f"]),
        ({"highway": "motorway", "oneway": "no"}, [":f", ":b"]),
        ({"highway": "motorway_link"}, [":f", ":b"]),
        ({"oneway": "reversible"}, [":f", ":b"]),
    ],
)
def test_one_way_streets_are_one_link(
    tmp_path: Path, tags: dict[str, str], links: list[str]
) -> None:
    street: Way = (40, [2, 4], {"highway": "tertiary", **tags})
    roads = roads_of(tmp_path, RING, street)
    assert [key[-2:] for key in roads.link_id.tolist() if key.startswith("40:")] == links


@pytest.mark.parametrize(
    "tags",
    [
        {"highway": "footway"},
        {"access": "no"},
        {"motor_vehicle": "no"},
        {"access": "yes", "motorcar": "no"},
        {"area": "yes"},
        {"highway": "service"},
    ],
)
def test_what_cars_may_not_use_is_not_read(tmp_path: Path, tags: dict[str, str]) -> None:
    path: Way = (40, [2, 4], {"highway": "residential", **tags})
    assert roads_of(tmp_path, RING, path).link_id.tolist() == ["10:0:f", "10:0:b"]


def test_the_most_specific_word_about_access_decides(tmp_path: Path) -> None:
    street: Way = (40, [2, 4], {"highway": "residential", "access": "no", "motorcar": "yes"})
    assert "40:0:f" in roads_of(tmp_path, RING, street).link_id


def test_speeds_and_lanes_may_differ_by_direction(tmp_path: Path) -> None:
    tags = {"highway": "secondary", "maxspeed": "50", "maxspeed:backward": "70", "lanes": "3"}
    roads = roads_of(tmp_path, (40, [1, 3], {**tags, "lanes:forward": "2", "lanes:backward": "1"}))
    assert roads.speed.tolist() == [50, 70]
    assert roads.lanes.tolist() == [2, 1]
    assert roads_of(tmp_path, (40, [1, 3], tags)).lanes.tolist() == [1.5, 1.5]


def test_a_way_that_leaves_the_extract_is_cut_and_a_repeated_node_is_no_junction(
    tmp_path: Path,
) -> None:
    street: Way = (40, [1, 5, 5, 2, 99, 98, 3, 4], {"highway": "residential"})
    roads, report = read_roads(write(tmp_path, street, (50, [2, 3], {"highway": "residential"})))
    assert set(roads.link_id.tolist()) == {
        f"{line}:{way}" for line in ("40:0", "40:6", "50:0") for way in "fb"
    }
    assert report.cut_off == 1


def test_a_way_that_crosses_itself_is_cut_there(tmp_path: Path) -> None:
    roads = roads_of(tmp_path, (40, [1, 2, 3, 5, 2, 4], {"highway": "residential"}))
    assert sorted({key[:-2] for key in roads.link_id.tolist()}) == ["40:0", "40:1", "40:4"]
    assert (roads.tail == roads.head).sum() == 2


def test_pbf_and_compressed_xml_hold_the_same_network(tmp_path: Path) -> None:
    plain = write(tmp_path, RING, ACROSS)
    (tmp_path / "city.osm.gz").write_bytes(gzip.compress(plain.read_bytes()))
    (tmp_path / "city.osm.bz2").write_bytes(bz2.compress(plain.read_bytes()))
    with osmium.SimpleWriter(str(tmp_path / "city.osm.pbf")) as writer:
        for thing in osmium.FileProcessor(str(plain)):
            writer.add(thing)
    digests = {
        read_roads(tmp_path / name)[0].digest
        for name in ("city.osm", "city.osm.gz", "city.osm.bz2", "city.osm.pbf")
    }
    assert len(digests) == 1


@pytest.mark.parametrize("ending", [".osm", ".osm.pbf", ".osm.gz", ".osm.bz2"])
def test_damaged_files_are_refused(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"city{ending}"
    file.write_bytes(b"\x00\x00\x00\x0dno map at all, whatever its ending says")
    with pytest.raises(GeographyError, match="damaged") as caught:
        read_roads(file)
    assert file.name in str(caught.value)
    assert caught.value.advice


def test_files_cut_off_in_the_middle_are_refused(tmp_path: Path) -> None:
    file = write(tmp_path, RING, ACROSS)
    file.write_text(file.read_text()[:-60])
    with pytest.raises(GeographyError, match="damaged"):
        read_roads(file)


@pytest.mark.parametrize(
    "ways", [(), ((10, [1, 2], {"highway": "footway"}),), ((10, [1], {"highway": "primary"}),)]
)
def test_files_without_roads_are_refused(tmp_path: Path, ways: tuple[Way, ...]) -> None:
    with pytest.raises(GeographyError, match=r"no roads for cars in city\.osm"):
        read_roads(write(tmp_path, *ways))


def test_lengths_are_metres(tmp_path: Path) -> None:
    roads = roads_of(tmp_path, (40, [1, 2], {"highway": "residential"}))
    np.testing.assert_allclose(roads.length, 1113.195, atol=0.01)


@pytest.mark.parametrize("where", [(0.0, 999.0), (0.0, 91.0), (-181.0, 0.0), (float("nan"), 0.0)])
def test_a_node_that_is_not_on_earth_is_refused(where: tuple[float, float], tmp_path: Path) -> None:
    file = write(tmp_path, RING, nodes={**NODES, 5: where})
    with pytest.raises(GeographyError, match="not on Earth") as caught:
        read_roads(file)
    assert caught.value.advice


@pytest.mark.parametrize(
    ("text", "kmh"),
    [
        ("50", 50),
        (50, 50),
        ("50 km/h", 50),
        ("30 mph", 48.28032),
        ("30mph", 48.28032),
        ("50;70", 50),
        ("7,5", 7.5),
        ("none", 130),
        ("walk", 7),
        ("DE:urban", 50),
        ("DE:zone30", 30),
        ("FR:motorway", 120),
    ],
)
def test_speeds_are_kilometres_an_hour(text: Any, kmh: float) -> None:
    assert speed_of(text) == pytest.approx(kmh)


@pytest.mark.parametrize("text", [None, "", "signals", "0", 0, -5.0, math.nan, math.inf])
def test_what_is_no_speed_is_not_said(text: Any) -> None:
    assert math.isnan(speed_of(text))


def test_numbers_without_a_unit_have_that_of_the_file() -> None:
    assert speed_of("25", "mph") == speed_of(25, "mph") == pytest.approx(40.2336)
    assert speed_of("25 km/h", "mph") == 25


def test_lanes_are_numbers_above_0() -> None:
    assert [lanes_of(text) for text in ("2", 3, "1.5", "2;3")] == [2, 3, 1.5, 2]
    assert all(math.isnan(lanes_of(text)) for text in (None, "", "many", 0, "0"))


def test_two_way_streets_share_their_lanes_and_have_at_least_one_each() -> None:
    assert per_direction(4, (True, True)) == 2
    assert per_direction(1, (True, True)) == 1
    assert per_direction(3, (True, False)) == 3
    assert math.isnan(per_direction(math.nan, (True, True)))


@pytest.mark.parametrize(
    ("text", "directions"),
    [
        ("yes", (True, False)),
        (True, (True, False)),
        (1, (True, False)),
        ("forward", (True, False)),
        ("-1", (False, True)),
        (-1, (False, True)),
        ("backward", (False, True)),
        ("no", (True, True)),
        (False, (True, True)),
        (0, (True, True)),
        ("both", (True, True)),
    ],
)
def test_directions_are_understood(text: Any, directions: tuple[bool, bool]) -> None:
    assert directions_of(text, (False, False)) == directions


@pytest.mark.parametrize("text", [None, "", math.nan])
def test_where_nothing_is_said_the_usual_holds(text: Any) -> None:
    assert directions_of(text, (True, False)) == (True, False)
