"""A small city of rectangles, seen from towers or by positions, and densities of it."""

import shutil
from pathlib import Path

import pytest

from hushway.families.density.fit.table import DensityTable
from hushway.families.write import write_release
from support.density_scenes import (
    bins_of,
    by_positions,
    density_certificate,
    density_of,
    rectangles,
)


@pytest.fixture(scope="session")
def density() -> DensityTable:
    return density_of()


@pytest.fixture(scope="session")
def plain_density() -> DensityTable:
    """Events with positions, and nothing measured but the series."""
    return density_of(by_positions(rectangles(4, 3), bins_of()), histogram=False)


@pytest.fixture(scope="session")
def written_densities(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Releases with towers and without that nobody touches."""
    folder = tmp_path_factory.mktemp("densities")
    plain = density_of(by_positions(rectangles(4, 3), bins_of()), histogram=False)
    for name, table in (("towers", density_of()), ("plain", plain)):
        write_release(folder / name, table=table, certificate=density_certificate(table))
    return folder


@pytest.fixture
def tower_release(written_densities: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written_densities / "towers", tmp_path / "towers"))


@pytest.fixture
def plain_release(written_densities: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written_densities / "plain", tmp_path / "plain"))
