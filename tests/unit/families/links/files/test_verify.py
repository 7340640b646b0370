import dataclasses
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.families.links.fit.table import LinkTable
from hushway.families.verify import verify
from hushway.families.write import write_release
from support.certificates import noise_in
from support.family_suite import OTHER_NOISE, put, rewrite_rows
from support.forging import assert_contradiction, failed
from support.link_scenes import links_certificate, links_of, streets_of
from support.mutations import seal

# From here on somebody changes a file and seals the folder again: the claims must still add up.


@pytest.mark.parametrize(
    ("threshold", "check"),
    [('"2"', "table facts"), ("2", "table facts"), ("1e999", "table facts"), ("2.25", "terms")],
)
def test_another_threshold_is_found_under_a_new_seal(
    plain_release: Path, links: LinkTable, *, threshold: str, check: str
) -> None:
    path = plain_release / "datapackage.json"
    text, old = path.read_text(), f'"threshold": {links.threshold}'
    assert text.count(old) == 1
    path.write_text(text.replace(old, f'"threshold": {threshold}'))
    seal(plain_release)
    assert check in failed(verify(plain_release))


@pytest.mark.parametrize("file", ["links.parquet", "links.geo.parquet", "roads.parquet"])
def test_the_same_rows_in_another_file_are_the_same_release(fast_release: Path, file: str) -> None:
    path = fast_release / file
    table = pq.read_table(path)
    pq.write_table(table, path, compression="none", row_group_size=7, use_dictionary=False)
    seal(fast_release)
    # The data package holds size and digest of the file as it was.
    assert failed(verify(fast_release)) == {"package"}


def refusing_large(read: Callable[..., pa.Table]) -> Callable[..., pa.Table]:
    def watched(opened: pq.ParquetFile, *rest: Any) -> pa.Table:
        assert opened.metadata.row_group(0).total_byte_size < 1_000_000
        return read(opened, *rest)

    return watched


@pytest.mark.parametrize(
    ("file", "check"), [("links.geo.parquet", "formats"), ("roads.parquet", "geography")]
)
def test_a_file_that_claims_to_be_huge_is_not_even_read(
    plain_release: Path, monkeypatch: pytest.MonkeyPatch, file: str, check: str
) -> None:
    rewrite_rows(plain_release / file, put(0, name="x" * 3_000_000), use_dictionary=False)
    seal(plain_release)
    monkeypatch.setattr("hushway.families.links.files.roads._MOST_BYTES", 500_000)
    for way in ("read", "read_row_group"):
        monkeypatch.setattr(pq.ParquetFile, way, refusing_large(getattr(pq.ParquetFile, way)))
    (found,) = [each for each in verify(plain_release).checks if each.name == check]
    assert not found.passed
    assert "AssertionError" not in found.sentence


def test_texts_that_grow_when_they_are_read_are_refused(plain_release: Path) -> None:
    rewrite_rows(plain_release / "roads.parquet", lambda _: None)
    seal(plain_release)
    found = {check.name: check.sentence for check in verify(plain_release).checks}
    assert "pages are not as hushway writes them" in found["geography"]


def test_names_that_a_spreadsheet_would_run_are_guarded_and_verified(tmp_path: Path) -> None:
    plain = streets_of(4)
    roads = replace(
        plain.roads,
        link_id=np.array([f"=way {i}" for i in range(plain.roads.links)]),
        name=np.array(["@name"] * plain.roads.links),
    )
    named = links_of(replace(plain, roads=roads, zones=("+east", "-west")))
    release = write_release(tmp_path / "risky", table=named, certificate=links_certificate(named))
    assert verify(release).passed
    links = (release / "gmns" / "link.csv").read_text(encoding="utf-8")
    assert "\n'=way 1,'@name," in links
    assert "\n0,'+east\n1,'-west\n" in (release / "zones.csv").read_text(encoding="utf-8")


OTHER_ROWS = "The rows and measurements of the table are not those of"


@pytest.mark.parametrize("kind", ["classes", "speeds"])
def test_what_is_measured_is_published(tmp_path: Path, kind: str) -> None:
    table = links_of(classes=False)
    certificate = links_certificate(table, **{kind: True})
    assert_contradiction(tmp_path / "r", table=table, certificate=certificate, words=OTHER_NOISE)
    fitted = dataclasses.replace(table, noise=noise_in(certificate.terms))
    assert_contradiction(tmp_path / "s", table=fitted, certificate=certificate, words=OTHER_ROWS)


@pytest.mark.parametrize("kind", ["classes", "speeds"])
def test_what_is_published_was_measured(tmp_path: Path, kind: str) -> None:
    table = links_of(speeds=True)
    certificate = links_certificate(table, **{kind: False})
    assert_contradiction(tmp_path / "r", table=table, certificate=certificate, words=OTHER_NOISE)
    fitted = dataclasses.replace(table, noise=noise_in(certificate.terms))
    assert_contradiction(tmp_path / "s", table=fitted, certificate=certificate, words=OTHER_ROWS)


@pytest.mark.parametrize("by", [-0.5, 0.5])
def test_links_show_from_the_threshold_on_that_the_certificate_states(
    tmp_path: Path, links: LinkTable, by: float
) -> None:
    other = dataclasses.replace(links, threshold=links.threshold + by)
    assert_contradiction(
        tmp_path / "r", table=other, certificate=links_certificate(links), words=OTHER_ROWS
    )
