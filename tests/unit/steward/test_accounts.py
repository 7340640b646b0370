"""An account is opened the same way by the command, the workbench and Python."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import hushway
from hushway.privacy.ledger import Account, Ledger
from hushway.workbench import worker_tasks
from hushway.workbench.worker_events import EventWriter
from support.little_plans import FAMILIES
from support.scene import PLAN, Scene


def by_command(scene: Scene, **options: str) -> None:
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    assert scene.run("ledger open", *words) == 0


def by_workbench(scene: Scene, **options: str) -> None:
    worker_tasks.account(
        scene.folder / PLAN, options, EventWriter(StringIO(), outlives_server=False)
    )


def by_python(scene: Scene, **options: Any) -> None:
    hushway.ledger.open(scene.folder / PLAN, **options)


FACES = (by_command, by_workbench, by_python)


def opened(folder: Path, family: str, face: Callable[..., None], **options: str) -> Account:
    scene = Scene.written(folder / face.__name__, family)
    face(scene, **options)
    with Ledger.connect(scene.folder / "ledger.db") as ledger:
        (account,) = ledger.accounts()
    return account


@pytest.mark.parametrize("options", [{}, {"delta": "1e-7"}])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_face_opens_the_same_account(
    family: str, options: dict[str, str], tmp_path: Path
) -> None:
    accounts = [opened(tmp_path, family, face, epsilon="4", **options) for face in FACES]
    first, *others = [(account.key, account.budget_limit, account.delta) for account in accounts]
    assert others == [first, first]


@pytest.mark.parametrize("family", FAMILIES)
def test_an_account_that_was_opened_without_a_delta_can_pay_for_the_plan(
    family: str, tmp_path: Path
) -> None:
    scene = Scene.written(tmp_path / "city", family)
    job = hushway.prepare(hushway.load_plan(scene.folder / PLAN))
    hushway.ledger.open(job, epsilon="4")
    assert hushway.price(job).affordable
