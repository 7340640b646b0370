"""The page, the workbook and the GeoPackage of a release: made, and made again by a verifier."""

import json
from pathlib import Path

import pytest

from hushway.errors import ReleaseError
from hushway.families import readers
from hushway.families.readers import ReaderFiles, reader_files
from hushway.families.registry import family_certified
from hushway.families.sealed import read_certificate, read_facts
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.privacy.certificate import Certificate
from hushway.release.documents.papers import GEOPACKAGE, INDEX, PAGE, README, WORKBOOK
from hushway.release.folder.finding import Notes

THREE = (INDEX, WORKBOOK, GEOPACKAGE)


def made_again(release: Path) -> ReaderFiles:
    certificate = read_certificate(release)
    family = family_certified(certificate.terms.release_type)
    description = family.check(Notes(), release, certificate, read_facts(release))
    assert description is not None
    return reader_files(release, certificate, description, None)


def test_a_release_explains_itself(release: Path) -> None:
    made_again(release).check(release)
    assert f'href="{INDEX}"' in (release / PAGE).read_text("utf-8")
    assert f'href="{PAGE}"' in (release / INDEX).read_text("utf-8")
    readme = (release / README).read_text("utf-8")
    assert all(f"open `{name}`" in readme for name in THREE)
    # Its size stands beside it.
    assert f"{(release / INDEX).stat().st_size / 1e6:.1f} MB" in readme


@pytest.mark.parametrize("name", THREE)
def test_another_file_is_refused(release: Path, name: str) -> None:
    found = made_again(release)
    data = bytearray((release / name).read_bytes())
    data[len(data) // 2] ^= 1
    (release / name).write_bytes(data)
    with pytest.raises(Exception, match=f"{name} does not hold|CRC|invalid|damaged") as caught:
        found.check(release)
    assert isinstance(caught.value, ReleaseError) or name == WORKBOOK


def test_what_is_too_large_is_left_out_with_the_reason(
    tmp_path: Path, table: object, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "MOST_PAGE_BYTES", 1 << 10)
    monkeypatch.setattr(readers, "are_few", lambda _: False)
    release = write_release(tmp_path / "r", table=table, certificate=certificate)
    assert not any((release / name).exists() for name in THREE)
    omitted = json.loads((release / "datapackage.json").read_bytes())["omitted"]
    reasons = {each["path"]: each["reason"] for each in omitted}
    assert "larger than" in reasons[INDEX]
    assert all("rows" in reasons[name] for name in (WORKBOOK, GEOPACKAGE))
    assert INDEX not in (release / PAGE).read_text("utf-8")
    assert verify(release).intact
    # Where there is room for them, they must be there.
    monkeypatch.undo()
    assert not verify(release).intact
