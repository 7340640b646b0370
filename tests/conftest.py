"""What all tests share: nothing of the user's own is touched."""

import gc
import os
import secrets
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import psycopg
import pytest
from hypothesis import settings
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.image import imsave
from playwright.sync_api import Browser
from psycopg import sql

from hushway.families.registry import FAMILIES
from hushway.release.drawing import ground
from hushway.steward.worth import Worth
from support.chromium import running_chromium
from support.keys import RepeatedKeys
from support.long import leave_most_for_long_runs
from support.postgres_server import find_binaries, running_server, temporary_folder
from support.spark_cluster import SparkCluster, can_run_spark, spark_cluster

# The same examples on every run, and no clock: a test must not fail by luck.
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=30)
# For `make test-long`.
settings.register_profile("thorough", derandomize=True, deadline=None, max_examples=300)
settings.load_profile("steady")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Lets a short run leave out what repeats a test for another release type."""
    parser.addoption("--one-release-type", action="store_true", help="test the first one only")


def pytest_configure(config: pytest.Config) -> None:
    """Nor by an unlucky key, nor where a shell has started it in the background."""
    config.pluginmanager.register(RepeatedKeys())
    # There Ctrl-C is ignored, also by what tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Lets ledgers be remembered somewhere else than in the user's home."""
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session", autouse=True)
def little_is_worth_publishing() -> Iterator[None]:
    """Lets tests publish a few rows, of which nothing is known, and spares them the rehearsal."""
    with pytest.MonkeyPatch.context() as patch:
        for verb in ("check", "publish"):
            patch.setattr(
                f"hushway.steward.{verb}.worth_of_rows", lambda *_, **__: Worth(sentence="")
            )
        yield


@pytest.fixture(scope="module", autouse=True)
def nothing_remembered_by_other_files(
    state_of_its_own: Path, request: pytest.FixtureRequest
) -> Iterator[None]:
    """Lets fixtures of a file begin anew, too: several files publish from copies of one city."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(state_of_its_own / str(abs(hash(request.node.nodeid)))))
        yield


@pytest.fixture(autouse=True)
def nothing_remembered(
    state_of_its_own: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forgets ledgers after each test: many use copies of one, and would look like old ones."""
    monkeypatch.setenv(
        "XDG_STATE_HOME", str(state_of_its_own / str(abs(hash(request.node.nodeid))))
    )


class _White(FigureCanvasAgg):
    """Saves a figure without drawing it."""

    def print_png(self, filename_or_obj: BinaryIO, **_: Any) -> None:
        """Writes a few white dots."""
        imsave(filename_or_obj, np.ones((4, 6, 3)), format="png")


@pytest.fixture(scope="session", autouse=True)
def white_pictures() -> Iterator[None]:
    """Leaves pictures of releases white: they take much of a little one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ground, "FigureCanvasAgg", _White)
        yield


@pytest.fixture(autouse=True)
def pictures_to_look_at(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws them for tests that look at them."""
    if "picture" in request.node.nodeid:
        monkeypatch.setattr(ground, "FigureCanvasAgg", FigureCanvasAgg)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of a database on a private server that lives as long as this test session."""
    binaries = find_binaries()
    if binaries is None:
        reason = "no PostgreSQL server binaries (initdb) on this machine"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with temporary_folder() as folder, running_server(binaries, folder) as url:
        yield url


@pytest.fixture
def fresh_postgres_url(postgres_url: str) -> str:
    """The address of an empty schema of its own for every test."""
    name = f"fresh_{secrets.token_hex(8)}"
    with psycopg.connect(postgres_url) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
    # A schema costs a millisecond, a database of its own a third of a second.
    return f"{postgres_url}?options=-csearch_path%3D{name}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The machine's own Chromium, one for all tests of a file."""
    with running_chromium() as started:
        yield started


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    """One Spark cluster on this machine, for all tests that are marked with its name."""
    if not can_run_spark():
        pytest.skip("Spark or Java is not installed")
    with spark_cluster(tmp_path_factory.mktemp("spark") / "cluster") as running:
        os.environ.update(running.environment)
        yield running


def pytest_collection_finish() -> None:
    """Spares the collector of garbage what was loaded to stay, and lets it come less often."""
    gc.collect()
    gc.freeze()
    # Expressions of queries are many small objects: at the usual numbers it takes 5% of the time.
    gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Marks what is for long runs before anything is chosen by marks."""
    leave_most_for_long_runs(items)
    if config.getoption("--one-release-type"):
        _, *others = FAMILIES
        items[:] = [item for item in items if not any(name in item.nodeid for name in others)]
    yield
    let_spark_leave_sockets(items)


def let_spark_leave_sockets(items: list[pytest.Item]) -> None:
    """Lets tests of the cluster leave sockets to the collector of garbage, as PySpark does."""
    for item in items:
        if item.get_closest_marker("cluster") is not None:
            for kind in ("ResourceWarning", "pytest.PytestUnraisableExceptionWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{kind}"))
