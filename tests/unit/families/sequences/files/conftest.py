"""A small city with lines of stops, and trees of the ways that people go there."""

import shutil
from pathlib import Path

import pytest

from hushway.families.sequences.fit.table import SequenceTable
from hushway.families.write import write_release
from support.sequence_scenes import tree_certificate, tree_of


@pytest.fixture(scope="session")
def tree() -> SequenceTable:
    return tree_of()


@pytest.fixture(scope="session")
def timed_tree() -> SequenceTable:
    return tree_of(times=True, height=3)


@pytest.fixture(scope="session")
def written_trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Releases with times and without that nobody touches."""
    folder = tmp_path_factory.mktemp("trees")
    for name, table in (("plain", tree_of()), ("timed", tree_of(times=True, height=3))):
        write_release(folder / name, table=table, certificate=tree_certificate(table))
    return folder


@pytest.fixture
def tree_release(written_trees: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written_trees / "plain", tmp_path / "plain"))


@pytest.fixture
def timed_release(written_trees: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written_trees / "timed", tmp_path / "timed"))
