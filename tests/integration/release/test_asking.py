"""Budget is named and asked about before it is spent, and a dry run spends nothing."""

import json
from pathlib import Path

import pytest

import hushway
from hushway.errors import BudgetError
from hushway.steward.worth import Worth, worth_of_rows
from support.little_plans import FAMILIES
from support.long import often
from support.scene import PLAN, Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene.prepared(tmp_path / "scene", "od")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hushway.cli.plans.has_terminal", lambda: True)


def answer(monkeypatch: pytest.MonkeyPatch, *, yes: bool) -> list[str]:
    asked: list[str] = []

    def confirm(question: str, *, err: bool) -> bool:
        assert err
        asked.append(question)
        return yes

    monkeypatch.setattr("typer.confirm", confirm)
    return asked


def test_without_a_terminal_budget_is_spent_only_if_told_so(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    assert scene.run("publish") == 1
    said = capfd.readouterr().err
    assert said.count("Error: ") == 1
    assert "--yes" in said
    assert "Nothing was spent" in said
    assert scene.spent() == [0]
    assert scene.run("publish", "--yes") == 0
    assert scene.spent() != [0]


@pytest.mark.usefixtures("terminal")
def test_the_question_names_the_budget_and_no_spends_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.say("privacy.epsilon", "1/2")
    asked = answer(monkeypatch, yes=False)
    capfd.readouterr()
    assert scene.run("publish") == 1
    said = " ".join(capfd.readouterr().err.split())
    assert len(asked) == 1
    assert "out of account trips / person / 2026-03, for good" in said
    assert "budget limit of" in said
    assert "Nothing was spent." in said
    assert scene.spent() == [0]
    assert not (scene.folder / "release").exists()


@pytest.mark.usefixtures("terminal")
def test_yes_spends(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answer(monkeypatch, yes=True)
    assert scene.run("publish") == 0
    assert len(asked) == 1
    assert scene.spent() != [0]


@pytest.mark.usefixtures("terminal")
def test_what_cannot_be_afforded_is_refused_and_not_asked_about(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.say("privacy.epsilon", "30")
    asked = answer(monkeypatch, yes=True)
    assert scene.run("publish") == 1
    assert asked == []
    assert "The release asks for" in capfd.readouterr().err
    assert scene.run("publish", "--dry-run") == 1
    assert "left of its budget limit" in capfd.readouterr().err
    assert scene.spent() == [0]


@pytest.mark.parametrize("family", often(FAMILIES, first=2))
def test_a_dry_run_does_all_but_spend(
    family: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scene = Scene.prepared(tmp_path / "dry", family)
    assert scene.run("check") == 0
    before = scene.files()
    capfd.readouterr()
    assert scene.run("publish", "--dry-run") == 0
    said = " ".join(capfd.readouterr().out.split())
    assert "Nothing was spent: this was a dry run." in said
    assert scene.run("publish", "--dry-run", "--json") == 0
    told = json.loads(capfd.readouterr().out)
    assert told["spent"] == 0
    assert told["charge"] != "0"
    assert scene.files() == before
    assert scene.spent() == [0]


def test_a_dry_run_refuses_what_publish_refuses(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.say("time.first_day", "2025-03-02")
    scene.say("time.last_day", "2025-03-02")
    assert scene.run("publish", "--dry-run") == 1
    assert "nothing to count" in capfd.readouterr().err
    scene.say("release.folder", "places.csv")
    assert scene.run("publish", "--dry-run") == 1
    assert "already something called places.csv" in capfd.readouterr().err
    assert scene.spent() == [0]


@pytest.fixture
def foreseen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hushway.steward.publish.worth_of_rows", worth_of_rows)
    monkeypatch.setattr("hushway.steward.check.worth_of_rows", worth_of_rows)


@pytest.mark.usefixtures("foreseen")
def test_a_release_of_which_nothing_would_be_known_needs_a_word_more(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    for options in (("--yes",), ("--dry-run",)):
        capfd.readouterr()
        assert scene.run("publish", *options) == 1
        said = capfd.readouterr().err
        assert "Next to nothing would be known of this release. Nothing was spent." in said
        assert "About 0% of the trips would stand in flows" in said
        assert "--anyway" in said
    with pytest.raises(BudgetError, match="Next to nothing"):
        hushway.publish(scene.folder / PLAN)
    assert scene.spent() == [0]
    assert scene.run("check") == 0
    assert "About 0% of the trips would stand in flows" in capfd.readouterr().out
    assert scene.run("publish", "--yes", "--anyway") == 0
    assert scene.spent() != [0]


def test_what_cannot_be_tried_is_not_called_unknown(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    untried = Worth(sentence="Too large to be tried.", is_sparse=True)
    monkeypatch.setattr("hushway.steward.publish.worth_of_rows", lambda *_, **__: untried)
    assert scene.run("publish", "--dry-run") == 1
    said = " ".join(capfd.readouterr().err.split())
    assert "of single figures, by noise alone; it is too large to try what sums would say" in said
    assert "--anyway" in said
    assert scene.spent() == [0]


@pytest.mark.usefixtures("foreseen")
def test_what_will_be_known_is_said_before_budget_is_spent(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    header, row, *_ = scene.rows.read_text(encoding="utf-8").splitlines()
    many = [row.replace(row.split(",")[0], f"p{number}", 1) for number in range(20_000)]
    scene.rows.write_text("\n".join([header, *many]), encoding="utf-8")
    capfd.readouterr()
    assert scene.run("publish", "--dry-run") == 0
    assert "What will be known (your screen only): About " in capfd.readouterr().err
