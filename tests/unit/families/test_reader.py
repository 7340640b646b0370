"""Releases of strangers, opened: what is checked first, and what is never read."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hushway
from hushway.errors import ReleaseError
from hushway.privacy.certificate import Certificate, canonical_json, parsed_json
from hushway.privacy.signing import SigningKey, new_key_pair
from hushway.release.untrusted import table as bounded_table
from support.mutations import rewrite, seal


def test_a_release_is_opened_with_the_key_that_signed_it(
    signed_release: Path, signing_key: SigningKey
) -> None:
    release = hushway.open(signed_release, key=signing_key.public)
    assert release.warning is None
    assert "Warning" not in release._repr_html_()
    assert "warning" not in repr(release)


@pytest.mark.parametrize("data", [b"", b"{}", None])
def test_a_release_with_a_broken_signature_is_not_opened(
    signed_release: Path, data: bytes | None
) -> None:
    path = signed_release / "seal.sig"
    path.write_bytes(path.read_bytes().replace(b"a", b"b") if data is None else data)
    with pytest.raises(ReleaseError, match="not a signature of this seal"):
        hushway.open(signed_release)


def test_a_release_by_another_key_or_by_nobody_is_not_opened_with_a_key(
    release: Path, signed_release: Path, tmp_path: Path
) -> None:
    other = new_key_pair(tmp_path / "other.pem", tmp_path / "other.pub.pem")
    with pytest.raises(ReleaseError, match="is signed by"):
        hushway.open(signed_release, key=other)
    with pytest.raises(ReleaseError, match="not signed"):
        hushway.open(release, key=other)


def test_who_did_not_compare_the_key_is_warned_wherever_the_release_shows(
    release: Path, signed_release: Path, signing_key: SigningKey
) -> None:
    for folder, words in (
        (release, "Not signed"),
        (signed_release, signing_key.public.fingerprint),
    ):
        opened = hushway.open(folder)
        for shown in (opened.warning, opened._repr_html_(), repr(opened)):
            assert shown is not None
            assert words in shown


def test_there_is_one_way_to_open_a_release_that_is_not_checked(
    signed_release: Path, signing_key: SigningKey
) -> None:
    (signed_release / "seal.sig").write_bytes(b"")
    opened = hushway.open(signed_release, trusted=True)
    assert "neither its seal nor its signature was checked" in repr(opened)
    assert opened.arrow().num_rows == 80
    with pytest.raises(ReleaseError, match="trusted"):
        hushway.open(signed_release, trusted=True, key=signing_key.public)


def test_a_repr_is_short_and_cannot_paint_the_screen(
    release: Path, certificate: Certificate
) -> None:
    rewrite(release, replace(certificate, title="Trips \u202e"))
    opened = hushway.open(release)
    assert r"\u202e" in repr(opened)
    assert "\u202e" not in repr(opened) + opened._repr_html_()
    assert len(repr(opened)) < 1000


def many_rows(path: Path, *, rows: int) -> None:
    """Puts one number, repeated, where the counts are: much more in memory than on disk."""
    old = pq.read_schema(path)
    zeros = pa.table({"count": pa.array([0], pa.int64()).take(pa.array([0] * rows))})
    assert "count" in old.names
    pq.write_table(zeros, path, compression="zstd")


def test_a_table_that_takes_too_much_is_neither_read_nor_shown(
    release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = release / "trips.parquet"
    many_rows(path, rows=200_000)
    assert path.stat().st_size < 10_000
    seal(release)
    monkeypatch.setattr(bounded_table, "OPENED_BYTES", 1 << 20)
    opened = hushway.open(release)
    for read in (opened.arrow, opened.geopandas):
        with pytest.raises(ReleaseError, match="more memory") as caught:
            read()
        assert "trusted=True" in caught.value.advice
    assert "would take more memory" in opened._repr_html_()
    assert hushway.open(release, trusted=True).arrow().num_rows == 200_000


def test_counts_are_summed_without_holding_the_table(release: Path) -> None:
    opened = hushway.open(release)
    total = sum(opened.arrow()["count"].to_pylist())
    assert f"80 rows, {total:,} in all" in opened._repr_html_()


def test_a_csv_table_that_takes_too_much_is_not_read(
    release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_table, "OPENED_CSV_BYTES", 10)
    with pytest.raises(ReleaseError, match=r"places\.csv would take more memory"):
        hushway.open(release).arrow("places")
    assert hushway.open(release, trusted=True).arrow("places").num_rows


@pytest.mark.parametrize(
    "resources", [None, [], [1], [{"path": "trips.parquet", "schema": {"fields": [{}]}}]]
)
def test_a_data_package_that_describes_nothing_is_one_clear_error(
    release: Path, resources: object
) -> None:
    path = release / "datapackage.json"
    path.write_bytes(canonical_json({**parsed_json(path.read_bytes()), "resources": resources}))
    seal(release)
    with pytest.raises(ReleaseError, match="does not describe the tables"):
        hushway.open(release)


@pytest.mark.parametrize("name", ["trips.parquet", "places.csv"])
def test_a_table_that_is_none_is_one_clear_error(release: Path, name: str) -> None:
    path = release / name
    data = path.read_bytes()
    path.write_bytes(data[:100] + bytes(len(data) - 110) + data[-10:])
    seal(release)
    with pytest.raises(ReleaseError, match=r"cannot be read|is not a"):
        hushway.open(release).arrow(name.partition(".")[0])
