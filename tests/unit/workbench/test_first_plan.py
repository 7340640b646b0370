"""A folder with rows and no plan: files are listed and taken, and questions lead to a plan."""

import stat
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from hushway.families.first_plan import still_to_set
from hushway.families.load import load_plan, prepare
from hushway.workbench import data_files
from hushway.workbench.first_plan import ask_or_write
from hushway.workbench.worker_events import EventWriter
from hushway.workbench.worker_tasks import TASKS
from support.little_bench import OURS, Steward, steward_of
from support.little_plans import write_little_files
from support.messy_files import MESSY, Messy, write_messy
from support.scene import PLAN, Scene

ROWS = "Card Ref,From,To,Start\nc1,a,b,03/02/2026 07:45\n"
ANSWERS = (
    ("with the time", "Start"),
    ("one person, or one device", "device"),
    ("A time as the file writes it", "03/02/2026 07:45"),
    ("day/month or month/day", "%d/%m/%Y %H:%M"),
    ("public list of places", "places.csv"),
    ("time zone", "Europe/Lisbon"),
    ("first day", "2026-03-02"),
    ("last day", "2026-03-02"),
    ("publishes", "City of Example"),
    ("What it is for", ""),
    ("answers for it", ""),
)


def begun(steward: Steward, *answers: str) -> Any:
    body = {"rows": "metro.csv", "answers": list(answers)}
    return steward.client.post("/api/begin", json=body, headers=OURS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_little_files(tmp_path)
    (tmp_path / "metro.csv").write_text(ROWS, encoding="utf-8")
    return tmp_path


def test_files_are_listed_with_their_columns_and_what_they_are_taken_for(folder: Path) -> None:
    with steward_of(folder) as steward:
        assert steward.plans == []
        listed = {file["name"]: file for file in steward.client.get("/api/data").json()}
    assert listed["metro.csv"]["columns"] == ["Card Ref", "From", "To", "Start"]
    assert listed["metro.csv"]["roles"] == {
        "Card Ref": "person",
        "From": "origin",
        "To": "destination",
    }
    assert "c1" not in str(listed)
    assert "ledger.db" not in listed


def test_every_question_follows_from_the_answers_before_it(folder: Path) -> None:
    with steward_of(folder) as steward:
        for number, (words, _) in enumerate(ANSWERS):
            answers = [answer for _, answer in ANSWERS[:number]]
            assert words in begun(steward, *answers).json()["question"]["text"]
            assert not (folder / "plan.toml").exists()
        done = begun(steward, *(answer for _, answer in ANSWERS)).json()["plan"]
        assert (done["name"], done["problems"], done["missing"]) == ("plan.toml", [], [])
    plan = load_plan(folder / "plan.toml")
    assert plan.privacy.unit == "device"
    prepare(plan, rows=True)


def test_an_answer_that_cannot_be_taken_is_refused_and_nothing_is_written(folder: Path) -> None:
    with steward_of(folder) as steward:
        for wrong in ("no such column", "../metro.csv"):
            refused = begun(steward, wrong)
            assert refused.status_code == 422
            assert "Choose one of" in refused.json()["message"]
        before = [answer for _, answer in ANSWERS[:4]]
        assert begun(steward, *before, "../places.csv").status_code == 404
    assert not (folder / "plan.toml").exists()


def test_a_dropped_file_is_taken_whole_for_its_owner_alone_and_never_over_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_files, "MOST_FILE_BYTES", 100)
    with steward_of(tmp_path) as steward:

        def put(name: str, content: bytes, **headers: str) -> int:
            path = f"/api/data/{name}"
            return steward.client.put(
                path, content=content, headers={**OURS, **headers}
            ).status_code

        assert put("my rows.csv", ROWS.encode()) == 201
        assert put("my rows.csv", b"other") == 409
        assert put("large.csv", bytes(200)) == 413
        assert put("plan.toml", b"") == 422
        assert put(".hidden.csv", b"") == 422
        assert put("more.csv", b"", Origin="http://evil.example") == 403
    (taken,) = tmp_path.iterdir()
    assert taken.read_bytes() == ROWS.encode()
    assert stat.S_IMODE(taken.stat().st_mode) == 0o600


def test_a_plan_is_not_in_order_where_columns_are_missing(folder: Path) -> None:
    with steward_of(folder) as steward:
        begun(steward, *(answer for _, answer in ANSWERS))
        (folder / "metro.csv").write_text("Card Ref,From,To,Began\n", encoding="utf-8")
        shown = steward.client.get(f"/api/plans/{steward.plan}")
    assert shown.json()["problems"] == []
    (missing,) = shown.json()["missing"]
    assert missing == "data.columns.time: metro.csv has no column 'Start'"
    assert str(folder) not in shown.text


def test_a_check_writes_names_that_are_not_listed_for_the_plan_to_read(tmp_path: Path) -> None:
    scene = Scene.written(tmp_path / "city", "od")
    scene.add_row(origin="Aa.")
    plan = scene.folder / PLAN
    silent = EventWriter(StringIO(), outlives_server=False)
    TASKS["check"](plan, {"aliases": True}, silent)
    assert "Aa.," in (scene.folder / "aliases.csv").read_text("utf-8")
    assert 'aliases = "aliases.csv"' in plan.read_text("utf-8")
    TASKS["check"](plan, {"aliases": True}, silent)
    assert 'aliases = "aliases2.csv"' in plan.read_text("utf-8")


@pytest.mark.parametrize("messy", MESSY, ids=lambda one: one.name)
def test_messy_files_need_no_more_than_their_answers(tmp_path: Path, messy: Messy) -> None:
    write_messy(tmp_path, messy)
    answers = list(messy.answers)
    assert isinstance(ask_or_write(tmp_path, messy.name, answers[:-1]), dict)
    file = ask_or_write(tmp_path, messy.name, answers)
    assert isinstance(file, Path)
    assert still_to_set(file.read_text("utf-8")) == []
    (tmp_path / "trips2.csv").write_text(ROWS, encoding="utf-8")
    again = ask_or_write(tmp_path, "trips2.csv", [answer for _, answer in ANSWERS])
    assert isinstance(again, Path)
    # Two plans of a folder never mean the same release.
    assert load_plan(again).release.folder != load_plan(file).release.folder
