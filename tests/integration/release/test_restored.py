"""A restored ledger in every face of the product, and the command that brings it up to date."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hushway
from hushway.errors import LedgerError
from hushway.families.load import load_plan, prepare
from hushway.privacy.ledger import Ledger
from hushway.workbench.worker_events import EventWriter
from hushway.workbench.worker_tasks import TASKS
from support.restored import backed_up, put_back
from support.scene import PLAN, Scene


@pytest.fixture(params=["sqlite", "postgresql"])
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Scene:
    """A plan of epsilon 2 whose account has a limit of 4."""
    scene = Scene.written(tmp_path / "city", "od")
    scene.say("mechanism", {"name": "laplace", "form": "dense"})
    scene.say("privacy.epsilon", "2")
    if request.param == "postgresql":
        scene.say("ledger.url", request.getfixturevalue("fresh_postgres_url"))
    assert scene.run("ledger open", "--epsilon", "4") == 0
    return scene


def ledger_of(scene: Scene) -> Ledger:
    return Ledger.connect(load_plan(scene.folder / PLAN).ledger_url())


def spent(scene: Scene) -> Any:
    with ledger_of(scene) as ledger:
        (account,) = ledger.accounts()
        return account.spent


@pytest.fixture
def restored(scene: Scene) -> Scene:
    """Publishes, backs up, publishes again and puts the backup back."""
    scene.say("release.folder", "first")
    assert scene.run("publish", "--yes") == 0
    with ledger_of(scene) as ledger:
        old = backed_up(ledger)
    scene.say("release.folder", "second")
    assert scene.run("publish", "--yes") == 0
    with ledger_of(scene) as ledger:
        put_back(ledger, old)
    scene.say("release.folder", "third")
    scene.write_plan()
    return scene


def by_command(scene: Scene) -> None:
    if scene.run("publish", "--yes") != 0:
        raise LedgerError("the command failed")


def by_python(scene: Scene) -> None:
    hushway.publish(prepare(load_plan(scene.folder / PLAN), rows=True))


def by_workbench(scene: Scene) -> None:
    voice = EventWriter(io.StringIO(), outlives_server=True)
    TASKS["publish"](scene.folder / PLAN, {"confirm": "2"}, voice)


@pytest.mark.parametrize("face", [by_command, by_python, by_workbench])
def test_no_face_publishes_from_a_restored_ledger(
    restored: Scene, face: Callable[[Scene], None]
) -> None:
    for _ in range(2):
        with pytest.raises(LedgerError):
            face(restored)
    assert spent(restored) == 2
    assert "third" not in restored.files()


def test_the_command_says_what_to_do_and_does_it(
    restored: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    assert restored.run("publish", "--yes") == 1
    assert restored.run("publish", "--dry-run") == 1
    said = capsys.readouterr().err
    assert "has lost entries" in said
    assert "Nothing was spent." in said
    assert "hushway ledger settle PLAN --restored" in said
    assert restored.run("price") == 0
    assert "has lost entries" in " ".join(capsys.readouterr().out.split())
    assert restored.run("ledger show", "--check") == 1
    assert restored.run("ledger settle", "--restored") == 0
    assert "charged again" in capsys.readouterr().out
    assert spent(restored) == 4
    assert restored.run("ledger show", "--check") == 0
    assert restored.run("ledger settle", "--restored") == 1
    assert restored.run("publish", "--yes") == 1
    second = restored.folder / "second"
    with ledger_of(restored) as ledger:
        assert hushway.verify(second, ledger=ledger).passed


def test_a_user_who_has_seen_nothing_reads_releases_back_from_their_folders(
    restored: Scene, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another-user"))
    second = str(restored.folder / "second")
    assert restored.run("ledger settle", "--release", second) != 0
    assert restored.run("ledger settle", "--restored", "--charge", "-1") != 0
    assert restored.run("ledger settle", "--restored", "--release", second) == 0
    assert spent(restored) == 4
    with ledger_of(restored) as ledger:
        assert hushway.verify(second, ledger=ledger).passed
    assert restored.run("ledger settle", "--restored", "--charge", "1/2") == 0
    assert spent(restored) == 4.5
