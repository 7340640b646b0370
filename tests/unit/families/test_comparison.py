"""Two releases side by side."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from hushway.cli.verbs import app
from hushway.errors import ReleaseError
from hushway.families.comparison import _joined, _read, compare_releases
from hushway.families.od.fit.table import ODTable
from hushway.families.registry import FAMILIES
from hushway.families.write import write_release
from support.od_scenes import small_certificate

Write = Callable[[ODTable], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(table: ODTable) -> Path:
        folder = tmp_path / f"release-{len(list(tmp_path.iterdir()))}"
        return write_release(folder, table=table, certificate=small_certificate(table))

    return written


def test_differences_are_counted_in_joint_standard_errors(table: ODTable, write: Write) -> None:
    error = float(table.standard_errors[0])
    joint = error * np.sqrt(2)
    counts = table.counts.copy()
    counts[5] += int(3 * joint) + 1
    counts[7] += int(1.9 * joint)
    one, other = write(table), write(replace(table, counts=counts))
    found = compare_releases(one, other)
    assert found.same_universe
    assert (found.both, found.only) == (len(counts), (0, 0))
    assert found.totals == (float(table.counts.sum()), float(counts.sum()))
    assert found.beyond == 1
    assert found.correlation == pytest.approx(np.corrcoef(table.counts, counts)[0, 1])
    first, second = found.largest[:2]
    assert first.other - first.one == int(3 * joint) + 1
    assert second.other - second.one == int(1.9 * joint)
    assert first.joint_error == pytest.approx(joint)
    assert len(found.largest) == 10


def test_a_release_is_like_itself(release: Path) -> None:
    found = compare_releases(release, release)
    assert found.beyond == 0
    assert found.correlation == pytest.approx(1)


def test_figures_that_one_does_not_publish_are_told_apart(
    table: ODTable, sparse_table: ODTable, write: Write
) -> None:
    found = compare_releases(write(table), write(sparse_table))
    left_out = len(table.cells) - len(sparse_table.cells)
    assert left_out > 0
    assert (found.both, found.only) == (len(sparse_table.cells), (left_out, 0))


def test_only_intact_releases_are_compared(release: Path, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError):
        compare_releases(release, tmp_path / "none")
    path = release / "trips.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(ReleaseError, match="not as it was written"):
        compare_releases(release, release)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_release_type_has_a_table_to_be_compared_by(name: str) -> None:
    compared = FAMILIES[name].compared
    assert compared is not None
    assert compared.file.endswith(".parquet")


def test_sequences_are_named_by_all_their_stops(tmp_path: Path) -> None:
    compared = FAMILIES["sequences"].compared
    assert compared is not None
    kind = pa.list_(pa.field("element", pa.string(), nullable=False))
    for name, rows in {"one": [["a", "b"], ["a"]], "other": [["a", "b"], ["ab"]]}.items():
        (tmp_path / name).mkdir()
        table = pa.table({"sequence": pa.array(rows, type=kind), "count": [5, 3]})
        pq.write_table(table, tmp_path / name / compared.file)
    joined = _joined(_read(tmp_path / "one", compared), _read(tmp_path / "other", compared))
    counts = {row["figure"]: (row["count"], row["count_b"]) for row in joined.to_pylist()}
    assert counts == {"a": (3, None), "a\0b": (5, 5), "ab": (None, 3)}


def test_sequences_with_times_are_named_by_these_too(tmp_path: Path) -> None:
    compared = FAMILIES["sequences"].compared
    assert compared is not None
    columns = {"sequence": [["a"], ["a"]], "periods": [["x"], ["y"]], "count": [5, 3]}
    pq.write_table(pa.table(columns), tmp_path / compared.file)
    named = _read(tmp_path, compared)
    assert _joined(named, named).column("figure").to_pylist() == ["a\0x", "a\0y"]


def test_the_command_says_it_to_people_and_to_programs(release: Path) -> None:
    said = CliRunner().invoke(app, ["compare", str(release), str(release)])
    assert said.exit_code == 0
    assert "Noise alone makes about 5% do so" in " ".join(said.output.split())
    done = CliRunner().invoke(app, ["compare", str(release), str(release), "--json"])
    assert json.loads(done.output)["beyond"] == 0
