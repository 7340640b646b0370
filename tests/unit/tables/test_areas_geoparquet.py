"""Areas from GeoParquet."""

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
from hushway.tables.areas import AreaColumns, read_areas

ONE, TWO = shapely.box(2.30, 48.80, 2.31, 48.81), shapely.box(2.31, 48.80, 2.32, 48.81)
IDS = pa.array(["a", "b"])


def write(
    folder: Path,
    *,
    ids: Any = IDS,
    shapes: tuple[Any, ...] = (ONE, TWO),
    facts: Any = None,
    name: str = "areas.parquet",
    **geometry: Any,
) -> Path:
    """A GeoParquet file; `facts` replace all of its metadata, `geometry` those of its column."""
    column = {"encoding": "WKB", "geometry_types": ["Polygon"], **geometry}
    usual = {"version": "1.1.0", "primary_column": "shape", "columns": {"shape": column}}
    drawn = [shape if isinstance(shape, bytes | None) else shape.wkb for shape in shapes]
    table = pa.table({"id": ids, "name": ["Alpha", None], "shape": pa.array(drawn, pa.binary())})
    metadata = {"geo": json.dumps(usual if facts is None else facts)} if facts != "none" else {}
    pq.write_table(table.replace_schema_metadata(metadata), folder / name)
    return folder / name


def refusal(file: Path, columns: AreaColumns | None = None) -> str:
    with pytest.raises(GeographyError) as caught:
        read_areas(file, columns)
    assert caught.value.advice
    return str(caught.value)


@pytest.mark.parametrize("name", ["areas.parquet", "areas.geoparquet", "areas.pq"])
def test_rows_are_areas_in_degrees_unless_the_file_says_otherwise(
    tmp_path: Path, name: str
) -> None:
    areas = read_areas(write(tmp_path, name=name))
    assert areas.ids == ("a", "b")
    assert [area.name for area in areas.areas] == ["Alpha", "b"]
    assert areas.areas[0].shape.equals(ONE)


@pytest.mark.parametrize(
    "ids",
    [pa.array([1, 2]), pa.array([1, 2], pa.uint8()), pa.array(["1", "2"]).dictionary_encode()],
)
def test_ids_may_be_whole_numbers_or_categories(tmp_path: Path, ids: Any) -> None:
    assert read_areas(write(tmp_path, ids=ids)).ids == ("1", "2")


def test_ids_that_are_fractions_or_missing_are_refused(tmp_path: Path) -> None:
    assert "row 1" in refusal(write(tmp_path, ids=pa.array([1.0, 2.0])))
    assert "no id: row 2" in refusal(write(tmp_path, ids=pa.array(["a", None])))


def test_a_crs_in_projjson_is_honoured(tmp_path: Path) -> None:
    forward = Transformer.from_crs("EPSG:4326", "EPSG:2154", always_xy=True)
    moved = tuple(
        shapely.transform(shape, lambda xy: np.column_stack(forward.transform(*xy.T)))
        for shape in (ONE, TWO)
    )
    file = write(tmp_path, shapes=moved, crs=CRS("EPSG:2154").to_json_dict())
    found = read_areas(file)
    assert shapely.equals_exact(found.areas[1].shape, TWO, tolerance=1e-7)


def test_a_crs_of_null_must_be_named(tmp_path: Path) -> None:
    file = write(tmp_path, crs=None)
    assert "does not say in which CRS" in refusal(file)
    assert read_areas(file, crs="EPSG:4326").areas[0].shape.equals(ONE)


def test_a_crs_that_means_nothing_is_refused(tmp_path: Path) -> None:
    assert "is unknown" in refusal(write(tmp_path, crs={"type": "x"}))


@pytest.mark.parametrize(
    "facts",
    ["none", [], {}, {"primary_column": "shape"}, {"primary_column": "x", "columns": {}}],
)
def test_parquet_without_geometries_is_refused(tmp_path: Path, facts: Any) -> None:
    assert "Parquet without geometries" in refusal(write(tmp_path, facts=facts))


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    assert "without geometries in WKB" in refusal(write(tmp_path, encoding="polygon"))


def test_a_column_that_is_missing_is_refused(tmp_path: Path) -> None:
    assert "no column 'code'" in refusal(write(tmp_path), AreaColumns(id="code"))


def test_a_row_without_a_shape_is_refused(tmp_path: Path) -> None:
    assert "no shape: 'b' (row 2" in refusal(write(tmp_path, shapes=(ONE, None)))


def test_damaged_geometries_are_refused(tmp_path: Path) -> None:
    assert "is damaged" in refusal(write(tmp_path, shapes=(ONE, b"\x01\x02")))


@pytest.mark.parametrize("kept", [0.02, 0.5, 0.98])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, kept: float) -> None:
    file = write(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * kept)])
    assert "damaged" in refusal(file)


def test_a_file_without_bytes_is_empty(tmp_path: Path) -> None:
    file = tmp_path / "areas.parquet"
    file.write_bytes(b"")
    assert "is empty" in refusal(file)
