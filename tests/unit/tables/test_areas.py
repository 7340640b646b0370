"""The public list of areas: what is the same for every format."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from hushway.errors import GeographyError
from hushway.tables.areas import AreaColumns, read_areas

Box = tuple[float, float, float, float]
ONE: Box = (2.30, 48.80, 2.31, 48.81)
TWO: Box = (2.31, 48.80, 2.32, 48.81)
BOW_TIE = [[2.3, 48.8], [2.31, 48.81], [2.31, 48.8], [2.3, 48.81], [2.3, 48.8]]


def feature(shape: Any, **properties: Any) -> dict[str, Any]:
    geometry = shape if isinstance(shape, dict) or shape is None else box(shape)
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def box(corners: Box) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shapely.to_geojson(shapely.box(*corners)))
    return found


def polygon(ring: list[Any]) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": [ring]}


def write(folder: Path, text: str | bytes, name: str = "areas.geojson") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def geojson(folder: Path, *features: Any, **members: Any) -> Path:
    return write(
        folder, json.dumps({"type": "FeatureCollection", "features": list(features), **members})
    )


def refusal(file: Path, columns: AreaColumns | None = None, **options: Any) -> str:
    with pytest.raises(GeographyError) as caught:
        read_areas(file, columns, **options)
    assert caught.value.advice
    return str(caught.value)


def test_areas_are_read_in_the_order_of_the_file(tmp_path: Path) -> None:
    file = geojson(tmp_path, feature(TWO, id="b", name="Beta"), feature(ONE, id="a"))
    areas = read_areas(file)
    assert areas.ids == ("b", "a")
    assert [area.name for area in areas.areas] == ["Beta", "a"]
    assert areas.areas[1].shape.equals(shapely.box(*ONE))


def test_columns_can_be_named(tmp_path: Path) -> None:
    file = geojson(tmp_path, feature(ONE, code=75, label="Quai"))
    areas = read_areas(str(file), AreaColumns(id="code", name="label"))
    assert (areas.ids, areas.areas[0].name) == (("75",), "Quai")
    assert read_areas(file, AreaColumns(id="code", name=None)).areas[0].name == "75"


def test_a_gzipped_file_is_the_same(tmp_path: Path) -> None:
    plain = geojson(tmp_path, feature(ONE, id="a"), feature(TWO, id="b"))
    packed = write(tmp_path, gzip.compress(plain.read_bytes()), "areas.geojson.gz")
    assert read_areas(packed).digest == read_areas(plain).digest


def test_a_missing_column_is_refused_with_those_that_are_there(tmp_path: Path) -> None:
    file = geojson(tmp_path, feature(ONE, code=1, label="x"))
    with pytest.raises(GeographyError, match="no column 'id'") as caught:
        read_areas(file)
    assert "code, label" in caught.value.advice
    assert "'title'" in refusal(file, AreaColumns(id="code", name="title"))


@pytest.mark.parametrize("nothing", [None, ""])
def test_areas_without_an_id_are_refused_by_place(tmp_path: Path, nothing: Any) -> None:
    file = geojson(tmp_path, feature(ONE, id="a"), feature(TWO, id=nothing))
    assert "no id: feature 2." in refusal(file)


def test_an_id_that_is_a_fraction_is_refused(tmp_path: Path) -> None:
    assert "feature 1" in refusal(geojson(tmp_path, feature(ONE, id=7.0)))


def test_ids_that_repeat_are_refused_by_name(tmp_path: Path) -> None:
    file = geojson(tmp_path, feature(ONE, id="a"), feature(TWO, id="a"), feature(TWO, id="c"))
    assert "more than once: 'a'." in refusal(file)


def test_areas_with_the_same_id_can_be_merged(tmp_path: Path) -> None:
    apart: Box = (2.40, 48.80, 2.41, 48.81)
    file = geojson(
        tmp_path,
        feature(ONE, id="a", name="first"),
        feature(apart, id="b"),
        feature(TWO, id="a", name="second"),
    )
    areas = read_areas(file, dissolve=True)
    assert areas.ids == ("a", "b")
    assert areas.areas[0].name == "first"
    assert areas.areas[0].shape.equals(shapely.box(2.30, 48.80, 2.32, 48.81))


@pytest.mark.parametrize(
    "text", ["", "   ", '{"type": "FeatureCollection", "features": []}'], ids=repr
)
def test_an_empty_file_is_refused(tmp_path: Path, text: str) -> None:
    assert "is empty" in refusal(write(tmp_path, text))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for name in ("areas.geojson", "areas.parquet", "areas.shp", "areas.zip"):
        assert f"There is no areas file {name}" in refusal(tmp_path / name)


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    assert "unknown format" in refusal(write(tmp_path, "id", "areas.csv"))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "areas.geojson").mkdir()
    assert "cannot be read" in refusal(tmp_path / "areas.geojson")


@pytest.mark.parametrize(
    ("geometry", "message"),
    [
        (None, "no shape: 'b' (feature 2 of areas.geojson)"),
        ({"type": "Polygon", "coordinates": []}, "no shape: 'b'"),
        ({"type": "Point", "coordinates": [2.3, 48.8]}, "not polygons: 'b'"),
        ({"type": "LineString", "coordinates": [[2.3, 48.8], [2.4, 48.8]]}, "not polygons: 'b'"),
        (polygon(BOW_TIE), "cross themselves: 'b'"),
        (polygon([[2.3, 48.8], [2.31, 48.8], [2.32, 48.8], [2.3, 48.8]]), "no size: 'b'"),
    ],
    ids=["null", "empty", "point", "line", "bow tie", "flat"],
)
def test_what_is_no_polygon_is_refused_by_name(tmp_path: Path, geometry: Any, message: str) -> None:
    assert message in refusal(geojson(tmp_path, feature(ONE, id="a"), feature(geometry, id="b")))


def test_many_bad_shapes_are_counted(tmp_path: Path) -> None:
    features = [feature(None, id=f"a{i}") for i in range(8)]
    assert "and 3 more" in refusal(geojson(tmp_path, *features))


def test_a_border_that_hardly_crosses_itself_is_mended(tmp_path: Path) -> None:
    spike = [[2.31, 48.81], [2.31, 48.82], [2.31, 48.81]]
    ring = [[2.3, 48.8], [2.31, 48.8], *spike, [2.3, 48.81], [2.3, 48.8]]
    area = read_areas(geojson(tmp_path, feature(polygon(ring), id="a"))).areas[0]
    assert area.shape.is_valid
    assert area.shape.geom_type in {"Polygon", "MultiPolygon"}
    assert area.shape.equals(shapely.box(2.3, 48.8, 2.31, 48.81))


def test_heights_are_left_out(tmp_path: Path) -> None:
    ring = [[x, y, 35.0] for x, y in shapely.get_coordinates(shapely.box(*ONE)).tolist()]
    area = read_areas(geojson(tmp_path, feature(polygon(ring), id="a"))).areas[0]
    assert not shapely.has_z(area.shape)
    assert area.shape.equals(shapely.box(*ONE))


def test_holes_and_islands_are_kept(tmp_path: Path) -> None:
    hole = shapely.box(2.303, 48.803, 2.306, 48.806)
    shape = shapely.union(
        shapely.difference(shapely.box(*ONE), hole), shapely.box(2.4, 48.8, 2.41, 48.81)
    )
    file = geojson(tmp_path, feature(json.loads(shapely.to_geojson(shape)), id="a"))
    assert read_areas(file).areas[0].shape.equals(shape)


def test_sizes_are_in_square_metres(tmp_path: Path) -> None:
    areas = read_areas(geojson(tmp_path, feature(ONE, id="a")))
    assert areas.sizes == pytest.approx(np.array([816_000]), rel=2e-3)


def test_an_id_of_blanks_is_none(tmp_path: Path) -> None:
    collection = {"type": "FeatureCollection", "features": [feature(ONE, id="  ")]}
    with pytest.raises(GeographyError, match="have no id: feature 1"):
        read_areas(write(tmp_path, json.dumps(collection)))
