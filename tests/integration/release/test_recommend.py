"""`hushway recommend`, for every release type, as a shell runs it."""

import json
from pathlib import Path
from typing import Any

import pytest

from hushway.families.load import load_plan, prepare
from hushway.families.od.plan import ODPlan
from hushway.families.od.planning.advice import _spare_columns, _widened
from hushway.families.registry import FAMILIES, family_named
from support.scene import PLAN, Scene

OPTION = {"sequences": "max_records", "density": "max_visits", "links": "max_items"}


@pytest.fixture(params=OPTION)
def scene(tmp_path: Path, request: pytest.FixtureRequest) -> Scene:
    """A little scene whose rows nobody could read."""
    made = Scene.prepared(tmp_path / "scene", request.param)
    made.rows.write_bytes(b"\x00\xff garbage")
    return made


def advised(scene: Scene, capsys: pytest.CaptureFixture[str], *guess: str) -> Any:
    capsys.readouterr()
    assert scene.run("recommend", "--trips", guess[0], "--people", guess[1], "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_every_release_type_is_advised_without_rows_or_budget(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    before = scene.files()
    answer = advised(scene, capsys, "30000", "4000")
    assert scene.spent() == [0]
    assert scene.files() == before
    scores = [choice["score"] for choice in answer["tried"] if choice["score"] is not None]
    assert scores == sorted(scores)
    option = OPTION[scene.family]
    best = answer["tried"][0]["options"][option]
    # Links choose their limit themselves.
    said = '"auto"' if scene.family == "links" else best
    assert f"{option} = {said}\n" in answer["lines"]
    assert any("within 10%" in sentence for sentence in answer["enough"])
    assert scene.run("recommend", "--trips", "30000", "--people", "4000") == 0
    assert "enough for this?" in capsys.readouterr().out


def test_limits_follow_the_guess_beyond_any_fixed_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = Scene.prepared(tmp_path / "scene", "links")
    few = advised(scene, capsys, "1000", "1000")
    many = advised(scene, capsys, "400000", "1000")
    assert few["tried"][0]["options"] == {"max_items": 1}
    assert many["best"]["max_items"] > 400


def test_a_record_that_is_a_whole_window_has_no_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = Scene.prepared(tmp_path / "scene", "sequences")
    scene.say("records.span", "window")
    scene.say("privacy.max_records", 1)
    answer = advised(scene, capsys, "4000", "1000")
    assert answer["lines"] == ""
    assert len(answer["tried"]) == 1


def test_a_guess_of_more_people_than_trips_is_refused(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    assert scene.run("recommend", "--trips", "10", "--people", "20") == 1
    assert "more people than they have trips" in capsys.readouterr().err


def test_totals_by_spare_public_columns_are_found_and_those_with_gaps_are_not(
    tmp_path: Path,
) -> None:
    scene = Scene.prepared(tmp_path / "scene", "od")
    places = scene.folder / "places.csv"
    head, *rows = places.read_text(encoding="utf-8").splitlines()
    spare = ["north,x,a", "north,,b", "south,x,c", "south,x,d"]
    lines = [f"{head},county,note,total", *(f"{r},{s}" for r, s in zip(rows, spare, strict=True))]
    places.write_text("\n".join(lines) + "\n", encoding="utf-8")
    plan = load_plan(scene.folder / PLAN)
    assert isinstance(plan, ODPlan)
    # A name that the mechanism gives a meaning of its own is left alone.
    assert _spare_columns(plan) == ["county", "note"]
    wider, added = _widened(plan)
    assert added == ("county",)
    assert wider.published_totals["county"].places == "county"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_plan_made_again_for_the_same_files_is_the_same_job(tmp_path: Path, family: str) -> None:
    scene = Scene.prepared(tmp_path / "scene", family)
    job = prepare(load_plan(scene.folder / PLAN))
    # What is not there cannot be read again.
    scene.folder.rename(tmp_path / "elsewhere")
    again = family_named(family).replan(job, job.plan)
    assert again.geography.digest == job.geography.digest
    assert again.terms == job.terms
    option = family_named(family).limit_option(job.plan)
    assert option is not None
    privacy = job.plan.privacy.model_copy(update={option: 1})
    less = family_named(family).replan(job, job.plan.model_copy(update={"privacy": privacy}))
    assert less.bound.total < job.bound.total
