"""What is missing for a cluster, or speaks against it, is said in one sentence."""

import sys
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from hushway.engine.settings import Cluster, EngineSettings
from hushway.engine.spark.cluster import connected
from hushway.engine.spark.session import spark_session
from hushway.errors import DataError


class FakeSessions:
    """Stands for Spark's class of sessions, with one that is active or none."""

    def __init__(self, active: Any = None) -> None:
        self._active = active
        self.builder = None

    def getActiveSession(self) -> Any:  # noqa: N802  Spark's name
        return self._active


def active(master: str, **settings: str) -> Any:
    context = SimpleNamespace(master=master, getConf=lambda: settings)
    return SimpleNamespace(sparkContext=context)


def installed(monkeypatch: pytest.MonkeyPatch, session: Any = None) -> None:
    sql = SimpleNamespace(SparkSession=FakeSessions(session))
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(sql=sql))
    monkeypatch.setitem(sys.modules, "pyspark.sql", sql)


def test_without_spark_the_way_to_get_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(DataError, match="not installed") as refused:
        connected(Cluster(master="local"))
    assert "hushway[spark]" in (refused.value.advice or "")


def test_without_java_the_way_to_get_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(DataError, match="needs Java") as refused:
        connected(Cluster(master="local"))
    assert "openjdk-17" in (refused.value.advice or "")


def test_a_cluster_must_be_named_or_have_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    with pytest.raises(DataError, match="names no cluster"):
        connected(Cluster())


def test_the_session_of_this_process_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    session = active("spark://host:7077")
    installed(monkeypatch, session)
    for master in (None, "spark://host:7077"):
        assert connected(Cluster(master=master)) is session


def test_a_session_of_another_cluster_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, active("local[2]"))
    with pytest.raises(DataError, match="another cluster"):
        connected(Cluster(master="spark://host:7077"))


def test_a_session_that_writes_exact_numbers_down_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed(monkeypatch, active("local[2]", **{"spark.eventLog.enabled": "true"}))
    with pytest.raises(DataError, match="event log"):
        connected(Cluster())


@pytest.mark.parametrize("said", [{}, {"spark.io.encryption.enabled": "false"}])
def test_a_session_that_leaves_rows_readable_on_disks_is_refused_unless_the_plan_allows_it(
    monkeypatch: pytest.MonkeyPatch, said: dict[str, str]
) -> None:
    session = active("local[2]", **said)
    installed(monkeypatch, session)
    with pytest.raises(DataError, match="unencrypted") as refused:
        connected(Cluster(), encrypted=True)
    assert "encrypt_spills = false" in (refused.value.advice or "")
    assert connected(Cluster(), encrypted=False) is session


def test_a_session_that_encrypts_what_it_writes_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    session = active("local[2]", **{"spark.io.encryption.enabled": "true"})
    installed(monkeypatch, session)
    assert connected(Cluster(), encrypted=True) is session


@pytest.mark.parametrize(
    ("encrypt_spills", "refused"), [(True, True), (None, True), (False, False)]
)
def test_only_a_plan_that_says_so_lets_spark_leave_rows_readable(
    monkeypatch: pytest.MonkeyPatch, encrypt_spills: bool | None, *, refused: bool
) -> None:
    """Whatever is installed for DuckDB on this machine."""
    installed(monkeypatch, active("local[2]"))
    settings = EngineSettings(encrypt_spills=encrypt_spills)
    expected = pytest.raises(DataError, match="unencrypted") if refused else nullcontext()
    with expected, spark_session(settings, Cluster()):
        pass
