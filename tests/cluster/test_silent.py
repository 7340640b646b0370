"""Nothing of a job is left on a cluster when it is done."""

from pathlib import Path

from hushway.engine.settings import Cluster, EngineSettings
from hushway.families.load import plan_from, prepare
from support.little_plans import little_plan, write_little_files
from support.spark_cluster import SparkCluster
from support.traces import traces_of

PLANTED = "planted-and-never-seen-again"


def test_nothing_of_a_job_is_left_when_it_is_done(cluster: SparkCluster, tmp_path: Path) -> None:
    write_little_files(tmp_path)
    trips = tmp_path / "trips.csv"
    trips.write_text(trips.read_text().replace("p0,", f"{PLANTED},"))
    job = prepare(plan_from(little_plan("od"), folder=tmp_path))
    settings = EngineSettings(memory_limit="500MB", cluster=Cluster(master=cluster.master, parts=2))
    assert job.rows.check(settings, notes=True).found is not None
    assert traces_of(PLANTED, cluster.folder) == []
