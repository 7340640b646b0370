"""A fifth family, from plan to audit, without touching any other file."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hushway.auditing.suite import Mutant, Suite
from hushway.cli.verbs import app
from hushway.families.registry import FAMILIES
from hushway.families.verify import verify
from hushway.privacy.query import ExactCounts, Query
from support.mutations import seal
from support.toy_family import ToyFamily, Visits, one_person

PLAN = """
release_type = "toy"
visits = "visits.csv"
areas = ["north", "south", "west"]
data.name = "visits"
privacy = { unit = "person", epsilon = "1" }
ledger.period = "2026"
release = { folder = "release", title = "People by area" }
"""
RUNS = 70_000


class Twice(Visits):
    """Counts everybody twice, and says nothing."""

    def count(self, query: Query) -> ExactCounts:
        once = super().count(query)
        return ExactCounts(cells=once.cells, values=2 * once.values)


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(FAMILIES, "toy", ToyFamily())
    visits = [f"p{number},{'north' if number % 3 else 'south'}" for number in range(3000)]
    (tmp_path / "visits.csv").write_text("\n".join(visits), encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    said("ledger", "open", tmp_path / "plan.toml", "--epsilon", 2)
    return tmp_path / "plan.toml"


def said(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_a_family_needs_one_file_and_one_line(plan: Path) -> None:
    said("check", plan)
    assert "people in an area" in said("price", plan)
    said("publish", plan, "--yes")
    release = plan.parent / "release"
    found = verify(release)
    assert found.intact
    assert {check.name for check in found.checks} >= {"terms", "package", "table facts"}
    north = (release / "people.csv").read_text("utf-8").splitlines()[1]
    assert abs(int(north.removeprefix("north,")) - 2000) < 100


def test_what_it_publishes_cannot_be_bent(plan: Path) -> None:
    said("publish", plan, "--yes")
    certificate = plan.parent / "release" / "certificate.json"
    facts = json.loads(certificate.read_text("utf-8"))
    facts["contribution"]["limits"]["areas"] = 2
    certificate.write_text(json.dumps(facts), encoding="utf-8")
    assert not verify(plan.parent / "release").intact


def test_a_verification_says_which_package_checked_a_release_type(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said("publish", plan, "--yes")
    release = plan.parent / "release"
    found = verify(release)
    assert found.checked_by == "support.toy_family"
    sentences = {check.name: check.sentence for check in found.checks}
    assert "support.toy_family, which is not part of hushway" in sentences["release type"]
    monkeypatch.setattr(ToyFamily, "check", lambda *_: 1 / 0)
    broken = verify(release)
    assert not broken.intact
    assert {check.name for check in broken.checks if not check.passed} == {
        "files of the release type"
    }


def test_a_package_cannot_take_back_what_hushway_found(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said("publish", plan, "--yes")
    (plan.parent / "release" / "label.yaml").write_text("other words", encoding="utf-8")
    seal(plan.parent / "release")
    monkeypatch.setattr(ToyFamily, "check", lambda _, notes, *__: notes.checks.clear())
    assert not verify(plan.parent / "release").intact


@pytest.mark.long
def test_its_audits_run_and_can_fail() -> None:
    suite: Suite[Any] = ToyFamily.suite
    assert all(finding.passed for finding in suite.audit(runs=RUNS, epsilons=(1,)))
    wrong = Mutant(name="everybody twice", product=Twice, audits=(one_person,))
    assert wrong.hunt(epsilon=Fraction(1), runs=RUNS).caught
