"""A release made on a cluster is the release made on one machine, to the last byte."""

import json
from pathlib import Path

import pytest

from support.same_bytes import PLANS, WRITTEN, digests_of
from support.spark_cluster import SparkCluster


@pytest.mark.parametrize("name", PLANS)
def test_a_seeded_release_has_the_same_bytes(
    cluster: SparkCluster, name: str, tmp_path: Path
) -> None:
    engine = {"kind": "spark", "master": cluster.master, "parts": 3}
    assert digests_of(name, tmp_path, engine) == json.loads(WRITTEN.read_text())[name]
