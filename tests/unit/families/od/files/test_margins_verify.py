"""A release with sums: written, verified, and tampered with under a new seal."""

import json
from collections.abc import Callable
from filecmp import cmp
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from hushway.families.od.fit.table import ODTable
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.privacy.certificate import Certificate, canonical_json
from hushway.release.documents.label import render_label
from hushway.release.documents.page import render_page
from hushway.release.formats.interval import interval_of
from support.family_suite import edit_bytes
from support.forging import failed, sentence
from support.mutations import seal
from support.od_scenes import small_certificate

NEW = ["adds-up.json", "published_totals.json", "margins.csv", "margins.parquet", "pairs.parquet"]


def test_a_release_with_sums_holds_them_and_verifies(summed_release: Path) -> None:
    verification = verify(summed_release)
    assert verification.passed
    assert [check.name for check in verification.checks][-8:] == [
        "rows",
        "formats",
        "published totals",
        "margins",
        "adds up",
        "terms",
        "package",
        "known",
    ]
    assert all((summed_release / name).is_file() for name in NEW)


def test_a_release_without_sums_has_none_of_their_files(release: Path) -> None:
    assert not any((release / name).exists() for name in NEW)
    package = json.loads((release / "datapackage.json").read_bytes())
    assert not {"sums", "zeros_left_out"} & package["table"].keys()


def test_the_package_describes_sums_and_what_is_left_out(summed_release: Path) -> None:
    package = json.loads((summed_release / "datapackage.json").read_bytes())
    assert package["table"]["zeros_left_out"] is True
    assert package["table"]["dense"] is False
    assert package["table"]["sums"][1] == {"published_total": "period", "elements": 4}
    resources = {resource["path"]: resource for resource in package["resources"]}
    assert resources.keys() >= set(NEW)
    without_row = "A cell without a row is published as 0."
    assert without_row in resources["trips.parquet"]["description"]
    assert without_row in resources["trips.omx"]["description"]
    for public in ("published_totals.json", "pairs.parquet", "places.csv"):
        assert "Public knowledge, not made from the data." in resources[public]["description"]
    for name in ("margins.parquet", "margins.csv", "pairs.parquet"):
        fields = [field["name"] for field in resources[name]["schema"]["fields"]]
        if name != "margins.csv":
            assert pq.read_schema(summed_release / name).names == fields
    assert pq.read_table(summed_release / "trips.parquet")["count"].to_pylist().count(0) == 0


def test_the_list_says_that_everything_adds_up(summed_release: Path) -> None:
    facts = json.loads((summed_release / "adds-up.json").read_bytes())
    assert facts["fit"] == {"newton_steps": 4, "relative": 1e-12, "proven": True}
    assert [each["published_total"] for each in facts["sums"]] == [
        "total",
        "period",
        "zones",
        "lengths",
        "zones, all day",
    ]
    assert {(each["finer"], each["coarser"]) for each in facts["refinements"]} == {
        ("period", "total"),
        ("zones", "total"),
        ("zones", "period"),
        ("zones", "zones, all day"),
        ("lengths", "total"),
        ("zones, all day", "total"),
    }
    assert not any(each["largest_difference"] for each in facts["sums"] + facts["refinements"])
    period = facts["sums"][1]
    # The residuals of the four periods are 5, -2, 2 and -5, less the sums: 7 i mod 11 - 5.
    assert period["root_mean_square_residual"] == pytest.approx(((25 + 4 + 4 + 25) / 4) ** 0.5)
    assert period["largest_rounding_shift"] == 0.25
    assert period["residual_in_standard_errors"] == pytest.approx(
        period["root_mean_square_residual"] / period["standard_error"]
    )


def test_page_and_label_name_the_sums(summed: ODTable, certificate: Certificate) -> None:
    certified = small_certificate(summed)
    page = render_page(certified, b"").decode()
    words = "total (1 sum), period (4 sums), zones (16 sums), lengths (4 sums), zones, all day"
    assert f"<dt>Sums that add up</dt><dd>{words}" in page
    named = certified.terms.mechanism.parameters
    _, _, rest = page.partition("<dt>Parameters</dt><dd>")
    shown = rest.partition("</dd>")[0]
    for key in named:
        assert (f"{key} = " in shown) == (key != "published_totals"), key
    assert not any(feature["digest"] in page for feature in named["published_totals"])
    label = yaml.safe_load(render_label(certified))["deployment"]["implementation"]
    assert "\n- a sum that adds up: period (4 sums)\n" in label["mechanisms"]
    assert b"add up</dt>" not in render_page(certificate, b"")
    assert b"a sum that adds up" not in render_label(certificate)


def test_the_same_sums_give_the_same_bytes(
    tmp_path: Path, summed_release: Path, summed: ODTable
) -> None:
    again = write_release(tmp_path / "again", table=summed, certificate=small_certificate(summed))
    for name in (*NEW, "datapackage.json", "picture.png"):
        assert cmp(again / name, summed_release / name, shallow=False), name


# From here on somebody changes a file and seals the folder again.


