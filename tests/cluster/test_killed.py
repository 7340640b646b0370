"""Processes of a cluster die in the middle of a release."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from hushway.engine.key import BoundingKey
from hushway.engine.settings import Cluster, EngineSettings
from hushway.families.load import plan_from, prepare
from hushway.families.od.job import TripRows
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.privacy.query import ExactCounts, Query
from hushway.privacy.randomness import SeededSource
from hushway.release.job import CountingContext, Job
from support.little_plans import little_plan, write_little_files
from support.slow_part import SlowTripPart
from support.spark_cluster import SparkCluster
from support.traces import traces_of

_MOST_S = 300
_PLANTED = "planted-and-never-seen-again"
DRIVER = """
import sys
from pathlib import Path
import hushway.families.od.rows.counter as counter
from support.slow_part import SlowTripPart
from hushway.families.load import load_plan, prepare
from hushway.steward.publish import publish
counter.TripPart = SlowTripPart
publish(prepare(load_plan(Path(sys.argv[1]))), anyway=True)
"""


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + _MOST_S
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


def little_job(folder: Path) -> Job:
    write_little_files(folder)
    return prepare(plan_from(little_plan("od"), folder=folder))


def counted(job: Job, settings: EngineSettings) -> ExactCounts:
    assert isinstance(job.rows, TripRows)
    source = SeededSource(3)
    context = CountingContext(
        key=BoundingKey.draw(source), bits=source, settings=settings, progress=lambda _: None
    )
    return job.rows.counter(context).count(Query(name="trips", cells=job.rows.cells))


@pytest.mark.long
def test_an_executor_that_is_killed_changes_no_count(
    cluster: SparkCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = little_job(tmp_path)
    expected = counted(job, EngineSettings(memory_limit="500MB", threads=1))
    monkeypatch.setattr("hushway.families.od.rows.counter.TripPart", SlowTripPart)
    cluster.began.unlink(missing_ok=True)
    found: list[ExactCounts] = []
    settings = EngineSettings(memory_limit="500MB", cluster=Cluster(master=cluster.master, parts=2))
    work = Thread(target=lambda: found.append(counted(job, settings)))
    work.start()
    wait_until(lambda: cluster.began.exists() or not work.is_alive())
    for executor in cluster.executors():
        os.kill(executor, signal.SIGKILL)
    work.join(_MOST_S)
    assert np.array_equal(found[0].cells, expected.cells)
    assert np.array_equal(found[0].values, expected.values)


@pytest.mark.long
def test_a_driver_that_is_killed_has_spent_and_leaves_nothing(
    cluster: SparkCluster, tmp_path: Path
) -> None:
    job = little_job(tmp_path)
    trips = tmp_path / "trips.csv"
    trips.write_text(trips.read_text().replace("p0,", f"{_PLANTED},"))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.ZCDP, Fraction(1000)))
    plan = tmp_path / "plan.toml"
    plan.write_text(_as_toml(little_plan("od"), cluster.master))
    cluster.began.unlink(missing_ok=True)
    before = set(cluster.executors())
    with subprocess.Popen([sys.executable, "-c", DRIVER, str(plan)]) as driver:
        wait_until(lambda: cluster.began.exists() or driver.poll() is not None)
        assert driver.poll() is None
        driver.kill()
    wait_until(lambda: set(cluster.executors()) <= before)
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        assert [entry.kind for entry in ledger.entries()][-1] == "reserve"
    assert not (tmp_path / "release").exists()
    wait_until(lambda: not traces_of(_PLANTED, cluster.folder))


def _as_toml(facts: dict[str, object], master: str) -> str:
    engine = {"kind": "spark", "master": master, "parts": 2, "encrypt_spills": False}
    lines = []
    tables = {**facts, "engine": engine}
    lines += [f"{k} = {json.dumps(v)}" for k, v in tables.items() if not isinstance(v, dict)]
    for name, table in tables.items():
        if isinstance(table, dict):
            lines.append(f"[{name}]")
            lines += [f"{k} = {_value(v)}" for k, v in table.items()]
    return "\n".join(lines) + "\n"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {_value(v)}" for k, v in value.items()) + "}"
    return json.dumps(value)
