"""Tables of the session's catalogue are read as files are."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from hushway.engine.settings import Cluster, EngineSettings
from hushway.engine.spark.cluster import connected
from hushway.errors import DataError
from hushway.families.load import plan_from, prepare
from support.little_plans import little_plan, write_little_files
from support.long import often
from support.spark_cluster import SparkCluster

HERE = EngineSettings(memory_limit="500MB", threads=1)
ROWS = {"od": "trips", "sequences": "taps"}


@pytest.mark.parametrize("family", often(ROWS))
def test_a_table_has_what_its_file_has(cluster: SparkCluster, family: str, tmp_path: Path) -> None:
    write_little_files(tmp_path)
    there = replace(HERE, cluster=Cluster(master=cluster.master, parts=3))
    assert there.cluster is not None
    texts = pa_csv.ConvertOptions(column_types={"time": pa.string()})
    table = pa_csv.read_csv(tmp_path / f"{ROWS[family]}.csv", convert_options=texts)
    connected(there.cluster).createDataFrame(table).createOrReplaceTempView(f"some_{family}")
    facts = little_plan(family)
    of_file = prepare(plan_from(facts, folder=tmp_path)).rows.check(HERE, notes=True)
    facts["data"][ROWS[family]] = f"table:some_{family}"
    facts["engine"] |= {"kind": "spark", "master": cluster.master}
    assert prepare(plan_from(facts, folder=tmp_path)).rows.check(there, notes=True) == of_file


def test_a_table_that_is_not_there_is_named(cluster: SparkCluster, tmp_path: Path) -> None:
    write_little_files(tmp_path)
    facts = little_plan("od")
    facts["data"]["trips"] = "table:nowhere"
    facts["engine"] |= {"kind": "spark", "master": cluster.master}
    job = prepare(plan_from(facts, folder=tmp_path))
    there = replace(HERE, cluster=Cluster(master=cluster.master))
    with pytest.raises(DataError, match="no table 'nowhere'"):
        job.rows.check(there, notes=False)
