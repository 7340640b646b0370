"""Roads from GeoJSON and GeoParquet."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from pyproj import CRS, Transformer

from hushway.errors import GeographyError
from hushway.families.links.public.geoparquet import read_links_parquet, write_links_parquet
from hushway.families.links.public.lines import RoadColumns
from hushway.families.links.public.read import read_roads
from hushway.families.links.public.roads import RoadNetwork

Row = tuple[list[tuple[float, float]], dict[str, Any]]
# Two streets that touch within a centimetre or so, on either side of a rounding border.
WEST: Row = ([(0.0, 0.0), (0.01, 0.0)], {"class": "primary", "name": "West"})
EAST: Row = ([(0.01000015, 0.0), (0.02, 0.0)], {"class": 5, "speed": 20, "lanes": 4})


def geojson(folder: Path, *rows: Row, **members: Any) -> Path:
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "LineString", "coordinates": course},
            "properties": properties,
        }
        for course, properties in rows
    ]
    file = folder / "roads.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features, **members}))
    return file


def geoparquet(folder: Path, *rows: Row, **geometry: Any) -> Path:
    names = dict.fromkeys(name for _, properties in rows for name in properties)
    table: dict[str, Any] = {
        name: pa.array(
            [None if (v := p.get(name)) is None else str(v) for _, p in rows], pa.string()
        )
        for name in names
    }
    table["shape"] = pa.array([shapely.LineString(course).wkb for course, _ in rows])
    column = {"encoding": "WKB", "geometry_types": ["LineString"], **geometry}
    facts = {"version": "1.1.0", "primary_column": "shape", "columns": {"shape": column}}
    file = folder / "roads.parquet"
    pq.write_table(pa.table(table).replace_schema_metadata({"geo": json.dumps(facts)}), file)
    return file


def refusal(file: Path, **options: Any) -> str:
    with pytest.raises(GeographyError) as caught:
        read_roads(file, **options)
    assert caught.value.advice
    return str(caught.value)


@pytest.mark.parametrize("write", [geojson, geoparquet])
def test_lines_without_nodes_are_joined_where_they_touch(tmp_path: Path, write: Any) -> None:
    roads, report = read_roads(write(tmp_path, WEST, EAST))
    assert roads.nodes == 3
    assert roads.link_id.tolist() == ["1", "1:b", "2", "2:b"]
    assert roads.node_id.tolist()[0] == "0.0000000,0.0000000"
    assert roads.road_class.tolist() == [2, 2, 5, 5]
    assert roads.speed.tolist() == [60, 60, 20, 20]
    assert roads.lanes.tolist() == [1, 1, 2, 2]
    assert report.kept == 4


def test_ends_that_do_not_touch_are_not_joined(tmp_path: Path) -> None:
    apart: Row = ([(0.010002, 0.0), (0.02, 0.0)], {"class": 5})
    _, report = read_roads(geojson(tmp_path, WEST, apart))
    assert report.dropped["not_connected"] == 2


@pytest.mark.parametrize("write", [geojson, geoparquet])
def test_rows_with_nodes_are_links_in_one_direction(tmp_path: Path, write: Any) -> None:
    there: Row = (WEST[0], {"class": 1, "from_node": 1, "to_node": 2, "link_id": "x"})
    back: Row = (WEST[0][::-1], {"class": 1, "from_node": 2, "to_node": 1, "link_id": "y"})
    roads, _ = read_roads(write(tmp_path, there, back))
    assert roads.link_id.tolist() == ["x", "y"]
    assert roads.node_id.tolist() == ["1", "2"]
    assert roads.street.tolist() == [0, 0]


def test_one_way_streets_are_understood(tmp_path: Path) -> None:
    loop: Row = ([(0.01, 0.0), (0.005, 0.002), (0.0, 0.0)], {"class": 3, "dir": "backward"})
    west = (WEST[0], {"class": 3, "dir": "both"})
    roads, _ = read_roads(geojson(tmp_path, west, loop), columns=RoadColumns(oneway="dir"))
    assert roads.link_id.tolist() == ["1", "1:b", "2:b"]


def test_columns_may_have_other_names(tmp_path: Path) -> None:
    street: Row = (WEST[0], {"fclass": "trunk", "v": 25, "ref": 7.0})
    columns = RoadColumns(id="ref", road_class="fclass", speed="v")
    roads, _ = read_roads(geojson(tmp_path, street), columns=columns, speed_unit="mph")
    assert roads.link_id.tolist() == ["7", "7:b"]
    assert roads.road_class.tolist() == [1, 1]
    assert roads.speed[0] == pytest.approx(40.2336)


def test_without_a_class_every_road_is_a_residential_street(tmp_path: Path) -> None:
    file = geojson(tmp_path, (WEST[0], {}))
    assert "no column 'class'" in refusal(file)
    roads, report = read_roads(file, columns=RoadColumns(road_class=None))
    assert roads.road_class.tolist() == [5, 5]
    assert report.unknown_classes == ()


def test_coordinates_of_a_map_become_degrees(tmp_path: Path) -> None:
    forward = Transformer.from_crs("EPSG:4326", "EPSG:2154", always_xy=True)
    course = [forward.transform(2.3, 48.8), forward.transform(2.31, 48.8)]
    file = geoparquet(tmp_path, (course, {"class": 1}), crs=CRS("EPSG:2154").to_json_dict())
    roads, _ = read_roads(file)
    assert roads.lon.tolist()[:2] == pytest.approx([2.3, 2.31], abs=2e-7)
    plain = geojson(tmp_path, (course, {"class": 1}))
    assert "cannot be in the CRS" in refusal(plain)
    assert read_roads(plain, crs="EPSG:2154")[0].lon.tolist() == roads.lon.tolist()
    assert "unknown: EPSG:none" in refusal(plain, crs="EPSG:none")
    nobody_knows = geoparquet(tmp_path, (course, {"class": 1}), crs=None)
    assert "does not say in which CRS" in refusal(nobody_knows)


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    assert "no roads" in refusal(geojson(tmp_path))
    assert "no column 'kind'" in refusal(
        geojson(tmp_path, WEST), columns=RoadColumns(road_class="kind")
    )
    half: Row = (WEST[0], {"class": 1, "from_node": 1, "to_node": None})
    assert "do not name both" in refusal(geojson(tmp_path, half))
    unknown = tmp_path / "roads.xlsx"
    unknown.write_text("")
    assert "unknown format" in refusal(unknown)
    assert "no roads file gone.geojson" in refusal(tmp_path / "gone.geojson")
    assert "no roads file gone.osm.pbf" in refusal(tmp_path / "gone.osm.pbf")
    assert "no roads file gone.parquet" in refusal(tmp_path / "gone.parquet")


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "roads.parquet"
    file.write_bytes(b"PAR1 no table PAR1")
    assert "damaged" in refusal(file)
    pq.write_table(pa.table({"class": [1]}), file)
    assert "without geometries" in refusal(file)
    text = geojson(tmp_path, WEST)
    text.write_text(text.read_text().replace("LineString", "Point"))
    assert "damaged" in refusal(text)
    text.write_text("{}")
    assert "not a GeoJSON collection" in refusal(text)
    text.write_bytes(b'{"a": "\xff"}')
    assert "not UTF-8" in refusal(text)


def test_a_line_in_one_part_is_a_line(tmp_path: Path) -> None:
    file = geojson(tmp_path, WEST)
    written = json.loads(file.read_text())
    drawn = written["features"][0]["geometry"]
    drawn.update(type="MultiLineString", coordinates=[drawn["coordinates"]])
    file.write_text(json.dumps(written))
    assert read_roads(file)[0].links == 2


def network(*, nodes: int = 3) -> RoadNetwork:
    """A street with a bend, both ways, and a street back; positions with all their digits."""
    return RoadNetwork(
        node_id=np.array(["n1", "é2", "n3"][:nodes]),
        node_lon=np.array([0.1, 1 / 3, 0.5][:nodes]),
        node_lat=np.array([0.0, 0.01, np.pi][:nodes]),
        link_id=np.array(["a", "a:b", "c"]),
        tail=np.array([0, 1, 0]),
        head=np.array([1, 0, 1]),
        length=np.array([10.25, 10.25, 1 / 7]),
        speed=np.array([30.0, 50.0, 48.28]),
        lanes=np.array([1.0, 1.5, 2.0]),
        road_class=np.array([1, 5, 3]),
        street=np.array([0, 0, 1]),
        name=np.array(["Straße", "", "C"]),
        start=np.array([0, 3, 6, 8]),
        lon=np.array([0.1, 0.2, 1 / 3, 1 / 3, 0.2, 0.1, 0.1, 1 / 3]),
        lat=np.array([0, 1 / 11, 0.01, 0.01, 1 / 11, 0, 0, 0.01]),
    )


def test_a_network_is_read_back_with_the_same_digest(tmp_path: Path) -> None:
    roads = network(nodes=2)
    write_links_parquet(roads, tmp_path / "roads.parquet")
    again = read_links_parquet(tmp_path / "roads.parquet")
    assert again.digest == roads.digest
    for name in roads.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(again, name), getattr(roads, name))


def test_the_reader_of_roads_knows_such_files_and_does_not_clean_them(tmp_path: Path) -> None:
    roads = network(nodes=2)
    write_links_parquet(roads, tmp_path / "roads.parquet")
    again, report = read_roads(tmp_path / "roads.parquet")
    assert again.digest == roads.digest
    assert report.sentences == ("3 of 3 directed links are used.",)


def test_nodes_without_links_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(GeographyError, match="nodes without links"):
        write_links_parquet(network(), tmp_path / "roads.parquet")


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "roads.parquet"
    write_links_parquet(network(nodes=2), file)
    table = pq.read_table(file)
    at = table.schema.get_field_index("speed")
    faster = table.set_column(at, "speed", [[31.0, 50.0, 48.28]])
    pq.write_table(faster.replace_schema_metadata(table.schema.metadata), file)
    with pytest.raises(GeographyError, match="was changed"):
        read_links_parquet(file)


def test_files_that_are_missing_damaged_or_something_else_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "roads.parquet"
    with pytest.raises(GeographyError, match=r"no roads file roads\.parquet"):
        read_links_parquet(file)
    write_links_parquet(network(nodes=2), file)
    table = pq.read_table(file)
    pq.write_table(table.drop_columns(["tail"]), file)
    with pytest.raises(GeographyError, match="damaged"):
        read_links_parquet(file)
    pq.write_table(table.replace_schema_metadata({}), file)
    with pytest.raises(GeographyError, match="damaged"):
        read_links_parquet(file)
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(GeographyError, match="damaged"):
        read_links_parquet(file)
