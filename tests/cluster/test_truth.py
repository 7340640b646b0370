"""A release is compared with the truth on a cluster as on one machine."""

from pathlib import Path

import pytest

from hushway.families.comparison import true_errors
from hushway.progress import quiet
from support.little_plans import FAMILIES
from support.scene import PLAN, Scene, toml
from support.spark_cluster import SparkCluster


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_the_truth_is_the_same_on_a_cluster(
    cluster: SparkCluster, family: str, tmp_path: Path
) -> None:
    scene = Scene.prepared(tmp_path / "scene", family)
    assert scene.run("publish", "--yes") == 0
    release, plan = scene.folder / "release", scene.folder / PLAN
    here = true_errors(release, plan, progress=quiet).value
    scene.plan["engine"] |= {"kind": "spark", "master": cluster.master, "parts": 2}
    plan.write_text(toml(scene.plan), encoding="utf-8")
    assert true_errors(release, plan, progress=quiet).value == here
