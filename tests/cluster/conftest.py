"""One cluster for all tests of this folder."""

import os
from collections.abc import Iterator

import pytest

from support.spark_cluster import SparkCluster, can_run_spark, spark_cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    if not can_run_spark():
        pytest.skip("Spark or Java is not installed")
    with spark_cluster(tmp_path_factory.mktemp("spark") / "cluster") as running:
        os.environ.update(running.environment)
        yield running


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # PySpark leaves sockets to the collector of garbage.
    for item in items:
        if item.path.parent.name == "cluster":
            for kind in ("ResourceWarning", "pytest.PytestUnraisableExceptionWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{kind}"))
