"""The demo with a smaller city, built once and copied for every test."""

import shutil
from pathlib import Path

import pytest

from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.steward.demo import PLAN, build_demo
from support.city_plan import with_mechanism


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cities") / "demo"
    build_demo(folder)
    # A tenth of the cells, with as many trips: what is fitted to them takes most of a release.
    ann_arbor(seed=2018, places=40).write(folder)
    return folder


@pytest.fixture(scope="session")
def half_days(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same city with two periods instead of fourteen, for tests that are not about hours."""
    folder = Path(shutil.copytree(demo, tmp_path_factory.mktemp("half days") / "demo"))
    hourly = (folder / PLAN).read_text(encoding="utf-8")
    (folder / PLAN).write_text(hourly.replace("minutes = 60 ", "minutes = 420 "), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def unfitted(half_days: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a mechanism that fits nothing: to learn takes half of a release."""
    folder = Path(shutil.copytree(half_days, tmp_path_factory.mktemp("unfitted") / "demo"))
    with_mechanism(folder, 'name = "laplace"\nform = "dense"', max_trips=1)
    return folder


@pytest.fixture
def city(unfitted: Path, tmp_path: Path) -> Path:
    """A fresh copy of its files with an open account and no release yet."""
    return Path(shutil.copytree(unfitted, tmp_path / "city"))
