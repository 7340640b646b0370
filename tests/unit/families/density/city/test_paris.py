import json
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
import shapely

from hushway.errors import PlanError
from hushway.families.density.city.paris import DensityCity, paris


@pytest.fixture(scope="module")
def small() -> DensityCity:
    return paris(seed=3, people=20_000, towers=60, areas=40)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", [0, 7, 2**63])
@pytest.mark.parametrize(("people", "towers"), [(100, 20), (2_500, 60)])
def test_smaller_cities_keep_the_mean_and_the_deviation(
    seed: int, people: int, towers: int
) -> None:
    city = paris(seed=seed, people=people, towers=towers, areas=10)
    each = np.bincount(city.visits().person, minlength=people)
    assert len(each) == people
    assert each.min() >= 1
    assert each.sum() == round(13.55 * people)
    assert abs(each.std() - 18.33) < 0.1


def test_visits_are_the_distinct_persons_towers_and_hours_of_events(small: DensityCity) -> None:
    visits = small.visits()
    rows = np.column_stack([small.person, small.second // 3_600, small.tower])
    expected = np.unique(rows, axis=0)
    got = np.column_stack([visits.person, visits.hour, visits.tower])
    assert len(visits) == len(expected)
    assert np.array_equal(np.unique(got, axis=0), expected)
    counts = np.zeros((60, 168), dtype=np.int64)
    np.add.at(counts, (expected[:, 2], expected[:, 1]), 1)
    assert np.array_equal(small.counts, counts)


def test_events_are_in_the_order_of_persons_and_time(small: DensityCity) -> None:
    step = np.diff(small.person.astype(np.int64) * 604_800 + small.second)
    assert step.min() >= 0
    assert small.second.min() >= 0
    assert small.second.max() < 604_800
    assert (small.first_day, small.last_day) == (date(2007, 9, 10), date(2007, 9, 16))
    assert small.first_day.weekday() == 0
    assert small.zone == "Europe/Paris"


def test_events_repeat_visits_by_about_a_fifth(small: DensityCity) -> None:
    extra = len(small) / len(small.visits()) - 1
    assert 0.15 < extra < 0.30


def test_nights_are_quiet_and_weekends_differ(small: DensityCity) -> None:
    days = small.counts.sum(axis=0).reshape(7, 24)
    quiet = days[:5].min(axis=1) / days[:5].max(axis=1)
    assert quiet.min() > 0.03
    assert quiet.max() < 0.08
    assert set(days[:5].argmin(axis=1)) <= {2, 3, 4, 5}
    assert days[5:].sum(axis=1).max() < 0.8 * days[:5].sum(axis=1).min()
    # The small hours of the weekend are livelier than those of the week.
    assert days[5:, :2].sum(axis=1).min() > days[:5, :2].sum(axis=1).max()


def test_the_same_seed_gives_the_same_events_and_another_seed_others() -> None:
    one, same, other = (paris(seed=seed, people=500, towers=30, areas=20) for seed in (5, 5, 6))
    for column in ("person", "tower", "second"):
        assert np.array_equal(getattr(one, column), getattr(same, column))
    assert not np.array_equal(one.tower[:1_000], other.tower[:1_000])
    assert one.areas.digest == other.areas.digest
    assert one.towers.digest == other.towers.digest


def test_arrays_cannot_be_written_to(small: DensityCity) -> None:
    for column in (small.person, small.tower, small.second):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


def test_a_city_that_is_not_written_does_not_load_pyarrow() -> None:
    program = (
        "import sys; from hushway.families.density.city.paris import paris; "
        "paris(seed=1, people=100, towers=20, areas=10); sys.exit('pyarrow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("sizes", [{"seed": -1}, {"people": 99}, {"towers": 19}, {"areas": 2_501}])
def test_sizes_out_of_range_are_refused_with_advice(sizes: dict[str, Any]) -> None:
    with pytest.raises(PlanError) as refusal:
        paris(**{"seed": 1, **sizes})
    assert refusal.value.advice


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
