"""A large delta is refused unless it is meant, and then nobody can overlook it."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

import hushway
from hushway.errors import BudgetError, PlanError
from hushway.families.load import load_plan, plan_from, prepare
from hushway.families.registry import FAMILIES
from hushway.privacy.accounting import LARGE_DELTA
from hushway.privacy.bound import Unit
from hushway.privacy.ledger import AccountKey, Ledger
from hushway.privacy.loss import ZCDPLoss
from hushway.release.documents.papers import CERTIFICATE, CROISSANT, DCAT, LABEL, PACKAGE, PAGE
from hushway.workbench.certificates import certificate_facts
from support.forging import sentence
from support.little_plans import little_plan
from support.scene import PLAN, Scene


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("privacy", "refused"),
    [
        ({"delta": "0.3"}, "above 1e-5"),
        ({"delta": "2e-5"}, "above 1e-5"),
        ({"delta": "1e-5"}, None),
        ({"delta": "2e-6", "people": 1_000_000}, "above 1/1000000"),
        ({"delta": "1e-6", "people": 1_000_000}, None),
        ({"delta": "1e-5", "people": 10}, None),
        ({"delta": "0.3", "large_delta": True}, None),
        ({"delta": "1e-6", "large_delta": True}, "no delta here is a large one"),
        ({"delta": "1e-6", "people": 0}, "people"),
    ],
)
def test_a_large_delta_must_be_meant(
    family: str, privacy: dict[str, object], refused: str | None, tmp_path: Path
) -> None:
    facts = little_plan(family)
    facts["privacy"] |= privacy
    if refused is None:
        assert plan_from(facts, folder=tmp_path).privacy.delta is not None
        return
    with pytest.raises(PlanError, match=refused):
        plan_from(facts, folder=tmp_path)


def test_an_account_with_a_large_delta_must_be_meant(tmp_path: Path) -> None:
    key = AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03")
    with Ledger.connect(tmp_path / "ledger.db") as ledger:
        with pytest.raises(BudgetError, match="above 1e-5"):
            ledger.open_account(key, ZCDPLoss(Fraction(1)), delta=Fraction(3, 10))
        assert ledger.accounts() == []
        ledger.open_account(key, ZCDPLoss(Fraction(1)), delta=Fraction(3, 10), large_delta=True)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = Scene.written(tmp_path / "city", "density")
    scene.say("privacy.delta", "0.3")
    return scene


@pytest.mark.parametrize("verb", ["check", "price", "publish", "ledger open"])
def test_no_verb_takes_a_large_delta_unasked(
    scene: Scene, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {"publish": ["--yes"], "ledger open": ["--epsilon", "4", "--delta", "0.3"]}
    assert scene.run(verb, *options.get(verb, [])) == 1
    assert "large_delta = true" in capsys.readouterr().err
    assert "ledger.db" not in scene.files()


def test_a_large_delta_that_is_meant_is_said_on_every_screen_and_paper(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    scene.say("privacy.large_delta", value=True)
    assert scene.run("ledger open", "--epsilon", "4", "--delta", "0.3") == 0
    assert "ε = 4 at δ = 3e-1" in capsys.readouterr().out
    for verb, *options in (["check"], ["price"], ["publish", "--dry-run"], ["publish", "--yes"]):
        assert scene.run(verb, *options) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert LARGE_DELTA in said, verb
        assert "at δ = 3e-1" in said, verb
    folder = scene.folder / "release"
    for paper in (PAGE, LABEL, PACKAGE, DCAT, CROISSANT):
        text = (folder / paper).read_text(encoding="utf-8")
        assert LARGE_DELTA in text, paper
    assert (
        json.loads((folder / CERTIFICATE).read_text())["claim"]["epsilon_delta"]["delta"] == "3/10"
    )
    found = hushway.verify(folder)
    assert found.intact
    assert sentence(found, "epsilon and delta").startswith(LARGE_DELTA)
    assert "at δ = 3e-1" in sentence(found, "certificate")
    assert certificate_facts(folder)["stamp"] == LARGE_DELTA


def test_a_usual_delta_is_shown_with_its_epsilon_and_without_alarm(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    scene.say("privacy.delta", "1e-6")
    scene.say("privacy.people", 5000)
    if scene.family == "density":
        scene.say("mechanism.noise", "gaussian")
    assert scene.run("ledger open", "--epsilon", "4", "--delta", "1e-6") == 0
    assert scene.run("ledger show") == 0
    assert "at δ = 1e-6" in " ".join(capsys.readouterr().out.split())
    published = hushway.publish(prepare(load_plan(scene.folder / PLAN), rows=True))
    assert published.certificate.banner is None
    page = (published.folder / PAGE).read_text(encoding="utf-8")
    assert LARGE_DELTA not in page
    assert ", δ 1e-6</text>" in page
    assert hushway.verify(published.folder).passed
