"""The sign-off pack: everything that the certificate knows, and open where only people know."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import hushway
from hushway.cli.verbs import app
from hushway.errors import ReleaseError
from hushway.release.documents.dossier import OPEN
from support.little_plans import FAMILIES
from support.scene import PLAN, Scene


@pytest.fixture(scope="module", params=FAMILIES)
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("city")
    plan = Scene.written(folder / "city", request.param).folder / PLAN
    hushway.ledger.open(plan, epsilon="20", delta="1e-6")
    return hushway.publish(plan).folder


def test_a_pack_answers_from_the_certificate_and_leaves_the_rest_open(
    release: Path, tmp_path: Path
) -> None:
    pack = tmp_path / "pack.md"
    left = hushway.dossier(release, output=pack)
    text, certificate = pack.read_text("utf-8"), hushway.open(release).certificate
    assert text.count(OPEN) == left > 10
    for words in (
        certificate.release_id,
        certificate.terms.contribution.words,
        certificate.composition,
        *certificate.terms.not_protected,
    ):
        assert words in text
    for event in certificate.terms.events:
        assert event.query in text
    for point in ("Unit of privacy", "Data collection exposure", "(d) Measures"):
        assert f"**{point}**" in text


def test_the_command_writes_the_same_pack_and_never_over_another(
    release: Path, tmp_path: Path
) -> None:
    one, two = tmp_path / "one.md", tmp_path / "two.md"
    hushway.dossier(release, output=one)
    words = ["dossier", str(release), "--output", str(two)]
    assert "left open" in CliRunner().invoke(app, words).stdout
    assert one.read_bytes() == two.read_bytes()
    again = CliRunner().invoke(app, words)
    assert isinstance(again.exception, ReleaseError)
    assert "exists already" in str(again.exception)


def test_nobody_signs_for_a_release_that_was_changed(release: Path, tmp_path: Path) -> None:
    paper = release / "label.yaml"
    whole = paper.read_bytes()
    try:
        paper.write_bytes(whole + b"\n")
        with pytest.raises(ReleaseError, match="does not add up"):
            hushway.dossier(release, output=tmp_path / "pack.md")
    finally:
        paper.write_bytes(whole)
    assert not (tmp_path / "pack.md").exists()
