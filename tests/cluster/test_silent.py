"""Workers know no noise and no ledger, and nothing of a job is left when it is done."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hushway.engine.settings import Cluster, EngineSettings
from hushway.errors import DataError
from hushway.families.load import plan_from, prepare
from support.known_modules import known_modules
from support.little_plans import little_plan, write_little_files
from support.same_bytes import digests_of
from support.spark_cluster import SparkCluster
from support.traces import traces_of

FORBIDDEN = tuple(
    f"hushway.privacy.{name}" for name in ("noise", "ledger", "randomness", "curator")
)
PLANTED = "planted-and-never-seen-again"


@pytest.mark.parametrize("family", ["od", "sequences", "density", "links"])
def test_no_worker_has_loaded_noise_or_a_ledger(
    cluster: SparkCluster, family: str, tmp_path: Path
) -> None:
    engine = {"kind": "spark", "master": cluster.master, "parts": 2}
    digests_of(family, tmp_path, engine)
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession()
    assert spark is not None
    seen = (
        spark.range(0, 8, 1, 8)
        .mapInArrow(known_modules, "name string")
        .toArrow()["name"]
        .to_pylist()
    )
    assert "hushway.engine.spark.worker" in seen
    assert not [name for name in seen if name.startswith(FORBIDDEN)]


def test_nothing_of_a_job_is_left_when_it_is_done(cluster: SparkCluster, tmp_path: Path) -> None:
    write_little_files(tmp_path)
    trips = tmp_path / "trips.csv"
    trips.write_text(trips.read_text().replace("p0,", f"{PLANTED},"))
    job = prepare(plan_from(little_plan("od"), folder=tmp_path))
    settings = EngineSettings(memory_limit="500MB", cluster=Cluster(master=cluster.master, parts=2))
    assert job.rows.check(settings, notes=True).found is not None
    assert traces_of(PLANTED, cluster.folder) == []


def test_the_error_of_a_worker_is_that_of_one_machine(
    cluster: SparkCluster, tmp_path: Path
) -> None:
    write_little_files(tmp_path)
    trips = tmp_path / "trips.csv"
    trips.write_text(trips.read_text() + f'"{PLANTED},a,b,2026-03-02T09:00:00\n')
    job = prepare(plan_from(little_plan("od"), folder=tmp_path))
    here = EngineSettings(memory_limit="500MB", threads=1)
    said = [
        _refusal(job, settings)
        for settings in (here, replace(here, cluster=Cluster(master=cluster.master, parts=2)))
    ]
    assert said[0] == said[1]
    assert PLANTED not in said[0]


def _refusal(job: Any, settings: EngineSettings) -> str:
    with pytest.raises(DataError) as refused:
        job.rows.check(settings, notes=False)
    return str(refused.value)
