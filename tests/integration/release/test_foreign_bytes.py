"""Bytes that are no text: a line of CSV is dropped, and nothing is spent on what cannot be read."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from support.little_plans import FAMILIES
from support.scene import Scene

NOT_TEXT = b"\xff\xfe"


@pytest.fixture
def trips(tmp_path: Path) -> Scene:
    """Single trips as the unit, of people who are known."""
    scene = Scene.written(tmp_path / "city", "od")
    scene.plan["privacy"] = {"unit": "trip", "epsilon": "1"}
    assert scene.run("ledger open", "--epsilon", "4") == 0
    return scene


def test_a_line_with_such_bytes_is_dropped_and_the_others_are_published(trips: Scene) -> None:
    with trips.rows.open("ab") as file:
        file.write(NOT_TEXT + b",a,b,2026-03-02T09:00:00\n")
    assert trips.run("check") == 0
    assert trips.run("publish", "--yes") == 0


@pytest.mark.parametrize("columns", [["person"], ["trip_id"], ["person", "trip_id"]])
def test_counting_reads_no_column_of_parquet_that_check_has_not_read(
    trips: Scene, columns: list[str]
) -> None:
    texts = pa_csv.ConvertOptions(column_types={"time": pa.string()})
    table = pa_csv.read_csv(trips.rows, convert_options=texts)
    ids = pa.array([NOT_TEXT, *(b"%d" % i for i in range(1, len(table)))], pa.binary())
    for column in columns:
        table = table.drop_columns(column) if column in table.column_names else table
        table = table.append_column(column, ids.view(pa.string()))
    pq.write_table(table, trips.folder / "rows.parquet")
    trips.say("data.trips", "rows.parquet")
    trips.say("data.columns", {column: column for column in columns})
    passed = trips.run("check") == 0
    published = trips.run("publish", "--yes") == 0
    assert published or not passed
    assert published == (trips.spent() != [0])


@pytest.mark.parametrize("family", FAMILIES)
def test_half_of_a_compressed_file_is_refused_before_anything_is_spent(
    tmp_path: Path, family: str, capfd: pytest.CaptureFixture[str]
) -> None:
    scene = Scene.prepared(tmp_path / "city", family)
    packed = scene.rows.with_name(f"{scene.rows.name}.gz")
    data = gzip.compress(scene.rows.read_bytes())
    packed.write_bytes(data[: len(data) // 2])
    scene.say(f"data.{scene.rows.stem}", packed.name)
    before = scene.files() | {"plan.toml"}
    for verb, options in (("check", ()), ("publish", ("--yes",))):
        assert scene.run(verb, *options) == 1
        assert "damaged or not whole" in " ".join(capfd.readouterr().err.split())
    assert scene.spent() == [0]
    assert scene.files() == before
