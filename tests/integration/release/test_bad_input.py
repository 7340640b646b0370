"""Bad input of every kind to every family: one clear error, exit code 1, nothing spent or left."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from support.bad_input import EVERYWHERE, Case
from support.little_plans import FAMILIES, material_of
from support.long import often
from support.scene import PRIVATE, Scene


def marked() -> list[Any]:
    """Returns all cases; of those that all families share, every run tries each with two."""
    shared = {case.name: place for place, case in enumerate(EVERYWHERE)}
    return [
        pytest.param(
            family,
            case,
            id=f"{family}: {case.name}",
            marks=pytest.mark.long
            if case.name in shared and (shared[case.name] + number) % len(FAMILIES) > 1
            else (),
        )
        for number, family in enumerate(FAMILIES)
        for case in (*EVERYWHERE, *material_of(family).BAD_INPUT)
    ]


@pytest.fixture
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Scene:
    return Scene.prepared(tmp_path / "scene", request.param)


@pytest.mark.parametrize(("scene", "case"), marked(), indirect=["scene"])
def test_publishing_is_refused_with_one_clear_error_and_nothing_is_spent(
    scene: Scene, case: Case, capfd: pytest.CaptureFixture[str]
) -> None:
    case.spoil(scene)
    before = scene.files()
    code = scene.run("publish", "--yes")
    said = capfd.readouterr()
    assert code == 1
    assert said.err.startswith("Error: ")
    assert case.says in said.err
    assert said.err.count("What to do:") == 1
    for unwanted in (PRIVATE, "Traceback", "did not foresee"):
        assert unwanted not in said.err + said.out
    assert scene.files() == before
    if case.reads_ledger:
        assert scene.spent() == [0]


@pytest.mark.parametrize(("scene", "case"), marked(), indirect=["scene"])
def test_a_check_refuses_what_publishing_refuses(
    scene: Scene, case: Case, capfd: pytest.CaptureFixture[str]
) -> None:
    case.spoil(scene)
    before = scene.files()
    code = scene.run("check")
    said = capfd.readouterr()
    assert code == (0 if case.unopened else 1)
    assert ("can be published once the account is open" in said.out) == case.unopened
    assert "can be published." not in said.out
    for unwanted in (PRIVATE, "Traceback", "did not foresee"):
        assert unwanted not in said.err + said.out
    assert scene.files() == before


@pytest.mark.parametrize("scene", often(FAMILIES, first=2), indirect=True)
def test_rows_that_a_plan_drops_do_not_stop_a_release(scene: Scene) -> None:
    for fields in ({"person": ""}, {"time": "2031-01-01T08:00:00"}, {"time": "at eight"}):
        scene.add_row(**fields)
    assert scene.run("check") == 0
    assert scene.run("publish", "--yes") == 0
    assert (scene.folder / "release" / "certificate.json").is_file()


@pytest.mark.parametrize("scene", FAMILIES, indirect=True)
def test_a_full_disk_is_noticed_before_anything_is_spent(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    full = shutil.disk_usage(scene.folder)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: full)
    assert scene.run("publish", "--yes") == 1
    assert "Nothing was spent" in capfd.readouterr().err
    assert scene.spent() == [0]
    assert not (scene.folder / "release").exists()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("scene", FAMILIES, indirect=True)
def test_what_fails_after_paying_stays_paid_and_says_so(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr("hushway.steward.publish.write_sealed", broken)
    assert scene.run("publish", "--yes") == 1
    assert "is spent" in capfd.readouterr().err
    assert scene.files() >= {"plan.toml"}
    assert not (scene.folder / "release").exists()
    (spent,) = scene.spent()
    assert spent > 0
