"""`hushway init`: a first plan from a header, and never from a row."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from hushway.cli import init as module
from hushway.cli.verbs import app
from hushway.errors import HushwayError, PlanError
from hushway.families.load import load_plan, prepare
from support.little_plans import (
    FAMILIES,
    little_plan,
    material_of,
    rows_file,
    write_little_files,
)

WINDOW = (
    *("--zone", "Europe/Lisbon", "--first-day", "2026-03-02", "--last-day", "2026-03-02"),
    *("--epsilon", "1"),
)
HEADER = "rider,origin,destination,departed_at"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: object, answers: str = "") -> Result:
    return CliRunner().invoke(app, ["init", *(str(word) for word in words)], input=answers)


def public(family: str) -> tuple[str, str]:
    table = material_of(family).PUBLIC
    return f"--{table}", little_plan(family)[table]["file"]


@pytest.mark.parametrize("family", FAMILIES)
def test_with_all_facts_given_the_plan_can_be_prepared(folder: Path, family: str) -> None:
    write_little_files(folder)
    means = getattr(material_of(family), "INIT_OPTIONS", ())
    done = run(rows_file(family), *means, *public(family), *WINDOW, "--yes")
    assert done.exit_code == 0, done.output
    assert "set them" not in done.output
    plan = load_plan(folder / "plan.toml")
    assert plan.release_type == family
    assert plan.ledger.period == "2026-03"
    prepare(plan)


def test_what_rows_say_changes_nothing(folder: Path) -> None:
    plans = []
    contents = (
        b"",
        b"p1,a,b,2026-03-02T10:00:00\n",
        b"p9,z,y,1999-12-31T23:00:00\n" * 500,
        b"\x00\xff garbage",
    )
    for rows in contents:
        (folder / "trips.csv").write_bytes(f"{HEADER}\n".encode() + rows)
        assert run("trips.csv", "--yes").exit_code == 0
        plans.append((folder / "plan.toml").read_bytes())
        (folder / "plan.toml").unlink()
    assert len(set(plans)) == 1
    assert b"1999" not in plans[0]


def test_what_nobody_said_is_marked_and_such_a_plan_is_refused(folder: Path) -> None:
    (folder / "trips.csv").write_text(f"{HEADER}\n", encoding="utf-8")
    done = run("trips.csv", "--yes")
    assert "places.file, time.zone, time.first_day, time.last_day, ledger.period" in " ".join(
        done.output.split()
    )
    facts = tomllib.loads((folder / "plan.toml").read_text(encoding="utf-8"))
    assert facts["data"]["columns"] == {
        "person": "rider",
        "origin": "origin",
        "destination": "destination",
        "time": "departed_at",
    }
    # Comments are what a first plan is for.
    assert ": measures how many trips people make" in (folder / "plan.toml").read_text(
        encoding="utf-8"
    )
    with pytest.raises(PlanError, match=r"time\.first_day: must be a day"):
        load_plan(folder / "plan.toml")


def test_without_people_single_trips_are_protected(folder: Path) -> None:
    write_little_files(folder)
    (folder / "trips.csv").write_text("origin,destination,time\n", encoding="utf-8")
    assert run("trips.csv", *public("od"), *WINDOW, "--yes").exit_code == 0
    plan = load_plan(folder / "plan.toml")
    assert not plan.privacy.unit.has_many_records
    prepare(plan)


def test_times_with_a_zone_are_instants(folder: Path) -> None:
    moment = datetime(2026, 3, 2, tzinfo=UTC)
    rows = {"card": ["a"], "stop_id": ["x"], "tap_time": [moment]}
    pq.write_table(pa.table(rows), folder / "taps.parquet")
    assert run("taps.parquet", "--yes").exit_code == 0
    facts = tomllib.loads((folder / "plan.toml").read_text(encoding="utf-8"))
    assert (facts["release_type"], facts["data"]["clock"]) == ("sequences", "utc")


def test_events_that_name_towers_need_their_list(folder: Path) -> None:
    (folder / "calls.csv").write_text("subscriber,Tower ID,time,lon,lat\n", encoding="utf-8")
    assert run("calls.csv", "--type", "density", "--places", "t.csv", "--yes").exit_code == 0
    facts = tomllib.loads((folder / "plan.toml").read_text(encoding="utf-8"))
    assert facts["data"]["columns"] == {
        "person": "subscriber",
        "place": "Tower ID",
        "time": "time",
    }
    assert facts["places"]["file"] == "t.csv"


def test_a_person_at_a_terminal_is_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "mine.csv").write_text("who,start_place,end_place,when\n", encoding="utf-8")
    monkeypatch.setattr(module, "can_ask", lambda: True)
    # The type, three columns, the places, the window; nothing for the last day.
    answers = "od\nstart_place\nend_place\nwhen\nplaces.csv\nEurope/Lisbon\n2026-03-02\n\n"
    done = run("mine.csv", "--person", "who", "--set", "time.minutes=30", answers=answers)
    assert done.exit_code == 0, done.output
    facts = tomllib.loads((folder / "plan.toml").read_text(encoding="utf-8"))
    assert facts["data"]["columns"]["origin"] == "start_place"
    assert facts["time"]["minutes"] == 30
    assert facts["time"]["zone"] == "Europe/Lisbon"
    assert facts["time"]["last_day"] == "SET-THIS"


def test_paths_are_taken_from_the_plans_folder(folder: Path) -> None:
    (folder / "plans").mkdir()
    (folder / "trips.csv").write_text(f"{HEADER}\n", encoding="utf-8")
    run("trips.csv", "--yes", "--output", "plans/a.toml", "--places", "places.csv")
    facts = tomllib.loads((folder / "plans" / "a.toml").read_text(encoding="utf-8"))
    assert facts["data"]["trips"] == "../trips.csv"
    assert facts["places"]["file"] == "../places.csv"


@pytest.mark.parametrize(
    ("header", "options", "words"),
    [
        ("a,b", (), "do not tell which release type"),
        ("a,b", ("--type", "od"), "the origin or the destination or the time"),
        (HEADER, ("--person", "nobody"), "no column of the name that was given for person"),
        (HEADER, ("--lon", "origin"), "have no lon"),
        (HEADER, ("--roads", "r"), "have no option roads.file"),
        (HEADER, ("--set", "time.hours=3"), "have no option time.hours"),
        (HEADER, ("--set", "minutes"), "does not set an option"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    folder: Path, header: str, options: tuple[str, ...], words: str
) -> None:
    (folder / "trips.csv").write_text(f"{header}\n", encoding="utf-8")
    done = run("trips.csv", "--yes", *options)
    assert isinstance(done.exception, HushwayError)
    assert words in str(done.exception)
    assert not (folder / "plan.toml").exists()


def test_a_plan_that_is_there_is_never_replaced(folder: Path) -> None:
    (folder / "trips.csv").write_text(f"{HEADER}\n", encoding="utf-8")
    (folder / "plan.toml").write_text("mine", encoding="utf-8")
    assert "exists already" in str(run("trips.csv", "--yes").exception)
    assert (folder / "plan.toml").read_text(encoding="utf-8") == "mine"
