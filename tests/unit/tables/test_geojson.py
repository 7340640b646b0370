"""Areas from GeoJSON: old and new, whole and damaged."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from pyproj import Transformer

from hushway.errors import GeographyError
from hushway.tables.areas import AreaColumns, read_areas

SQUARE = shapely.box(2.30, 48.80, 2.31, 48.81)


def collection(*features: Any, **members: Any) -> str:
    return json.dumps({"type": "FeatureCollection", "features": list(features), **members})


def feature(shape: shapely.Geometry = SQUARE, **members: Any) -> dict[str, Any]:
    return {
        "type": "Feature",
        "geometry": json.loads(shapely.to_geojson(shape)),
        "properties": {"id": "a"},
        **members,
    }


def write(folder: Path, text: str | bytes, name: str = "areas.json") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def refusal(file: Path, **options: Any) -> str:
    with pytest.raises(GeographyError) as caught:
        read_areas(file, **options)
    assert caught.value.advice
    return str(caught.value)


def old_crs(name: str) -> dict[str, Any]:
    return {"type": "name", "properties": {"name": name}}


def in_lambert(shape: shapely.Geometry) -> shapely.Geometry:
    forward = Transformer.from_crs("EPSG:4326", "EPSG:2154", always_xy=True)
    return shapely.transform(shape, lambda xy: np.column_stack(forward.transform(*xy.T)))


def test_the_features_own_id_will_do(tmp_path: Path) -> None:
    file = write(tmp_path, collection(feature(id=12, properties=None)))
    assert read_areas(file).ids == ("12",)
    assert "no column 'code'" in refusal(file, columns=AreaColumns(id="code"))


@pytest.mark.parametrize("name", ["urn:ogc:def:crs:OGC:1.3:CRS84", "EPSG:4326", "OGC:CRS84"])
def test_an_old_crs_member_that_means_degrees_changes_nothing(tmp_path: Path, name: str) -> None:
    file = write(tmp_path, collection(feature(), crs=old_crs(name)))
    assert read_areas(file).areas[0].shape.equals(SQUARE)


@pytest.mark.parametrize("name", ["EPSG:2154", "urn:ogc:def:crs:EPSG::2154"])
def test_an_old_crs_member_is_honoured(tmp_path: Path, name: str) -> None:
    file = write(tmp_path, collection(feature(in_lambert(SQUARE)), crs=old_crs(name)))
    found = read_areas(file).areas[0].shape
    assert shapely.equals_exact(found, SQUARE, tolerance=1e-7)


def test_a_crs_that_is_named_wins_over_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, collection(feature(in_lambert(SQUARE))))
    found = read_areas(file, crs="EPSG:2154").areas[0].shape
    assert shapely.equals_exact(found, SQUARE, tolerance=1e-7)


@pytest.mark.parametrize("crs", [{}, {"type": "name"}, old_crs("EPSG:999999"), "x"])
def test_an_old_crs_member_that_means_nothing_is_refused(tmp_path: Path, crs: Any) -> None:
    file = write(tmp_path, collection(feature(), crs=crs))
    assert "CRS of the areas file areas.json is unknown" in refusal(file)


def test_metres_that_claim_to_be_degrees_are_refused(tmp_path: Path) -> None:
    file = write(tmp_path, collection(feature(in_lambert(SQUARE))))
    assert "cannot be in the CRS WGS 84" in refusal(file)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "7",
        '{"type": "Topology", "objects": {}}',
        '{"type": "FeatureCollection", "features": 3}',
        "[" * 100_000,
    ],
    ids=["cut off", "list", "number", "other", "no list", "deep"],
)
def test_what_is_no_collection_is_refused(tmp_path: Path, text: str) -> None:
    assert "not a GeoJSON collection" in refusal(write(tmp_path, text))


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        7,
        {"type": "Feature", "properties": 3, "geometry": None},
        feature(geometry=5),
        feature(geometry={"type": "Polygon"}),
        feature(geometry={"type": "Polygon", "coordinates": [[["x", "y"]] * 4]}),
        feature(geometry={"type": "Polygon", "coordinates": [[[2.3, 48.8], [2.4, 48.8]]]}),
        feature(geometry={"type": "Nothing", "coordinates": []}),
    ],
)
def test_a_damaged_feature_is_refused_by_number(tmp_path: Path, wrong: Any) -> None:
    file = write(tmp_path, collection(feature(id="a"), wrong))
    assert "The feature 2 of areas.json" in refusal(file)


def test_a_position_that_is_no_number_is_refused(tmp_path: Path) -> None:
    text = collection(feature()).replace("48.81", "NaN")
    assert refusal(write(tmp_path, text))


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    assert "not UTF-8" in refusal(write(tmp_path, '{"é": 1}'.encode("latin-1")))


def test_a_gzip_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(collection(feature()).encode())
    assert "cannot be read" in refusal(write(tmp_path, packed[:-12], "areas.geojson.gz"))
    assert "cannot be read" in refusal(write(tmp_path, b"none", "areas.geojson.gz"))
    packed = packed[:10] + b"\xff" * 20 + packed[30:]
    assert "cannot be read" in refusal(write(tmp_path, packed, "areas.geojson.gz"))
