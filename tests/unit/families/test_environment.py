"""What the environment may say, and what it may not."""

from pathlib import Path
from typing import Any

import pytest

from hushway.errors import PlanError
from hushway.families.load import load_plan, with_environment
from hushway.steward.demo import build_demo
from support.scene import PLAN, Scene

EVERYTHING = {
    "HUSHWAY_LEDGER": "postgresql://steward@host/ledger",
    "HUSHWAY_ENGINE_KIND": "spark",
    "HUSHWAY_ENGINE_MASTER": "local[2]",
    "HUSHWAY_ENGINE_MEMORY_LIMIT": "7GB",
    "HUSHWAY_ENGINE_THREADS": "3",
    "HUSHWAY_ENGINE_TEMP_FOLDER": "spills",
}


def test_what_a_plan_leaves_open_is_said_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene.prepared(tmp_path / "scene", "od")
    scene.plan["engine"] = {}
    scene.run("price")
    for name, value in EVERYTHING.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    plan = load_plan(scene.folder / PLAN)
    assert plan.ledger_url() == "postgresql://steward@host/ledger"
    engine = plan.engine
    assert (engine.memory_limit, engine.threads) == ("7GB", 3)
    assert (engine.kind, engine.master) == ("spark", "local[2]")
    # From where the command runs, not from where the plan lies.
    assert engine.temp_folder == str(tmp_path / "spills")
    assert plan.path(engine.temp_folder) == tmp_path / "spills"


def test_a_plan_that_says_something_is_obeyed() -> None:
    said: dict[str, Any] = {
        "ledger": {"url": "own.db", "period": "2026"},
        "engine": {
            "kind": "duckdb",
            "master": "local",
            "memory_limit": "1GB",
            "threads": 1,
            "temp_folder": "t",
        },
    }
    assert with_environment(said, EVERYTHING) == said


def test_an_empty_variable_says_nothing_and_a_wrong_one_is_refused() -> None:
    assert with_environment({}, {"HUSHWAY_LEDGER": " "}) == {}
    for threads in ("0", "-1", "two", "2.5"):
        with pytest.raises(PlanError, match="HUSHWAY_ENGINE_THREADS"):
            with_environment({}, {"HUSHWAY_ENGINE_THREADS": threads})


def test_a_table_that_is_none_is_left_to_be_refused() -> None:
    assert with_environment({"ledger": 3}, EVERYTHING)["ledger"] == 3


def test_the_demo_keeps_a_ledger_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUSHWAY_LEDGER", str(tmp_path / "real.db"))
    build_demo(tmp_path / "demo")
    assert (tmp_path / "demo" / "ledger.db").exists()
    assert not (tmp_path / "real.db").exists()
