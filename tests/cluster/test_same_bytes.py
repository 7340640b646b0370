"""A release made on a cluster is the release made on one machine, to the last byte."""

import json
from pathlib import Path

import pytest

from support.known_modules import known_modules
from support.long import often
from support.same_bytes import WRITTEN, digests_of
from support.spark_cluster import SparkCluster

# All that differ in how rows are read, bounded or kept; mechanisms do not get to see an engine.
PLANS = (
    *("od", "links", "sequences", "density"),
    *("od of single trips", "od of few trips in a cell"),
    *("density at places", "sequences as they are"),
)
FORBIDDEN = tuple(
    f"hushway.privacy.{name}" for name in ("noise", "ledger", "randomness", "curator")
)


@pytest.mark.parametrize("name", often(PLANS))
def test_a_seeded_release_has_the_same_bytes_and_no_worker_knows_noise(
    cluster: SparkCluster, name: str, tmp_path: Path
) -> None:
    engine = {"kind": "spark", "master": cluster.master, "parts": 3}
    assert digests_of(name, tmp_path, engine) == json.loads(WRITTEN.read_text())[name]
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
