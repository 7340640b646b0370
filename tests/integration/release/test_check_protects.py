"""A check that protects: nothing is spent on rows that mostly cannot be counted."""

import csv
import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hushway.families.load import load_plan, prepare
from hushway.release.job import settings_of
from support.little_plans import FAMILIES
from support.long import often
from support.scene import PLAN, Scene

FAMILIES_WITH_POSITIONS = ("density", "links")


@pytest.fixture
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Scene:
    return Scene.prepared(tmp_path / "scene", request.param)


def change_rows(scene: Scene, change: Callable[[int, dict[str, str]], object]) -> None:
    """Changes rows in place, each given with its number."""
    with scene.rows.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        change(number, row)
    with scene.rows.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def found(scene: Scene, capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capfd.readouterr()
    scene.run("check", "--json")
    answer: dict[str, Any] = json.loads(capfd.readouterr().out)
    return answer


def kinds(answer: dict[str, Any]) -> dict[str, str]:
    return {problem["kind"]: problem["severity"] for problem in answer["problems"]}


@pytest.mark.parametrize("scene", often(FAMILIES, first=2), indirect=True)
def test_a_plan_for_the_wrong_year_is_refused_with_the_dates_found_and_costs_nothing(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.say("time.first_day", "2025-03-02")
    scene.say("time.last_day", "2025-03-02")
    answer = found(scene, capfd)
    assert not answer["usable"]
    assert kinds(answer)["nothing_to_count"] == "refuse"
    assert answer["found"]["kept"] == 0
    assert answer["found"]["dropped"] == answer["found"]["read"] > 0
    assert answer["found"]["times"]["first_day"] == "2026-03-02"
    assert scene.run("check") == 1
    said = " ".join(capfd.readouterr().out.split())
    assert "2026-03-02 to 2026-03-02" in said
    assert "your screen only" in said
    before = scene.files()
    assert scene.run("publish", "--yes") == 1
    refusal = capfd.readouterr().err
    assert "nothing to count" in refusal
    # Errors end up in logs and mails: what was found stays on the screen of the check.
    assert not any(letter.isdigit() for letter in refusal)
    assert scene.spent() == [0]
    assert scene.files() == before


@pytest.mark.parametrize("scene", often(FAMILIES, first=2), indirect=True)
def test_a_plan_may_say_how_much_is_dropped(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    # All but every fourth row are years late.
    def postpone(number: int, row: dict[str, str]) -> None:
        if number % 4:
            row["time"] = row["time"].replace("2026", "2031")

    change_rows(scene, postpone)
    answer = found(scene, capfd)
    assert kinds(answer)["too_many_dropped"] == "refuse"
    assert answer["found"]["kept"] * 4 == answer["found"]["read"]
    assert scene.run("publish", "--yes") == 1
    assert "too many dropped" in capfd.readouterr().err
    assert scene.spent() == [0]
    scene.say("problems.most_dropped", "3/4")
    answer = found(scene, capfd)
    assert answer["usable"]
    assert kinds(answer)["many_dropped"] == "warn"
    assert scene.run("publish", "--yes") == 0


@pytest.mark.parametrize("scene", often(FAMILIES, first=2), indirect=True)
def test_with_all_of_them_allowed_no_number_of_rows_decides(scene: Scene) -> None:
    scene.say("time.first_day", "2025-03-02")
    scene.say("time.last_day", "2025-03-02")
    scene.say("problems.most_dropped", "1")
    assert scene.run("check") == 0
    assert scene.run("publish", "--yes") == 0


@pytest.mark.parametrize("scene", FAMILIES_WITH_POSITIONS, indirect=True)
def test_swapped_longitude_and_latitude_are_told_and_refused(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    columns = scene.plan["data"].get("columns", {})
    scene.say("data.columns", {**columns, "lon": "lat", "lat": "lon"})
    answer = found(scene, capfd)
    assert kinds(answer)["swapped_position"] == "warn"
    assert answer["found"]["swapped"] == answer["found"]["read"]
    assert not answer["usable"]
    assert scene.run("publish", "--yes") == 1
    assert scene.spent() == [0]


@pytest.mark.parametrize("scene", FAMILIES_WITH_POSITIONS, indirect=True)
def test_a_swapped_public_file_is_told_and_not_the_rows(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    path = scene.folder / {"density": "areas.geojson", "links": "roads.geojson"}[scene.family]
    facts = json.loads(path.read_bytes())
    for feature in facts["features"]:
        geometry = feature["geometry"]
        geometry["coordinates"] = turned(geometry["coordinates"])
    path.write_text(json.dumps(facts), encoding="utf-8")
    answer = found(scene, capfd)
    assert kinds(answer)["swapped_places"] == "warn"
    assert "swapped_position" not in kinds(answer)
    assert scene.run("publish", "--yes") == 1
    assert scene.spent() == [0]


def turned(coordinates: list[Any]) -> list[Any]:
    """Every position the other way round, however deep it lies."""
    if isinstance(coordinates[0], list):
        return [turned(inside) for inside in coordinates]
    return coordinates[::-1]


@pytest.mark.parametrize("scene", often(FAMILIES, first=2), indirect=True)
def test_only_rows_without_any_fault_are_kept(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    before = found(scene, capfd)["found"]
    for fault in (
        {"person": ""},
        {"person": "", "time": "at eight"},
        {"time": "2031-01-01T08:00:00"},
        {"time": ""},
    ):
        scene.add_row(**fault)
    with scene.rows.open("a", encoding="utf-8") as file:
        file.write("too,few\n")
    after = found(scene, capfd)["found"]
    assert (before["kept"], before["dropped"]) == (before["read"], 0)
    assert (after["kept"], after["dropped"]) == (before["kept"], 5)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("scene", FAMILIES, indirect=True)
def test_people_and_limits_are_counted_from_rows_that_count(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    with scene.rows.open(newline="", encoding="utf-8") as file:
        people = {row["person"] for row in csv.DictReader(file)}
    scene.add_row()
    scene.add_row(person="somebody else", time="2031-01-01T08:00:00")
    answer = found(scene, capfd)["found"]
    assert answer["people"]["people"] == len(people) + 1
    assert answer["people"]["quantiles"]["most"] >= answer["people"]["quantiles"]["50%"] > 1
    options = [limit["option"] for limit in answer["limits"]]
    expected = {
        "od": ["max_trips"],
        "sequences": ["max_records", "max_stops"],
        "density": ["max_visits", "max_visits_in_total"],
        "links": ["max_items"],
    }
    assert options == expected[scene.family]


@pytest.mark.parametrize("scene", ["od"], indirect=True)
def test_a_suggestion_changes_neither_plan_nor_job(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.say("privacy.max_trips", 1)
    answer = found(scene, capfd)
    (limit,) = [one for one in answer["problems"] if one["kind"] == "limit_max_trips"]
    assert "A limit of 4 would keep 95%" in limit["message"]
    plan = (scene.folder / PLAN).read_text(encoding="utf-8")
    assert "max_trips = 1" in plan
    job = prepare(load_plan(scene.folder / PLAN))
    job.rows.check(settings_of(job.plan), notes=True)
    assert job.bound.total == 1


@pytest.mark.parametrize("scene", often(FAMILIES, first=2), indirect=True)
def test_what_a_check_finds_is_marked_and_in_nothing_that_leaves(
    scene: Scene, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    # Rows of one person that no other number of the release is.
    for _ in range(7_919):
        scene.add_row()
    answer = found(scene, capfd)
    assert "nothing of this is released" in answer["for"]
    told = {str(answer["found"]["read"]), str(answer["found"]["people"]["quantiles"]["most"])}
    assert scene.run("publish", "--yes") == 0
    said = capfd.readouterr()
    papers = ("certificate.json", "certificate.html", "datapackage.json", "label.yaml")
    texts = [(scene.folder / "release" / paper).read_text("utf-8") for paper in papers]
    scene.run("ledger show")
    ledger = capfd.readouterr().out
    for number in told:
        assert len(number) == 4
        # As a number of its own: digests and pictures hold any four digits by chance.
        whole = re.compile(rf"(?<![\w+/])({number}|{int(number):,})(?![\w+/])")
        for text in (*texts, said.out, said.err, ledger, caplog.text):
            assert not whole.search(text)


@pytest.mark.parametrize("scene", FAMILIES, indirect=True)
def test_missing_public_files_and_missing_columns_are_said_at_once(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    public = {"od": "places", "sequences": "places", "density": "areas", "links": "roads"}
    scene.say(f"{public[scene.family]}.file", "nowhere.geojson")
    scene.say("data.columns", {**scene.plan["data"].get("columns", {}), "time": "moment"})
    assert scene.run("check") == 1
    said = capfd.readouterr().err
    assert f"{public[scene.family]}.file: there is no file" in said
    assert f"{scene.rows.name} has no column 'moment'" in said
