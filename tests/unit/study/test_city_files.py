import csv
import re
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from hushway.families.od.city.ann_arbor import City, ann_arbor


@pytest.fixture(scope="module")
def city() -> City:
    return ann_arbor(seed=4)


@pytest.fixture(scope="module")
def folder(city: City, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("city") / "made on demand"
    city.write(folder)
    city.write(folder, format="parquet")
    return folder


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_locations_read_back_as_they_are(city: City, folder: Path) -> None:
    rows = rows_of(folder / "places.csv")
    assert list(rows[0]) == ["id", "name", "lon", "lat", "zone"]
    for row, place in zip(rows, city.cells.locations.places, strict=True):
        assert (row["id"], row["name"], row["zone"]) == (place.id, place.name, place.zone)
        assert (float(row["lon"]), float(row["lat"])) == (place.lon, place.lat)


def test_modes_read_back_for_every_pair_of_places(city: City, folder: Path) -> None:
    rows = rows_of(folder / "modes.csv")
    index = city.cells.locations.index
    read = np.full((130, 130), -1)
    for row in rows:
        read[index[row["origin"]], index[row["destination"]]] = city.modes.index(row["mode"])
    assert len(rows) == 130 * 129
    assert np.array_equal(read, city.mode_of)


def test_trips_read_back_with_wall_clock_times(city: City, folder: Path) -> None:
    rows = rows_of(folder / "trips.csv")
    assert list(rows[0]) == ["trip_id", "rider", "origin", "destination", "departed_at"]
    assert len({row["trip_id"] for row in rows}) == len(rows) == 37_714
    assert all(re.fullmatch(r"rider-\d{6}", row["rider"]) for row in rows)
    ids, midnight = city.cells.locations.ids, datetime(2026, 3, 3)  # noqa: DTZ001 - a wall clock
    for row, rider, origin, destination, second in zip(
        rows,
        city.trips.rider.tolist(),
        city.trips.origin.tolist(),
        city.trips.destination.tolist(),
        city.trips.departure_s.tolist(),
        strict=True,
    ):
        assert row["rider"] == f"rider-{rider:06d}"
        assert (row["origin"], row["destination"]) == (ids[origin], ids[destination])
        assert row["departed_at"] == (midnight + timedelta(seconds=second)).isoformat()


def test_parquet_holds_the_same_trips_as_csv(folder: Path) -> None:
    table = pyarrow.parquet.read_table(folder / "trips.parquet")
    rows = rows_of(folder / "trips.csv")
    assert table.schema.field("departed_at").type.tz is None
    for read, row in zip(table.to_pylist(), rows, strict=True):
        assert {**read, "departed_at": read["departed_at"].isoformat()} == {
            **row,
            "trip_id": int(row["trip_id"]),
        }


def test_a_city_that_is_not_written_does_not_load_pyarrow() -> None:
    program = (
        "import sys; from hushway.families.od.city.ann_arbor import ann_arbor; "
        "ann_arbor(seed=1); sys.exit('pyarrow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
