import csv
from pathlib import Path

import numpy as np
import pytest
import shapely
from pyarrow import parquet

from hushway.families.links.city.road_city import road_city
from hushway.families.links.city.simulate import TraceCity, simulate_traces, some_trips
from hushway.families.links.city.traces_city import write_traces


@pytest.fixture(scope="module")
def city() -> TraceCity:
    return simulate_traces(road_city(5, links=1_000), 2, people=60)


def test_traces_are_written_with_the_time_of_the_wall_clock(
    city: TraceCity, tmp_path: Path
) -> None:
    city.write(tmp_path / "city")
    table = parquet.read_table(tmp_path / "city" / "traces.parquet")
    assert table.column_names == ["person", "trip", "time", "lon", "lat", "speed", "heading"]
    assert np.array_equal(table["lon"].to_numpy(), city.lon)
    since = table["time"].to_numpy() - np.datetime64("2026-03-02")
    assert np.array_equal(since / np.timedelta64(1, "s"), city.seconds)
    size = np.diff(city.start)
    assert np.array_equal(table["person"].to_numpy(), np.repeat(city.person, size))
    assert np.array_equal(table["trip"].to_numpy(), np.repeat(city.trip, size))
    assert table["speed"].null_count == np.isnan(city.speed).sum() > 0


def test_homes_and_places_of_work_are_not_written(city: TraceCity, tmp_path: Path) -> None:
    city.write(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "link.csv",
        "node.csv",
        "traces.parquet",
    ]


def test_roads_are_written_to_the_last_digit(city: TraceCity, tmp_path: Path) -> None:
    city.write(tmp_path)
    with (tmp_path / "node.csv").open(encoding="utf-8") as file:
        nodes = list(csv.DictReader(file))
    with (tmp_path / "link.csv").open(encoding="utf-8") as file:
        links = list(csv.DictReader(file))
    roads = city.roads
    assert [row["node_id"] for row in nodes] == roads.node_id.tolist()
    assert [float(row["x_coord"]) for row in nodes] == roads.node_lon.tolist()
    assert [row["link_id"] for row in links] == roads.link_id.tolist()
    assert [row["from_node_id"] for row in links] == roads.node_id[roads.tail].tolist()
    assert [float(row["length"]) for row in links] == roads.length.tolist()
    assert {row["facility_type"] for row in links} == {
        "motorway", "primary", "secondary", "tertiary", "residential",
    }  # fmt: skip
    courses = shapely.get_coordinates(shapely.from_wkt([row["geometry"] for row in links]))
    assert np.array_equal(courses[:, 0], roads.lon)
    assert np.array_equal(courses[:, 1], roads.lat)


def test_parts_are_written_one_after_the_other(city: TraceCity, tmp_path: Path) -> None:
    early = city.person < 30
    write_traces([city], tmp_path / "whole.parquet")
    write_traces(
        (some_trips(city, chosen) for chosen in (early, ~early)), tmp_path / "parts.parquet"
    )
    assert parquet.read_table(tmp_path / "whole.parquet").equals(
        parquet.read_table(tmp_path / "parts.parquet")
    )
