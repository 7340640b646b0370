"""Plans that name a table publish as plans that name its file do, and say nothing of rows."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.engine.settings import EngineSettings, Warehouse
from hushway.errors import DataError, HushwayError
from hushway.families.load import plan_from, prepare
from hushway.release.job import Job
from support.little_plans import little_plan, write_little_files
from support.same_bytes import WRITTEN, digests_of
from support.warehouses import Holding, moved_to, run_sql

_ROWS = {"od": "trips", "sequences": "taps", "density": "events", "links": "traces"}
HERE = EngineSettings(memory_limit="500MB", threads=1, batch_rows=3)
PLANTED = "planted-and-never-seen-again"


@pytest.mark.parametrize("name", [*_ROWS, "od of few trips in a cell"])
def test_a_seeded_release_has_the_same_bytes(
    postgresql: Holding, name: str, tmp_path: Path
) -> None:
    found = digests_of(name, tmp_path, postgresql.plan, moved_to(postgresql))
    assert found == json.loads(WRITTEN.read_text())[name]


def job_of(family: str, folder: Path, rows: str) -> Job:
    facts = little_plan(family)
    facts["data"][_ROWS[family]] = rows
    return prepare(plan_from(facts, folder=folder))


def refusal(job: Job, settings: EngineSettings) -> tuple[str, str | None]:
    with pytest.raises(HushwayError) as refused:
        job.rows.check(settings, notes=False)
    assert refused.value.__context__ is None
    return str(refused.value), refused.value.advice


def test_a_table_that_is_not_there_is_refused(warehouse: Holding, tmp_path: Path) -> None:
    write_little_files(tmp_path)
    with pytest.raises(DataError):
        job_of("od", tmp_path, "table:nothing").rows.check(warehouse.settings, notes=False)


def test_what_a_warehouse_says_of_rows_stays_there(
    fresh_postgres_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run_sql(
        fresh_postgres_url,
        "CREATE TABLE kept (person text, origin text, destination text, time timestamp)",
        f"INSERT INTO kept VALUES ('{PLANTED}', 'a', 'b', '2026-03-02 09:00')",  # noqa: S608
        "CREATE VIEW broken AS SELECT person::int AS person, origin, destination, time FROM kept",
    )
    write_little_files(tmp_path)
    job = job_of("od", tmp_path, "table:broken")
    settings = replace(HERE, warehouse=Warehouse(url=fresh_postgres_url))
    said = refusal(job, settings)
    assert said[0] == "The warehouse could not give or count the rows."
    assert PLANTED not in caplog.text


def test_a_password_is_never_shown(fresh_postgres_url: str, tmp_path: Path) -> None:
    head, _, tail = fresh_postgres_url.rpartition("@")
    user = head.rpartition(":")[0]
    wrong = Warehouse(url=f"{user}:{PLANTED}@{tail}")
    write_little_files(tmp_path)
    said = refusal(job_of("od", tmp_path, "table:trips"), replace(HERE, warehouse=wrong))
    assert said[0] == "The warehouse does not answer, or refuses the user."
    assert PLANTED not in f"{said} {wrong!r} {replace(HERE, warehouse=wrong)!r}"


@pytest.mark.parametrize("stops", ["lists", "text"])
def test_ready_sequences_are_found_alike(postgresql: Holding, stops: str, tmp_path: Path) -> None:
    listed = [["a", "b"], ["b"], [], None, ["a", "nowhere", "c"], ["d", ""]]
    written = listed if stops == "lists" else [None if s is None else " ".join(s) for s in listed]
    table = pa.table({"person": ["p", "p", "q", None, " ", "r"], "stops": written})
    postgresql.write("ready", table)
    write_little_files(tmp_path)
    pq.write_table(table, tmp_path / "ready.parquet")

    def job(rows: str) -> Job:
        facts = little_plan("sequences")
        facts["data"] = {"name": "ready", "sequences": rows, "columns": {"person": "person"}}
        facts["problems"] = {"most_dropped": 1}
        return prepare(plan_from(facts, folder=tmp_path))

    found = job("ready.parquet").rows.check(HERE, notes=True)
    assert found.problems
    assert job("table:ready").rows.check(postgresql.settings, notes=True) == found


def test_files_of_tracks_are_not_looked_for_in_a_warehouse(
    postgresql: Holding, tmp_path: Path
) -> None:
    write_little_files(tmp_path)
    facts = little_plan("links")
    facts["data"] = {"name": "tracks", "traces": "tracks", "format": "gpx"}
    job = prepare(plan_from(facts, folder=tmp_path))
    assert "by no warehouse" in refusal(job, postgresql.settings)[0]
