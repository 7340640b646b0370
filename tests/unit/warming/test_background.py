"""Machine code that is made ahead, in processes of their own."""

import sys
from pathlib import Path

import pytest

from hushway.errors import PlanError
from hushway.families.load import plan_from, prepare
from hushway.families.registry import FAMILIES
from hushway.warming import background
from hushway.warming.background import Compiling, rehearsal_of, usual_rehearsals
from hushway.warming.rehearse import rehearsed_plan

PAIRS = [(name, mechanism) for name, each in FAMILIES.items() for mechanism in each.mechanisms]


def begin(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(background, "is_done", lambda *_names: False)
    monkeypatch.setattr(background, "command", lambda *names: [sys.executable, "-c", code, *names])


def test_every_release_type_has_a_rehearsal() -> None:
    assert dict(usual_rehearsals()) == {
        "od": "learned",
        "sequences": "learned",
        "density": "series",
        "links": "link_counts",
    }


@pytest.mark.parametrize(("release_type", "mechanism"), PAIRS)
def test_the_plans_of_the_little_city_are_whole(
    release_type: str, mechanism: str, tmp_path: Path
) -> None:
    plan = plan_from(rehearsed_plan(release_type, mechanism, tmp_path), folder=tmp_path)
    prepare(plan, rows=True)
    assert rehearsal_of(plan) == [(release_type, mechanism)]


def test_a_release_type_that_is_none_is_refused() -> None:
    with pytest.raises(PlanError, match="must be one of"):
        usual_rehearsals(["buses"])


def test_whoever_waits_waits_for_all_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    begin(monkeypatch, "import sys; open(sys.argv[1], 'w')")
    said: list[str] = []
    with Compiling(usual_rehearsals()) as compiling:
        compiling.wait(lambda step, _share=None, /: said.append(step))
    assert {path.name for path in tmp_path.iterdir()} == set(FAMILIES)
    assert all(step.startswith("Compiling") for step in said)


def test_one_that_fails_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    begin(monkeypatch, "raise SystemExit(3)")
    with Compiling([("od", "learned")]) as compiling:
        compiling.wait()


def test_what_was_begun_around_is_not_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    begin(monkeypatch, "open('runs', 'a').write('x')")
    with Compiling([("od", "learned")]), Compiling([("od", "learned")]) as inner:
        inner.wait()
    assert Path("runs").read_text("utf-8") == "x"
    assert not background._BEGUN


def test_nothing_goes_on_after_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    begin(monkeypatch, "import time; time.sleep(600)")
    with Compiling(usual_rehearsals()) as compiling:
        pass
    assert not compiling._running
