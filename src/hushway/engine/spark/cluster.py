"""A Spark session: the one that this process has, or one of our own, silent about rows."""

import atexit
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, Final

from hushway.engine.settings import Cluster
from hushway.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Exact numbers of rows are in the metrics of every job, so nothing keeps or shows them.
_SILENT: Final = {
    "spark.eventLog.enabled": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_OWN: Final = {
    **_SILENT,
    # What workers write to their disks while they divide people.
    "spark.io.encryption.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    # Packs are large: so much of them comes to a worker at a time.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(32 << 20),
    # As many cells as are not empty come to this process.
    "spark.driver.maxResultSize": "0",
}


def connected(cluster: Cluster, *, encrypted: bool = False) -> "SparkSession":
    """Returns a session of the cluster; it stays until this process ends.

    Args:
        encrypted: Whether rows that workers write to their disks must be encrypted. A session that
            is started here does that anyway.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise DataError(
            "Spark is not installed.", advice='Install it: pip install "hushway[spark]"'
        ) from None
    active = SparkSession.getActiveSession()
    if active is not None:
        _refuse_other_master(active, cluster)
        _refuse_telling(active, encrypted=encrypted)
        return active
    if cluster.master is None:
        raise DataError(
            "There is no Spark session in this process, and the plan names no cluster.",
            advice='Name it: master = "spark://host:7077" in [engine]; or start a session first.',
        )
    _refuse_no_java()
    return _started(SparkSession.builder, cluster.master)


def _started(builder: Any, master: str) -> "SparkSession":
    builder = builder.master(master).appName("hushway")
    for name, value in _OWN.items():
        builder = builder.config(name, value)
    # Workers that have the same folders as this process need not be told where Python is.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session: SparkSession | None = None
    try:
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
    except Exception:  # noqa: BLE001, S110  whatever Java says may name rows
        pass
    if session is None:
        raise DataError(
            "The Spark cluster does not answer, or refuses the work.",
            advice="Check its address and that its workers run; Spark's own messages are above.",
        )
    atexit.register(session.stop)
    return session


def _refuse_no_java() -> None:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin" if home else None)
    if found is None:
        raise DataError(
            "Spark needs Java, and there is none.",
            advice="Install Java 17, such as openjdk-17-jre-headless; or set JAVA_HOME to it.",
        )


def _refuse_other_master(active: "SparkSession", cluster: Cluster) -> None:
    if cluster.master is not None and active.sparkContext.master != cluster.master:
        raise DataError(
            "This process has a Spark session of another cluster than the plan names.",
            advice="Leave master out to use that session, or stop it first.",
        )


def _refuse_telling(active: "SparkSession", *, encrypted: bool) -> None:
    """Refuses a session that keeps how many rows each step had, or rows that anybody can read."""
    conf = active.sparkContext.getConf()
    if conf.get("spark.eventLog.enabled", "false") == "true":
        raise DataError(
            "The Spark session keeps an event log, and that tells exact numbers of rows.",
            advice="Start it with spark.eventLog.enabled=false.",
        )
    if encrypted and conf.get("spark.io.encryption.enabled", "false") != "true":
        raise DataError(
            "The Spark session writes rows to the disks of its workers unencrypted.",
            advice="Start it with spark.io.encryption.enabled=true; or set encrypt_spills = false "
            "in [engine], and keep Spark's local folders on encrypted disks.",
        )
