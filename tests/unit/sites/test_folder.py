"""A site appears whole or not at all, and in the place of an earlier site only."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hushway.errors import ReleaseError
from hushway.release.folder.seal import SEAL, SIGNATURE, Seal, SealedFile, files_of, sealed_file
from hushway.sites import write
from hushway.sites.releases import SiteRelease
from hushway.sites.write import fill_site, write_one_file

Take = Callable[..., SiteRelease]


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_site_holds_the_release_byte_for_byte_and_nothing_else(
    tmp_path: Path, bundle: Path, take: Take, release: Path
) -> None:
    one = take()
    fill_site([one], tmp_path / "site", bundle=bundle)
    found = everything(tmp_path / "site")
    for name, data in everything(release).items():
        assert found.pop(f"releases/one/files/{name}") == data
    assert found.pop("releases/one/certificate.html") == (release / "certificate.html").read_bytes()
    assert found.pop("releases/one/atlas.json") == one.atlas
    assert found.pop("releases/one/columns.bin") == one.columns
    assert set(found) == {"index.html", "site.json", "assets/reader.js", "assets/reader.css"}
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_two_sites_of_the_same_releases_are_the_same(
    tmp_path: Path, bundle: Path, take: Take
) -> None:
    one = take()
    for name in ("first", "second"):
        fill_site([one], tmp_path / name, bundle=bundle)
    assert everything(tmp_path / "first") == everything(tmp_path / "second")


def test_an_earlier_site_is_replaced_only_if_told_to(
    tmp_path: Path, bundle: Path, take: Take
) -> None:
    one, site = take(), tmp_path / "site"
    fill_site([one], site, bundle=bundle)
    before = everything(site)
    with pytest.raises(ReleaseError, match="exists already") as caught:
        fill_site([one], site, bundle=bundle)
    assert "--force" in caught.value.advice
    assert everything(site) == before
    fill_site([take("two")], site, bundle=bundle, force=True)
    assert (site / "releases" / "two").is_dir()
    assert not (site / "releases" / "one").exists()
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def something_else(place: Path) -> None:
    place.mkdir()
    (place / "site.json").write_text('{"format":"hushway-site","mine":1}')
    (place / "thesis.tex").write_text("years of work")


def a_file(place: Path) -> None:
    place.write_text("years of work")


def an_empty_folder(place: Path) -> None:
    place.mkdir()


def a_link(place: Path) -> None:
    something_else(place.with_name("target"))
    place.symlink_to(place.with_name("target"))


@pytest.mark.parametrize("make", [something_else, a_file, an_empty_folder, a_link])
def test_nothing_but_a_site_is_ever_replaced(
    tmp_path: Path, bundle: Path, take: Take, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "site")
    before = everything(tmp_path)
    with pytest.raises(ReleaseError, match="not just an earlier site"):
        fill_site([take()], tmp_path / "site", bundle=bundle, force=True)
    after = everything(tmp_path)
    assert before.items() <= after.items()


def test_a_site_that_somebody_put_a_file_into_is_not_replaced(
    tmp_path: Path, bundle: Path, take: Take
) -> None:
    site = tmp_path / "site"
    fill_site([take()], site, bundle=bundle)
    (site / "about.html").write_text("mine")
    with pytest.raises(ReleaseError, match="not just an earlier site"):
        fill_site([take("two")], site, bundle=bundle, force=True)
    assert (site / "about.html").read_text() == "mine"


def test_what_fails_on_the_way_leaves_nothing_behind(
    tmp_path: Path, bundle: Path, take: Take, release: Path
) -> None:
    one, site = take(), tmp_path / "sites" / "site"
    fill_site([one], site, bundle=bundle)
    before = everything(site)
    path = release / "places.csv"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(ReleaseError, match="changed while it was being read"):
        fill_site([one], site, bundle=bundle, force=True)
    assert everything(site) == before
    assert [entry.name for entry in site.parent.iterdir()] == ["site"]


def test_a_disk_that_refuses_is_told_in_a_sentence(
    tmp_path: Path, bundle: Path, take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write, "copy_files", full)
    with pytest.raises(ReleaseError, match="cannot be written: No space left"):
        fill_site([take()], tmp_path / "site", bundle=bundle)
    assert not (tmp_path / "site").exists()
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def seal_again(folder: Path, *, renamed: dict[str, str]) -> None:
    """Seals a folder as it is now, with some files under other names."""
    (folder / SEAL).unlink()
    (folder / SIGNATURE).unlink(missing_ok=True)
    files = [sealed_file(folder, name) for name in files_of(folder)]
    listed = tuple(
        SealedFile(path=renamed.get(f.path, f.path), size=f.size, sha256=f.sha256) for f in files
    )
    (folder / SEAL).write_bytes(Seal(files=listed, signer=None).to_json())


@pytest.mark.parametrize(
    "name",
    [
        "../outside.csv",
        "/etc/places.csv",
        "a/../../outside.csv",
        "./places.csv",
        ".htaccess",
        "a//places.csv",
        "a" * 101,
        "places.csv\n",
        "PLACES\\x.csv",
        "",
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(
    tmp_path: Path, bundle: Path, take: Take, release: Path, name: str
) -> None:
    seal_again(release, renamed={"places.csv": name})
    with pytest.raises(ReleaseError, match="a name that hushway does not give"):
        fill_site([take()], tmp_path / "site", bundle=bundle)
    assert not (tmp_path / "outside.csv").exists()
    assert not (tmp_path / "site").exists()


def test_a_file_that_became_a_link_is_refused(
    tmp_path: Path, bundle: Path, take: Take, release: Path
) -> None:
    one = take()
    secret = tmp_path / "secret.csv"
    (release / "places.csv").rename(secret)
    (release / "places.csv").symlink_to(secret)
    with pytest.raises(ReleaseError, match="cannot be opened as a plain file"):
        fill_site([one], tmp_path / "site", bundle=bundle)


def test_another_seal_than_the_verified_one_is_refused(
    tmp_path: Path, bundle: Path, take: Take, release: Path
) -> None:
    one = take()
    (release / "places.csv").write_text("other places")
    seal_again(release, renamed={})
    with pytest.raises(ReleaseError, match="changed while it was being read"):
        fill_site([one], tmp_path / "site", bundle=bundle)


def test_a_page_in_one_file_replaces_only_its_like(
    tmp_path: Path, bundle: Path, take: Take
) -> None:
    one, page = take(), tmp_path / "report.html"
    write_one_file([one], page, bundle=bundle)
    written = page.read_bytes()
    with pytest.raises(ReleaseError, match="exists already"):
        write_one_file([one], page, bundle=bundle)
    write_one_file([one], page, bundle=bundle, force=True)
    assert page.read_bytes() == written
    page.write_text("<!doctype html><p>mine")
    with pytest.raises(ReleaseError, match="not an earlier file"):
        write_one_file([one], page, bundle=bundle, force=True)
    assert page.read_text() == "<!doctype html><p>mine"
