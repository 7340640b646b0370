"""A small grid of streets, and published counts of its links."""

import shutil
from pathlib import Path

import pytest

from hushway.families.links.fit.table import LinkTable
from hushway.families.write import write_release
from support.link_scenes import links_certificate, links_of, parts_of_days, streets_of


@pytest.fixture(scope="session")
def links() -> LinkTable:
    """One period, with classes and zones measured."""
    return links_of()


@pytest.fixture(scope="session")
def fast_links() -> LinkTable:
    """Four periods with speeds, and neither class nor zone measured."""
    return links_of(streets_of(periods=parts_of_days(4)), speeds=True, classes=False)


@pytest.fixture(scope="session")
def written_links(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Releases of one period and of four with speeds that nobody touches."""
    folder = tmp_path_factory.mktemp("links")
    fast = links_of(streets_of(periods=parts_of_days(4)), speeds=True, classes=False)
    for name, table in (("plain", links_of()), ("fast", fast)):
        write_release(folder / name, table=table, certificate=links_certificate(table))
    return folder


@pytest.fixture
def plain_release(written_links: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written_links / "plain", tmp_path / "plain"))


@pytest.fixture
def fast_release(written_links: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written_links / "fast", tmp_path / "fast"))