def change_table(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    table = change(pq.read_table(path))
    pq.write_table(table, path)


def one_more(name: str) -> Callable[[pa.Table], pa.Table]:
    """Adds 1 to the first number of a column."""

    def change(table: pa.Table) -> pa.Table:
        numbers = table[name].to_pylist()
        numbers[0] += 1
        column = pa.array(numbers, table.schema.field(name).type)
        return table.set_column(table.schema.get_field_index(name), name, column)

    return change


def with_intervals(table: pa.Table) -> pa.Table:
    """Puts the intervals right again."""
    counts, errors = (np.array(table[name].to_pylist()) for name in ("count", "standard_error"))
    for name, ends in zip(("low", "high"), interval_of(counts, errors), strict=True):
        at = table.schema.get_field_index(name)
        table = table.set_column(at, table.schema.field(at), pa.array(ends.tolist(), pa.float64()))
    return table


@pytest.mark.parametrize("name", ["count", "measured", "measured_error", "residual", "low", "high"])
def test_a_changed_sum_is_found(summed_release: Path, name: str) -> None:
    change_table(summed_release / "margins.parquet", one_more(name))
    seal(summed_release)
    assert failed(verify(summed_release)) == {"margins"}


def test_a_count_that_is_changed_with_its_residual_is_found(summed_release: Path) -> None:
    change_table(
        summed_release / "margins.parquet",
        lambda table: one_more("count")(one_more("residual")(table)),
    )
    seal(summed_release)
    verification = verify(summed_release)
    assert failed(verification) == {"margins"}
    assert "'total'" in sentence(verification, "margins")


def test_a_changed_row_is_found_by_its_sums(summed_release: Path) -> None:
    change_table(summed_release / "trips.parquet", one_more("count"))
    seal(summed_release)
    # Its interval is no longer that of the count.
    assert failed(verify(summed_release)) == {"rows"}
    change_table(summed_release / "trips.parquet", with_intervals)
    seal(summed_release)
    assert failed(verify(summed_release)) == {"formats", "margins"}


def test_a_changed_pair_label_is_found(summed_release: Path) -> None:
    def swap(table: pa.Table) -> pa.Table:
        labels = table["length"].to_pylist()
        labels[0], labels[1] = labels[1], labels[0]
        column = pa.array(labels).dictionary_encode()
        return table.set_column(3, "length", column)

    change_table(summed_release / "pairs.parquet", swap)
    seal(summed_release)
    assert failed(verify(summed_release)) == {"published totals"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("name", "old", "new", "check"),
    [
        ("margins.csv", b'\n"total","","",', b'\n"total","","",1', "margins"),
        ("margins.csv", b'\n"period","08:00-', b'\n"period","09:00-', "margins"),
        ("margins.csv", b"published_total,", b"title,", "margins"),
        ("published_totals.json", b'"title": "period"', b'"title": "hour"', "margins"),
        ("published_totals.json", b'"early",', b'"late",', "published totals"),
        ("published_totals.json", b"{", b"[", "published totals"),
        ("adds-up.json", b'"largest_difference": 0', b'"largest_difference": 1', "adds up"),
        ("adds-up.json", b'"elements": 4', b'"elements": 5', "adds up"),
        ("adds-up.json", b'_shift": 0.25', b'_shift": -0.25', "adds up"),
        ("adds-up.json", b'_shift": 0.25', b'_shift": 1e999', "adds up"),
        ("adds-up.json", b'_shift": 0.25', b'_shift": "0"', "adds up"),
        ("adds-up.json", b'"newton_steps": 4', b'"newton_steps": NaN', "adds up"),
        ("adds-up.json", b'"root_mean_square_residual": 5.0', b'"rms": 5.0', "adds up"),
        ("adds-up.json", b"{", b"[" * 100_000, "adds up"),
        ("datapackage.json", b'"zeros_left_out": true', b'"zeros_left_out": false', "rows"),
        ("datapackage.json", b'"zeros_left_out": true', b'"zeros_left_out": 1', "table facts"),
        ("datapackage.json", b'"threshold": null', b'"threshold": 3', "table facts"),
    ],
)
def test_a_changed_file_is_found_under_a_new_seal(
    summed_release: Path, *, name: str, old: bytes, new: bytes, check: str
) -> None:
    edit_bytes(summed_release / name, old, new, 1)
    seal(summed_release)
    assert check in failed(verify(summed_release))


def test_a_row_of_0_is_found_where_zeros_are_left_out(summed_release: Path) -> None:
    def empty(table: pa.Table) -> pa.Table:
        counts = table["count"].to_pylist()
        return table.set_column(3, "count", pa.array([0, *counts[1:]], pa.int64()))

    change_table(summed_release / "trips.parquet", empty)
    seal(summed_release)
    assert "rows" in failed(verify(summed_release))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("garbage", [b"", b"\0" * 64, b"[]", b"{}", b'{"published totals": 3}'])
def test_garbage_is_a_finding_and_no_crash(summed_release: Path, name: str, garbage: bytes) -> None:
    (summed_release / name).write_bytes(garbage)
    seal(summed_release)
    found = failed(verify(summed_release))
    assert found & {"published totals", "margins", "adds up"}


@pytest.mark.parametrize("name", NEW)
def test_a_missing_file_of_sums_is_found(summed_release: Path, name: str) -> None:
    (summed_release / name).unlink()
    seal(summed_release)
    assert failed(verify(summed_release)) & {"published totals", "margins", "adds up"}


def test_features_named_in_another_way_are_findings(summed_release: Path) -> None:
    facts = json.loads((summed_release / "certificate.json").read_bytes())
    facts["mechanism"]["parameters"]["published_totals"] = ["total"]
    (summed_release / "certificate.json").write_bytes(canonical_json(facts))
    seal(summed_release)
    verification = verify(summed_release)
    assert failed(verification) == {"page", "label", "terms", "package"}
    assert "does not name its published totals" in sentence(verification, "page")
