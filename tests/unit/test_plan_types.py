"""Values in plans are of the types that they are meant to be, and plans are no bombs."""

import os
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import PlanError
from hushway.families.load import load_plan, plan_from, prepare
from hushway.families.registry import FAMILIES as REGISTRY
from support.little_plans import FAMILIES, little_plan, material_of, write_little_files


def refusal(facts: dict[str, Any], folder: Path = Path()) -> str:
    with pytest.raises(PlanError) as caught:
        prepare(plan_from(facts, folder=folder))
    assert caught.value.advice
    return str(caught.value)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("value", [True, "2", 2.0, [2]])
def test_a_number_is_nothing_but_a_number(family: str, value: Any) -> None:
    facts, limit = little_plan(family), REGISTRY[family].contribution_limit
    facts["privacy"][limit] = value
    assert f"privacy.{limit}" in refusal(facts)


@pytest.mark.parametrize("value", [1, "true", 0])
def test_a_truth_is_nothing_but_a_truth(value: Any) -> None:
    facts = little_plan("od")
    facts["places"]["include_intrazonal"] = value
    assert "places.include_intrazonal" in refusal(facts)


@pytest.mark.parametrize("value", ["  ", "", "a\0b", "\u2003"])
def test_a_text_says_something(value: str) -> None:
    facts = little_plan("od")
    facts["release"]["title"] = value
    assert "release.title" in refusal(facts)


@pytest.mark.parametrize("value", ["2026-W10-1", "20260302", "2026-02-30", 20260302, True])
def test_a_day_is_written_in_one_way(value: Any) -> None:
    facts = little_plan("od")
    facts["time"] = {**facts["time"], "first_day": value}
    assert "time.first_day: must be a day" in refusal(facts)


@pytest.mark.parametrize("family", [["od"], {"od": 1}, True, 1, None, "metro"])
def test_a_family_that_is_none_is_refused(family: Any) -> None:
    facts = little_plan("od")
    facts["release_type"] = family
    assert refusal(facts) == f"release_type: must be one of {', '.join(FAMILIES)}."


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a = " + "[" * 50_000, id="deep lists"),
        pytest.param("a = " + "{b = " * 50_000, id="deep tables"),
        pytest.param("a = " + "9" * 5_000, id="a number of thousands of digits"),
        pytest.param("a = '" + "x" * 1_000_000 + "'", id="giant"),
        pytest.param("a = 1\x00", id="a character 0"),
    ],
)
def test_a_plan_that_is_a_bomb_is_one_clear_error(tmp_path: Path, text: str) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(text, encoding="utf-8")
    with pytest.raises(PlanError) as caught:
        load_plan(plan)
    assert len(str(caught.value)) < 500
    assert caught.value.advice


def test_a_plan_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "plan.toml")
    with pytest.raises(PlanError, match=r"plan\.toml cannot be read"):
        load_plan(tmp_path / "plan.toml")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_public_file_that_is_not_there_is_named_with_its_option(
    family: str, tmp_path: Path
) -> None:
    write_little_files(tmp_path)
    facts, table = little_plan(family), material_of(family).PUBLIC
    facts[table]["file"] = "missing.csv"
    assert f"{table}.file: there is no file {tmp_path / 'missing.csv'}" in refusal(facts, tmp_path)


def test_all_files_that_are_not_there_are_named_at_once(tmp_path: Path) -> None:
    write_little_files(tmp_path)
    facts = little_plan("od")
    # No feature uses it: nothing else would ever look for it.
    facts["places"]["pairs"] = "pairs.csv"
    facts["release"]["signing_key"] = "key.pem"
    said = refusal(facts, tmp_path)
    assert "places.pairs: there is no file" in said
    assert "release.signing_key: there is no file" in said
    assert "places.file" not in said


def test_a_timetable_that_is_not_there_is_missed(tmp_path: Path) -> None:
    write_little_files(tmp_path)
    facts = little_plan("sequences")
    facts["taxonomy"] = {"gtfs": "feed.zip"}
    assert "taxonomy.gtfs: there is no file" in refusal(facts, tmp_path)


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    write_little_files(tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    facts = little_plan("od")
    facts["places"]["file"] = "pipe.csv"
    assert "places.file" in refusal(facts, tmp_path)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_plan_whose_files_are_there_becomes_a_job(family: str, tmp_path: Path) -> None:
    write_little_files(tmp_path)
    assert prepare(plan_from(little_plan(family), folder=tmp_path)).geography.size
