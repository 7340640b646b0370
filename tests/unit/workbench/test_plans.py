"""Plans in the browser: shown, edited with their comments, and written only over what was seen."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import PlanError
from hushway.families.registry import FAMILIES
from hushway.steward.plan_edit import edited
from hushway.workbench.plan_folder import PlanFolders
from hushway.workbench.plan_text import read_plan
from support import monthly
from support.little_bench import HEAD, OURS, Steward, steward_of, write_plan


def test_plans_in_a_folder_and_below_it_are_known_and_other_files_are_not(tmp_path: Path) -> None:
    write_plan(tmp_path)
    (tmp_path / "below").mkdir()
    write_plan(tmp_path / "below", "other.toml")
    (tmp_path / "network.toml").write_text('hubs = ["a"]\n', encoding="utf-8")
    (tmp_path / "broken.toml").write_text('release_type = "od"\n[', encoding="utf-8")
    (tmp_path / ".hidden.toml").write_text('release_type = "od"\n', encoding="utf-8")
    with steward_of(tmp_path) as steward:
        found = {plan["name"]: plan["release_type"] for plan in steward.plans}
    assert found == {"broken.toml": None, "plan.toml": "od", "below/other.toml": "od"}


def test_a_plan_that_is_named_is_known_whatever_is_in_it(tmp_path: Path) -> None:
    file = tmp_path / "empty.toml"
    file.touch()
    assert [plan.name for plan in PlanFolders([file]).plans()] == ["empty.toml"]


def test_what_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no plan or folder"):
        PlanFolders([tmp_path / "none"])


def test_a_plan_is_shown_with_its_values_and_no_path_of_the_machine(
    steward: Steward, plan: Path
) -> None:
    response = steward.client.get(f"/api/plans/{steward.plan}")
    shown = response.json()
    assert shown["text"] == plan.read_text("utf-8")
    assert shown["facts"]["privacy"]["epsilon"] == "1"
    assert shown["problems"] == []
    assert shown["release_type"] == "od"
    assert shown["published"] is False
    assert str(plan.parent) not in response.text + steward.client.get("/api/state").text


@pytest.mark.parametrize("name", ["..", "%2e%2e", "plan.toml", "..%2fplan.toml", "0" * 16])
def test_a_plan_is_known_by_its_id_alone(steward: Steward, name: str) -> None:
    for path in ("", "/ledger", "/certificate", "/certificate.html"):
        assert steward.client.get(f"/api/plans/{name}{path}").status_code == 404


def test_a_text_is_written_only_over_the_one_that_was_edited(steward: Steward, plan: Path) -> None:
    plan.chmod(0o640)
    address = f"/api/plans/{steward.plan}"
    shown = steward.client.get(address).json()
    text = shown["text"].replace('epsilon = "1"', 'epsilon = "2"')
    change = {"text": text, "revision": shown["revision"]}
    written = steward.client.put(address, json=change, headers=OURS)
    assert written.status_code == 200
    assert written.json()["facts"]["privacy"]["epsilon"] == "2"
    assert plan.read_text("utf-8") == text
    assert stat.S_IMODE(plan.stat().st_mode) == 0o640
    again = steward.client.put(address, json=change, headers=OURS)
    assert again.status_code == 409
    assert "meanwhile" in again.json()["message"]
    assert sorted(file.name for file in plan.parent.iterdir() if "partial" in file.name) == []


def test_what_is_no_plan_yet_can_be_kept_and_says_what_is_wrong(
    steward: Steward, plan: Path
) -> None:
    address = f"/api/plans/{steward.plan}"
    for text, problem in [
        ('release_type = "od"\n[', "not TOML"),
        ('release_type = "od"\n', "is missing"),
        ('release_type = "none"\n', "must be one of"),
        ("a = " + "[" * 5000, "lists in lists"),
    ]:
        revision = steward.client.get(address).json()["revision"]
        body = {"text": text, "revision": revision}
        shown = steward.client.put(address, json=body, headers=OURS).json()
        assert any(problem in one for one in shown["problems"]), shown
        assert plan.read_text("utf-8") == text


def test_a_series_is_read_at_the_step_that_it_names(tmp_path: Path) -> None:
    text = monthly.plan_with({"[series]": '[series]\nthis = "2026-03"'})
    read = read_plan(text, folder=tmp_path)
    assert read.problems == ()
    assert read.plan is not None
    assert read.plan.release.folder == "releases/2026-03"
    assert read_plan(monthly.PLAN, folder=tmp_path).problems == (
        "The plan is a series, and no step is named.",
    )


def test_a_new_plan_is_a_template_and_takes_no_other_files_place(
    steward: Steward, plan: Path
) -> None:
    def add(name: str, release_type: str = "density") -> Any:
        body = {"name": name, "release_type": release_type}
        return steward.client.post("/api/plans", json=body, headers=OURS)

    made = add("new.toml")
    assert made.status_code == 201
    assert made.json()["text"] == FAMILIES["density"].template
    assert (plan.parent / "new.toml").is_file()
    assert {one["name"] for one in steward.plans} == {"new.toml", "plan.toml"}
    assert add("new.toml").status_code == 409
    assert add("plan.toml").status_code == 409
    assert add("other.toml", "none").status_code == 422
    for name in ("../out.toml", "a/b.toml", ".toml", "x.txt", "", "a\0.toml", "é.toml", "c:x.toml"):
        assert add(name).status_code == 422
    assert not (plan.parent.parent / "out.toml").exists()


def test_a_link_to_a_plan_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    file = write_plan(tmp_path / "real")
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    with steward_of(link) as steward:
        address = f"/api/plans/{steward.plan}"
        shown = steward.client.get(address).json()
        body = {"text": shown["text"] + "# more\n", "revision": shown["revision"]}
        assert steward.client.put(address, json=body, headers=OURS).status_code == 200
    assert os.path.islink(link)  # noqa: PTH114  of the link itself
    assert file.read_text("utf-8").endswith("# more\n")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["privacy", "epsilon"], "0.25"),
        (["privacy", "delta"], "1e-7"),
        (["time", "first_day"], "2026-01-05"),
        (["release", "title"], 'A "title" # with\nüé'),
        (["engine", "threads"], 2),
        (["release", "publisher"], "City"),
        (["nobody", "knows"], [1, 2]),
        (["data", "columns", "nobody"], "x"),
    ],
)
def test_a_value_is_set_and_every_comment_stays(family: str, path: list[str], value: Any) -> None:
    template = FAMILIES[family].template
    changed = edited(template, path, value)
    found: Any = read_plan(changed, folder=Path()).facts
    for name in path:
        found = found[name]
    assert (found.isoformat() if path[-1] == "first_day" else found) == value
    assert all(words in changed for words in _explained(template))
    kept = read_plan(edited(changed, path, None), folder=Path()).facts
    assert kept is not None
    assert path[-1] not in _at(kept, path[:-1])


def test_what_is_set_stands_with_its_table_and_not_with_the_next(plan: Path) -> None:
    text = "[a]\nx = 1\n\n# About b.\n[b]\ny = 2\n"
    assert edited(text, ["a", "z"], 3) == "[a]\nx = 1\nz = 3\n\n# About b.\n[b]\ny = 2\n"
    assert HEAD in edited(plan.read_text("utf-8"), ["privacy", "epsilon"], "3")


@pytest.mark.parametrize(
    "change",
    [
        {"path": [], "value": 1},
        {"path": [""], "value": 1},
        {"path": ["privacy", "epsilon", "deeper"], "value": 1},
        {"path": ["x"] * 9, "value": 1},
        {"path": "privacy", "value": 1},
        {"path": [1], "value": 1},
        {"path": ["a"], "value": 1, "text": "["},
        {"path": ["a"], "value": 1, "text": 5},
        {"path": ["a"], "value": 1, "text": "\ud800"},
    ],
)
def test_an_impossible_change_is_refused_in_a_sentence(
    steward: Steward, plan: Path, change: dict[str, Any]
) -> None:
    body = json.dumps({"text": plan.read_text("utf-8")} | change)
    response = steward.client.post(f"/api/plans/{steward.plan}/edit", content=body, headers=OURS)
    assert response.status_code == 422
    assert response.json()["advice"]


def test_an_edit_answers_and_writes_nothing(steward: Steward, plan: Path) -> None:
    before = plan.read_text("utf-8")
    body = {"text": before, "path": ["privacy", "epsilon"], "value": "-1"}
    found = steward.client.post(f"/api/plans/{steward.plan}/edit", json=body, headers=OURS).json()
    assert found["facts"]["privacy"]["epsilon"] == "-1"
    assert any("greater than 0" in problem for problem in found["problems"])
    assert plan.read_text("utf-8") == before


def test_every_release_type_has_a_schema(steward: Steward) -> None:
    for family in FAMILIES:
        schema = steward.client.get(f"/api/schema/{family}").json()
        assert "privacy" in schema["properties"]
    assert steward.client.get("/api/schema/none").status_code == 422


def _explained(text: str) -> list[str]:
    """Returns what stands behind the last # of every line."""
    return [line.rpartition("# ")[2] for line in text.split("\n") if " # " in line]


def _at(facts: Any, path: list[str]) -> Any:
    for name in path:
        facts = facts.get(name, {})
    return facts
