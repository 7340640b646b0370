"""What `hushway verify` says: which release it is first, and who answers for it last."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hushway.cli import releases
from hushway.cli.app import app
from hushway.privacy.signing import PublicKey
from hushway.release.folder.finding import SIGNATURE, Check, Outcome, Verification
from hushway.release.folder.subject import Subject
from hushway.steward.facts import verification_facts

KEY = PublicKey((3).to_bytes(32, "little"))


def found(signer: PublicKey | None, *, key_given: bool = False) -> dict[str, Any]:
    subject = Subject(
        title="Trips in March",
        release_id="od-20260401",
        release_type="od",
        dataset="taps of the city",
        account_period="2026-03",
        window="1 to 31 March 2026",
        unit="person",
        created_at="2026-04-01T12:00:00+00:00",
        publisher="The agency",
        certificate="sha256:" + "0" * 64,
        signer=signer,
    )
    outcome = Outcome.ABSENT if signer is None else Outcome.PASSED
    check = Check(name=SIGNATURE, outcome=outcome, sentence="As it is.")
    return verification_facts(Verification(checks=(check,), key_given=key_given, subject=subject))


def said(monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any], *options: str) -> str:
    monkeypatch.setattr(releases, "verify_confined", lambda *_, **__: facts)
    monkeypatch.setenv("COLUMNS", "200")
    done = CliRunner().invoke(app, ["verify", "folder", *options])
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize(
    ("signer", "key_given", "signed_by"),
    [
        (None, False, "nobody"),
        (KEY, False, f"key {KEY.fingerprint}, compared with no key"),
        (KEY, True, f"key {KEY.fingerprint}, the key that you gave"),
    ],
)
def test_the_release_is_named_before_its_checks(
    monkeypatch: pytest.MonkeyPatch, signer: PublicKey | None, *, key_given: bool, signed_by: str
) -> None:
    text = said(monkeypatch, found(signer, key_given=key_given))
    named, checked = text.split("What was checked")
    for fact in (
        "Trips in March",
        "od-20260401",
        "taps of the city",
        "1 to 31 March 2026",
        "person",
        "2026-04-01T12:00:00+00:00",
        "The agency",
        signed_by,
    ):
        assert fact in named
    assert ("WARNING: " in checked) is not key_given


def test_what_adds_up_without_a_signature_is_said_with_what_could_be_invented(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = said(monkeypatch, found(None))
    assert "It adds up; not signed." in text
    assert "WARNING: Not signed: nobody answers for it. Anybody could have made it up" in text


def test_programs_get_the_release_first_and_the_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = json.loads(said(monkeypatch, found(KEY), "--json"))
    assert next(iter(answer)) == "release"
    assert answer["release"]["id"] == "od-20260401"
    assert answer["release"]["signed_by"] == {
        "fingerprint": KEY.fingerprint,
        "public_key": KEY.raw.hex(),
    }
    assert (answer["result"], answer["passed"]) == ("signed", True)
    assert KEY.fingerprint in answer["warning"]
    assert json.loads(said(monkeypatch, found(None), "--json"))["warning"].startswith("Not signed")
    assert json.loads(said(monkeypatch, found(KEY, key_given=True), "--json"))["warning"] is None


def test_what_cannot_be_named_is_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    check = Check(name="seal", outcome=Outcome.FAILED, sentence="Broken.")
    facts = verification_facts(Verification(checks=(check,)))
    monkeypatch.setattr(releases, "verify_confined", lambda *_, **__: facts)
    done = CliRunner().invoke(app, ["verify", str(Path("folder"))])
    assert done.exit_code == 1
    assert "which release this is cannot be told" in done.output
