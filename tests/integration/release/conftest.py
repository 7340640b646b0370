"""The demo's synthetic city, built once and copied for every test."""

import shutil
from pathlib import Path

import pytest

from hushway.demo import build_demo


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cities") / "demo"
    build_demo(folder)
    return folder


@pytest.fixture
def city(demo: Path, tmp_path: Path) -> Path:
    """A fresh copy of the demo's files with an open account and no release yet."""
    return Path(shutil.copytree(demo, tmp_path / "city"))
