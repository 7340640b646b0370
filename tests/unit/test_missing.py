"""A plan that names what is not there: all of it is listed at once."""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.errors import PlanError
from hushway.families.load import plan_from, prepare
from support.little_plans import FAMILIES, little_plan, rows_file, write_little_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_little_files(tmp_path)
    return tmp_path


def refusal(facts: dict[str, Any], folder: Path, *, rows: bool = True) -> str:
    with pytest.raises(PlanError) as refused:
        prepare(plan_from(facts, folder=folder), rows=rows)
    return str(refused.value)


def test_files_and_columns_public_and_protected_are_listed_together(folder: Path) -> None:
    facts = little_plan("od")
    facts["places"]["pairs"] = "gone.csv"
    facts["places"]["columns"] = {"id": "key", "zone": "ward"}
    facts["published_totals"] = {"ring": {"places": "ring"}}
    facts["mechanism"] = {"name": "learned"}
    facts["data"]["columns"] = {"person": "rider", "time": "when"}
    assert refusal(facts, folder).split("\n")[1:] == [
        f"  places.pairs: there is no file {folder / 'gone.csv'}",
        "  places.columns.id: places.csv has no column 'key'; it has id, name, lon, lat, zone",
        "  places.columns.zone: places.csv has no column 'ward'; it has id, name, lon, lat, zone",
        (
            "  published_totals.ring.places: places.csv has no column 'ring'; "
            "it has id, name, lon, lat, zone"
        ),
        "  data.columns.person: trips.csv has no column 'rider'",
        "  data.columns.time: trips.csv has no column 'when'",
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_columns_of_protected_rows_are_asked_for_only_where_rows_are_needed(
    family: str, folder: Path
) -> None:
    facts = little_plan(family)
    facts["data"].setdefault("columns", {})["time"] = "when"
    assert f"data.columns.time: {rows_file(family)} has no column 'when'" in refusal(facts, folder)
    prepare(plan_from(facts, folder=folder))


@pytest.mark.parametrize("family", FAMILIES)
def test_protected_rows_that_are_not_there_are_listed(family: str, folder: Path) -> None:
    (folder / rows_file(family)).unlink()
    noun = rows_file(family).partition(".")[0]
    assert f"data.{noun}: There are no {noun} at {folder / rows_file(family)}" in refusal(
        little_plan(family), folder
    )


def test_what_a_first_line_of_protected_rows_says_is_never_told(folder: Path) -> None:
    (folder / "trips.csv").write_text("Ada,home,clinic,2026-03-02T08:00:00\n", encoding="utf-8")
    said = refusal(little_plan("od"), folder)
    assert "data.columns.person" in said
    assert "Ada" not in said


def test_columns_of_parquet_and_properties_of_geojson_are_looked_at(folder: Path) -> None:
    pq.write_table(pa.table({"rider": ["p"]}), folder / "events.parquet")
    facts = little_plan("density")
    facts["data"]["events"] = "events.parquet"
    facts["areas"]["id"] = "code"
    said = refusal(facts, folder)
    assert "  areas.id: areas.geojson has no column 'code'; it has id, lon, lat" in said
    assert "  data.columns.person: events.parquet has no column 'person'" in said


def test_sequences_ask_for_stops_only_if_they_are_ready(folder: Path) -> None:
    facts = little_plan("sequences")
    facts["taxonomy"]["columns"] = ["line"]
    facts["data"] = {"name": "taps", "sequences": "taps.csv"}
    facts["privacy"] = {"unit": "record", "epsilon": "1"}
    assert refusal(facts, folder).split("\n")[1:] == [
        "  taxonomy.columns[0]: places.csv has no column 'line'; it has id, name, lon, lat, zone",
        "  data.columns.stops: taps.csv has no column 'stops'",
    ]


def test_a_damaged_file_is_left_to_whoever_reads_it(folder: Path) -> None:
    (folder / "trips.csv").write_bytes(b"\xff\xfe")
    (folder / "places.csv").rename(folder / "places.txt")
    facts = little_plan("od")
    facts["places"]["file"] = "gone.csv"
    assert refusal(facts, folder).count("\n") == 1


def test_a_pipe_keeps_nobody_waiting(folder: Path) -> None:
    (folder / "places.csv").unlink()
    os.mkfifo(folder / "places.csv")
    assert "places.file: there is no file" in refusal(little_plan("od"), folder)
