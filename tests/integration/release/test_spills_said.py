"""Where rows would lie on disk unencrypted, the steward is told, or the plan is refused."""

import json
from io import StringIO
from pathlib import Path

import pytest

from hushway.engine.settings import Cluster
from hushway.families.load import load_plan
from hushway.release.job import settings_of
from hushway.workbench import worker_tasks as work
from hushway.workbench.worker_events import EventWriter
from support.little_plans import FAMILIES
from support.scene import PLAN, Scene

EXTRA = "hushway[encrypted-spills]"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene.prepared(tmp_path / "scene", "od")


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hushway.engine.spilling._encryption_library", lambda: None)


def leave_open(scene: Scene) -> None:
    del scene.plan["engine"]["encrypt_spills"]


def said_by(scene: Scene, capfd: pytest.CaptureFixture[str], verb: str, *options: str) -> str:
    capfd.readouterr()
    assert scene.run(verb, *options) == 0
    said = capfd.readouterr()
    return " ".join((said.out + said.err).split())


@pytest.mark.usefixtures("no_library")
@pytest.mark.parametrize("verb", ["check", "publish --dry-run"])
def test_a_plan_that_leaves_it_open_goes_on_and_says_so(
    scene: Scene, capfd: pytest.CaptureFixture[str], verb: str
) -> None:
    leave_open(scene)
    name, *options = verb.split()
    said = said_by(scene, capfd, name, *options)
    assert "unencrypted" in said
    assert f'"{EXTRA}"' in said, "also in a narrow table"


@pytest.mark.usefixtures("no_library")
def test_programs_are_told_too(scene: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    leave_open(scene)
    capfd.readouterr()
    assert scene.run("check", "--json") == 0
    facts = json.loads(capfd.readouterr().out)
    (note,) = [one for one in facts["problems"] if one["kind"] == "unencrypted_spills"]
    assert (note["severity"], note["count"], facts["usable"]) == ("note", None, True)
    assert EXTRA in note["advice"]


@pytest.mark.usefixtures("no_library")
def test_the_workbench_says_so_too(scene: Scene) -> None:
    leave_open(scene)
    scene.write_plan()
    facts = work.check(scene.folder / PLAN, {}, EventWriter(StringIO(), outlives_server=False))
    assert facts["problems"][-1]["kind"] == "unencrypted_spills"


@pytest.mark.parametrize("verb", ["check", "publish --dry-run"])
def test_nothing_is_said_where_the_library_is(
    scene: Scene, capfd: pytest.CaptureFixture[str], verb: str
) -> None:
    leave_open(scene)
    name, *options = verb.split()
    assert "unencrypted" not in said_by(scene, capfd, name, *options)


@pytest.mark.usefixtures("no_library")
def test_a_plan_that_allows_it_is_reminded_by_check_alone(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    assert "unencrypted, as the plan says" in said_by(scene, capfd, "check")
    assert "unencrypted" not in said_by(scene, capfd, "publish", "--dry-run")


@pytest.mark.usefixtures("no_library")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_plan_that_asks_for_encryption_is_refused_before_anything_is_spent(
    tmp_path: Path, family: str, capfd: pytest.CaptureFixture[str]
) -> None:
    scene = Scene.prepared(tmp_path / "scene", family)
    scene.say("engine.encrypt_spills", value=True)
    before = scene.files()
    capfd.readouterr()
    assert scene.run("publish", "--yes") == 1
    said = capfd.readouterr().err
    assert said.count("Error: ") == 1
    assert "cannot be encrypted" in said
    assert EXTRA in said
    assert scene.spent() == [0]
    assert scene.files() == before


def test_workers_must_do_what_this_machine_can(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_open(scene)
    scene.say("engine.kind", "spark")
    scene.write_plan()
    plan = load_plan(scene.folder / PLAN)
    assert settings_of(plan).cluster == Cluster()
    assert settings_of(plan).encrypt_spills is True
    monkeypatch.setattr("hushway.engine.spilling._encryption_library", lambda: None)
    assert settings_of(plan).encrypt_spills is None, "those that can still do"
