"""Trips of the Mobility Data Specification become rows."""

import json
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import DataError
from hushway.tables.mds import read_mds_positions


def trip(number: str, points: list[tuple[Any, Any, Any]], **owner: Any) -> dict[str, Any]:
    features = [
        {
            "type": "Feature",
            "properties": {} if time is None else {"timestamp": time},
            "geometry": {"type": "Point", "coordinates": [lon, lat]},
        }
        for lon, lat, time in points
    ]
    route = {"type": "FeatureCollection", "features": features}
    return {"trip_id": number, "route": route, **owner}


TRIPS = [
    trip("t1", [(0.5, 1.5, 1000), (0.6, 1.5, 1500.5)], device_id="d", vehicle_id="v"),
    trip("t2", [(0.5, 1.5, 2000)], vehicle_id="w"),
]


def written(folder: Path, answer: Any) -> Path:
    file = folder / "trips.json"
    file.write_text(json.dumps(answer), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "answer", [{"version": "1.2.0", "data": {"trips": TRIPS}}, {"trips": TRIPS}, TRIPS]
)
def test_points_of_routes_become_rows(tmp_path: Path, answer: Any) -> None:
    for source in (written(tmp_path, answer), tmp_path):
        rows = [tuple(row.values()) for row in read_mds_positions(source).to_pylist()]
        assert rows == [
            ("d", "t1", 1_000_000, True, 0.5, 1.5),
            ("d", "t1", 1_500_500, True, 0.6, 1.5),
            ("w", "t2", 2_000_000, True, 0.5, 1.5),
        ]


def test_what_cannot_be_understood_is_left_to_the_check(tmp_path: Path) -> None:
    points = [
        (0.5, 1.5, None),
        (0.5, 1.5, "noon"),
        (0.5, 1.5, True),
        (0.5, 1.5, 1e300),
        ("x", 1.5, 0),
        (None, 1.5, 0),
        (10**400, 1.5, 0),
    ]
    table = read_mds_positions(written(tmp_path, [trip("t", points)]))
    assert table["person"].null_count == 7
    assert table["us"].to_pylist() == [None, None, None, None, 0, 0, 0]
    assert table["timed"].to_pylist() == [False, True, True, True, True, True, True]
    lon = table["lon"].to_pylist()
    assert isnan(lon[4])
    assert lon[5] is None
    assert isnan(lon[6])


def test_no_trips_are_no_rows(tmp_path: Path) -> None:
    assert read_mds_positions(written(tmp_path, {"trips": []})).num_rows == 0


@pytest.mark.parametrize(
    "answer",
    [
        "secret",
        {"secret": 1},
        [{"trip_id": "secret"}],
        [{"route": {"features": []}}, 7],
        [trip("secret", []) | {"route": {"features": [{"geometry": None, "properties": {}}]}}],
        [trip("t", [(0.5, 1.5, 0)]) | {"trip_id": {}} | {"route": {"features": 7}}],
    ],
)
def test_files_without_trips_are_refused_without_a_word_of_them(
    tmp_path: Path, answer: Any
) -> None:
    with pytest.raises(DataError, match="does not hold trips with routes") as caught:
        read_mds_positions(written(tmp_path, answer))
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("text", ["", "{", "secret", "[" * 100_000])
def test_files_that_are_no_json_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "trips.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="it is not JSON") as caught:
        read_mds_positions(tmp_path)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(trip("t", [(0.5, 1.5, 1000)], device_id="\ud800"), id="half a character"),
        pytest.param(trip("\udfff", [(0.5, 1.5, 1000)], device_id="d"), id="half a trip"),
    ],
)
def test_half_a_character_is_no_id(broken: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not JSON in Unicode") as caught:
        read_mds_positions(written(tmp_path, [broken]))
    assert caught.value.__context__ is None


def test_a_whole_pair_of_surrogates_is_a_character(tmp_path: Path) -> None:
    file = tmp_path / "trips.json"
    file.write_text(json.dumps([trip("t", [(0, 1, 1000)], device_id="🛴")]), encoding="utf-8")
    assert "\\ud83d" in file.read_text(encoding="utf-8")
    assert read_mds_positions(file)["person"].to_pylist() == ["🛴"]


@pytest.mark.parametrize("coordinates", [[0.5], [], "x", None, 7])
def test_a_point_that_is_none_is_refused(coordinates: Any, tmp_path: Path) -> None:
    broken = trip("t", [(0.5, 1.5, 1000)], device_id="d")
    broken["route"]["features"][0]["geometry"]["coordinates"] = coordinates
    with pytest.raises(DataError, match="does not hold trips with routes of points"):
        read_mds_positions(written(tmp_path, [broken]))
