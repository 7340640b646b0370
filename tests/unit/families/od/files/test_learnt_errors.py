"""A release whose errors were learnt: written, read, verified and tampered with."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.errors import ReleaseError
from hushway.families.od.files.adds_up import published_sums, sums_by_pair, sums_by_period
from hushway.families.od.files.margins import read_margins, write_margins
from hushway.families.od.fit.table import ODTable
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.privacy.certificate import Certificate
from support.forging import failed
from support.mutations import seal
from support.od_scenes import small_certificate


def without_errors(table: ODTable) -> ODTable:
    margins = tuple(dataclasses.replace(margin, errors=None) for margin in table.margins)
    return dataclasses.replace(table, margins=margins)


def change(path: Path, values: Callable[[list[float]], list[float]]) -> None:
    rows = pq.read_table(path)
    place = rows.schema.get_field_index("standard_error")
    column = pa.array(values(rows["standard_error"].to_pylist()), pa.float64())
    pq.write_table(rows.set_column(place, "standard_error", column), path)


def test_a_release_says_of_every_sum_how_far_it_may_be_off(
    learnt_release: Path, learnt: ODTable
) -> None:
    assert verify(learnt_release).passed
    rows = pq.read_table(learnt_release / "margins.parquet")
    told = np.concatenate([margin.errors for margin in learnt.margins])
    assert rows["standard_error"].to_pylist() == told.tolist()
    header, first = (learnt_release / "margins.csv").read_text("utf-8").splitlines()[:2]
    assert header.endswith(",residual,standard_error,low,high")
    assert first.split(",")[-3] == "0.5"
    count = int(first.split(",")[4])
    assert [float(end) for end in first.split(",")[-2:]] == [count - 0.98, count + 0.98]


def test_the_package_tells_noise_that_was_drawn_from_errors_that_were_learnt(
    learnt_release: Path, summed_release: Path
) -> None:
    def described(folder: Path, path: str) -> dict[str, str]:
        package = json.loads((folder / "datapackage.json").read_bytes())
        (resource,) = (each for each in package["resources"] if each["path"] == path)
        return {field["name"]: field["description"] for field in resource["schema"]["fields"]}

    assert "learnt" in described(learnt_release, "trips.parquet")["standard_error"]
    assert "before the fit" in described(summed_release, "trips.parquet")["standard_error"]
    assert "error in the count" in described(learnt_release, "margins.csv")["standard_error"]
    assert "standard_error" not in described(summed_release, "margins.csv")
    assert "measured_error" in described(summed_release, "margins.csv")


def test_learnt_errors_survive_writing_and_reading(tmp_path: Path, learnt: ODTable) -> None:
    sums = published_sums(learnt)
    features = tuple(each.feature for each in sums)
    write_margins(sums, tmp_path / "m.parquet")
    read = read_margins(tmp_path / "m.parquet", features, learnt=True)
    for one, other in zip(read, sums, strict=True):
        assert one.errors is not None
        np.testing.assert_array_equal(one.errors, other.errors)


@pytest.mark.parametrize("learns", [True, False])
def test_sums_with_errors_are_not_read_as_sums_without_and_the_other_way_round(
    tmp_path: Path, learnt: ODTable, learns: bool
) -> None:
    table = learnt if learns else without_errors(learnt)
    sums = published_sums(table)
    features = tuple(each.feature for each in sums)
    write_margins(sums, tmp_path / "m.parquet")
    with pytest.raises(ReleaseError):
        read_margins(tmp_path / "m.parquet", features, learnt=not learns)


def test_an_error_that_was_changed_is_found_by_the_seal(learnt_release: Path) -> None:
    change(learnt_release / "margins.parquet", lambda errors: [9.0, *errors[1:]])
    assert not verify(learnt_release).passed


@pytest.mark.parametrize("error", [0.125, -1.0, float("nan"), float("inf")])
def test_an_error_that_was_changed_is_found_under_a_new_seal(
    learnt_release: Path, error: float
) -> None:
    change(learnt_release / "margins.parquet", lambda errors: [error, *errors[1:]])
    seal(learnt_release)
    assert failed(verify(learnt_release)) == {"margins"}


def test_errors_that_were_taken_away_are_missed(learnt_release: Path) -> None:
    path = learnt_release / "margins.parquet"
    pq.write_table(pq.read_table(path).drop_columns("standard_error"), path)
    seal(learnt_release)
    assert "margins" in failed(verify(learnt_release))


def test_errors_go_with_a_mechanism_that_learns_them_and_with_no_other(
    tmp_path: Path, learnt: ODTable, summed: ODTable
) -> None:
    bare = without_errors(learnt)
    assert_contradiction_of_errors(tmp_path / "bare", bare, small_certificate(learnt))
    with_errors = dataclasses.replace(summed, margins=learnt.margins)
    assert_contradiction_of_errors(tmp_path / "more", with_errors, small_certificate(summed))


def assert_contradiction_of_errors(folder: Path, table: ODTable, certificate: Certificate) -> None:
    with pytest.raises(ReleaseError, match="errors of the sums"):
        write_release(folder, table=table, certificate=certificate)
    assert not folder.exists()


def test_sums_of_counts_vary_as_random_effects_say(learnt: ODTable) -> None:
    assert learnt.effects is not None
    for sums, keys in (
        (sums_by_period(learnt), learnt.cells // learnt.universe.pairs),
        (sums_by_pair(learnt), learnt.cells % learnt.universe.pairs),
    ):
        each = np.searchsorted(sums.keys, keys)
        varies = learnt.effects.variances_of_rows(
            learnt.universe, learnt.cells, learnt.standard_errors, each, len(sums.keys)
        )
        np.testing.assert_allclose(sums.standard_errors, np.sqrt(varies))
