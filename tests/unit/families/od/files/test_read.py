"""A published OD table comes back as it was written, whatever its form and its periods."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hushway.errors import ReleaseError
from hushway.families.od.fit.table import ODTable
from hushway.families.write import write_release
from hushway.geography.periods import Cycle
from hushway.transit.day_demand import read_od_table
from support.mutations import seal
from support.od_scenes import small_certificate


def assert_same(folder: Path, table: ODTable) -> None:
    read = read_od_table(folder)
    assert read.universe.digest == table.universe.digest
    assert read.cells.tolist() == table.cells.tolist()
    assert read.counts.tolist() == table.counts.tolist()
    assert read.cells.dtype == read.counts.dtype == np.int64


def test_a_dense_table_comes_back(release: Path, table: ODTable) -> None:
    assert_same(release, table)
    assert len(read_od_table(release).cells) == table.universe.size


def test_a_signed_release_can_be_read_too(signed_release: Path, table: ODTable) -> None:
    assert_same(signed_release, table)


def test_a_table_above_a_threshold_comes_back(sparse_table: ODTable, tmp_path: Path) -> None:
    folder = write_release(
        tmp_path / "sparse", table=sparse_table, certificate=small_certificate(sparse_table)
    )
    assert_same(folder, sparse_table)
    assert 0 < len(sparse_table.cells) < sparse_table.universe.size


def test_a_table_with_sums_and_without_zeros_comes_back(
    summed_release: Path, summed: ODTable
) -> None:
    assert_same(summed_release, summed)


@pytest.mark.parametrize("cycle", ["week", "window"])
def test_periods_of_the_week_and_of_the_window_come_back(
    table: ODTable, tmp_path: Path, cycle: Cycle
) -> None:
    periods = replace(table.universe.periods, cycle=cycle)
    universe = replace(table.universe, periods=periods)
    cells = np.arange(universe.size, dtype=np.int64)
    other = replace(
        table,
        universe=universe,
        cells=cells,
        counts=cells * 13 % 31,
        standard_errors=np.full(len(cells), table.standard_errors[0]),
    )
    folder = write_release(tmp_path / cycle, table=other, certificate=small_certificate(other))
    assert_same(folder, other)
    assert read_od_table(folder).universe.periods.cycle == cycle


def test_a_table_without_rows_comes_back_empty(sparse_table: ODTable, tmp_path: Path) -> None:
    none = np.zeros(0, dtype=np.int64)
    empty = replace(sparse_table, cells=none, counts=none, standard_errors=np.zeros(0))
    folder = write_release(tmp_path / "empty", table=empty, certificate=small_certificate(empty))
    assert_same(folder, empty)


@pytest.mark.parametrize("name", ["trips.parquet", "places.csv", "certificate.json"])
def test_a_release_with_one_changed_byte_is_refused(release: Path, name: str) -> None:
    file = release / name
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))
    with pytest.raises(ReleaseError, match="not as it was written") as refused:
        read_od_table(release)
    assert "hushway verify" in refused.value.advice


def test_another_list_of_places_under_a_new_seal_is_refused(release: Path) -> None:
    file = release / "places.csv"
    file.write_bytes(file.read_bytes().replace(b",west", b",east"))
    seal(release)
    with pytest.raises(ReleaseError, match="not as it was written"):
        read_od_table(release)


def test_a_folder_that_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="not a release"):
        read_od_table(tmp_path)
