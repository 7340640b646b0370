"""Odd numbers in every numeric option of every family: an answer or one clear error, in advance."""

import warnings
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import HushwayError
from hushway.families.load import plan_from, prepare
from hushway.families.registry import FAMILIES as REGISTERED
from hushway.privacy.randomness import os_source
from hushway.steward.preflight import Preflight
from hushway.steward.price import price
from support.little_plans import FAMILIES, little_plan, write_little_files
from support.numbers_of_plans import ODD_NUMBERS, numbers_of
from support.scene import Scene

OPTIONS = [(family, option) for family in FAMILIES for option in numbers_of(family)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    write_little_files(folder)
    return folder


def plan_with(family: str, option: str, value: Any) -> dict[str, Any]:
    """Returns a little plan with an option set, with a mechanism that has it."""
    plan = little_plan(family)
    table, name, *_ = *option.split("."), ""
    owners = [
        one for one, model in REGISTERED[family].mechanisms.items() if name in model.model_fields
    ]
    chosen = plan.get("mechanism", {}).get("name", next(iter(REGISTERED[family].mechanisms)))
    if table == "mechanism" and owners and chosen not in owners:
        plan["mechanism"] = {"name": owners[0]}
    Scene(folder=Path(), family=family, plan=plan).say(option, value)
    return plan


def asked(plan: dict[str, Any], folder: Path) -> None:
    """Prepares and prices a plan, and asks what is asked of it before any row is read."""
    job = prepare(plan_from(plan, folder=folder))
    price(job)
    preflight = Preflight(job=job, ledger=None, source=os_source(), may_open=True)
    preflight.ask_budget()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("family", "option"), OPTIONS, ids=[f"{f}: {o}" for f, o in OPTIONS])
def test_a_number_is_taken_or_refused_with_one_clear_error(
    family: str, option: str, folder: Path
) -> None:
    refused: list[bool] = []
    for value in ODD_NUMBERS:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                asked(plan_with(family, option, value), folder)
            except HushwayError as error:
                refused.append(bool(error.advice))
    assert all(refused)


def test_noise_that_cannot_be_drawn_is_refused_before_anything_is_spent(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scene = Scene.prepared(tmp_path / "scene", "density")
    scene.say("mechanism.budget_shares.clusters", "1e-400")
    assert scene.run("check") == 1
    assert scene.run("publish", "--yes") == 1
    assert "scale" in capfd.readouterr().err
    assert scene.spent() == [0]
