"""Releases are verified and drawn by another process, within limits."""

import json
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hushway.cli.app import app
from hushway.errors import HushwayError, ReleaseError
from hushway.families.load import plan_from, prepare
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.privacy.randomness import SeededSource
from hushway.release.untrusted import confined
from hushway.sites.releases import verified_releases
from hushway.steward.publish import publish
from support.atlases import atlas_in
from support.little_plans import little_plan, write_little_files


def invoke(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["site", *map(str, words)])


def test_a_site_and_a_page_are_written_of_releases_that_verify(
    release: Path, tmp_path: Path
) -> None:
    site, page = tmp_path / "site", tmp_path / "report.html"
    done = invoke(release, release, "--to", site, "--one-file", page, "--json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.output)
    listed = json.loads((site / "site.json").read_bytes())["releases"]
    assert [each["slug"] for each in listed] == ["a-little-release", "a-little-release-2"]
    assert [each.pop("stamp") for each in answer["releases"]] == [None, None]
    assert answer == {"folder": str(site), "one_file": str(page), "releases": listed}
    for slug in ("a-little-release", "a-little-release-2"):
        atlas = json.loads((site / "releases" / slug / "atlas.json").read_bytes())
        assert atlas == atlas_in(release).facts
        assert atlas["warning"].startswith("Not signed: nobody answers for it.")
        names = {path.name for path in (site / "releases" / slug / "files").iterdir()}
        assert names == {path.name for path in release.iterdir()}
    assert (site / "index.html").is_file()
    assert b"a-little-release-2" in page.read_bytes()


def test_a_release_that_protects_nobody_is_taken_with_its_stamp(tmp_path: Path) -> None:
    write_little_files(tmp_path)
    plan = little_plan("od") | {"mechanism": {"name": "laplace", "form": "dense"}}
    job = prepare(plan_from(plan, folder=tmp_path))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.ZCDP, Fraction(1000)))
    folder = publish(job, source=SeededSource(1)).folder
    with verified_releases([folder]) as (found,):
        assert found.stamp == "NOT PRIVATE"
        assert json.loads(found.atlas)["stamp"] == "NOT PRIVATE"
        drawn = found.drawn
    assert not drawn.exists()


def stray(folder: Path) -> None:
    (folder / "payroll.csv").write_text("secret")


def edited(folder: Path) -> None:
    path = folder / "trips.csv"
    path.write_bytes(path.read_bytes() + b"\n")


def linked(folder: Path) -> None:
    (folder / "more").symlink_to("/etc")


def piped(folder: Path) -> None:
    os.mkfifo(folder / "more")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("harm", [stray, edited, linked, piped])
def test_a_release_that_does_not_verify_is_refused(
    release: Path, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    harm(release)
    site = tmp_path / "site"
    with (
        pytest.raises(HushwayError, match="release does not verify") as caught,
        verified_releases([release]),
    ):
        pytest.fail("it was taken")
    assert "hushway verify" in caught.value.advice
    assert not site.exists()


def test_what_takes_too_long_is_stopped(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "READING", confined.Limits(0, 2 << 30))
    with pytest.raises(ReleaseError, match="longer than 0 seconds"), verified_releases([release]):
        pytest.fail("it was taken")


def test_what_takes_too_much_memory_ends(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "READING", confined.Limits(60, 16 << 20))
    with pytest.raises(ReleaseError, match="memory"), verified_releases([release]):
        pytest.fail("it was taken")


def test_a_folder_without_a_release_is_told_so(tmp_path: Path) -> None:
    with (
        pytest.raises(HushwayError, match="no folder nowhere"),
        verified_releases([tmp_path / "nowhere"]),
    ):
        pytest.fail("it was taken")
    with pytest.raises(ReleaseError, match="needs a release"), verified_releases([]):
        pytest.fail("nothing was taken")


def test_a_site_takes_no_place_that_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing is verified for that: there is no release at all.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site").mkdir()
    (tmp_path / "site.html").touch()
    for words in ((), ("--to", "site"), ("--one-file", tmp_path / "site.html")):
        assert "exists already" in str(invoke("nowhere", *words).exception)
