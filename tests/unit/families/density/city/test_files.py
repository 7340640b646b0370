import json
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
import shapely

from hushway.families.density.city.paris import DensityCity, paris


@pytest.fixture(scope="module")
def city() -> DensityCity:
    return paris(seed=3, people=1_000, towers=40, areas=30)


def test_written_events_read_back_in_order(city: DensityCity, tmp_path: Path) -> None:
    city.write(tmp_path)
    table = pyarrow.parquet.read_table(tmp_path / "events.parquet")
    assert table.column_names == ["person", "tower", "time"]
    assert table.schema.field("time").type.tz is None
    tower = [city.towers.index[key] for key in table["tower"].to_pylist()]
    monday = np.datetime64("2007-09-10", "s")
    second = (table["time"].to_numpy().astype("datetime64[s]") - monday).astype(np.int64)
    assert np.array_equal(table["person"].to_numpy(), city.person)
    assert np.array_equal(tower, city.tower)
    assert np.array_equal(second, city.second)


def test_written_towers_carry_district_and_position(city: DensityCity, tmp_path: Path) -> None:
    city.write(tmp_path / "new" / "folder")
    lines = (tmp_path / "new" / "folder" / "towers.csv").read_text().splitlines()
    first = city.towers.places[0]
    assert lines[0] == "id,name,lon,lat,zone"
    assert lines[1] == f"{first.id},{first.name},{first.lon},{first.lat},{first.zone}"
    assert len(lines) == 41


def test_written_areas_are_exactly_the_areas(city: DensityCity, tmp_path: Path) -> None:
    city.write(tmp_path)
    collection = json.loads((tmp_path / "areas.geojson").read_text())
    assert collection["crs"]["properties"]["name"].endswith("CRS84")
    assert [f["properties"]["id"] for f in collection["features"]] == list(city.areas.ids)
    for feature, area in zip(collection["features"], city.areas.areas, strict=True):
        shape = shapely.from_geojson(json.dumps(feature["geometry"]))
        assert shapely.equals_exact(shape, area.shape, tolerance=0)
        assert feature["properties"]["name"] == area.name
