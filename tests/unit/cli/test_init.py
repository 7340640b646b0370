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
from hushway.families.od.plan import ODPlan
from hushway.release.plans.missing import refuse_missing
from support.little_plans import FAMILIES, little_plan, material_of, rows_file, write_little_files

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


@pytest.mark.parametrize(
    ("codec", "told"), [("utf-8-sig", "utf-8"), ("utf-16", "utf-16"), ("latin-1", "windows-1252")]
)
def test_the_encoding_is_told_from_the_first_line(folder: Path, codec: str, told: str) -> None:
    write_little_files(folder)
    (folder / "rows.csv").write_bytes(f"{HEADER},Título\n".encode(codec))
    done = run("rows.csv", *public("od"), *WINDOW, "--yes")
    assert done.exit_code == 0, done.output
    assert (f"read as {told}" in done.output) == (told != "utf-8")
    plan = load_plan(folder / "plan.toml")
    assert isinstance(plan, ODPlan)
    assert plan.data.encoding == told


def test_letters_of_rows_do_not_decide_and_an_unknown_encoding_is_refused(folder: Path) -> None:
    write_little_files(folder)
    (folder / "rows.csv").write_bytes(f"{HEADER}\np,é,b,x\n".encode("latin-1"))
    assert "There is no such encoding" in str(run("rows.csv", "--encoding", "klingon").exception)
    assert run("rows.csv", *public("od"), *WINDOW, "--yes").exit_code == 0
    assert '# encoding = "windows-1252"' in (folder / "plan.toml").read_text("utf-8")


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


def test_single_trips_are_protected_only_if_somebody_says_so(folder: Path) -> None:
    write_little_files(folder)
    (folder / "trips.csv").write_text("Card Ref No,origin,destination,time\n", encoding="utf-8")
    done = run("trips.csv", *public("od"), *WINDOW, "--yes")
    assert "No column says whose rows they are" in str(done.exception)
    assert not (folder / "plan.toml").exists()
    done = run("trips.csv", *public("od"), *WINDOW, "--yes", "--unit", "trip")
    assert "NOT a person" in done.output
    plan = load_plan(folder / "plan.toml")
    assert not plan.privacy.unit.has_many_records
    prepare(plan)


@pytest.mark.parametrize(
    ("column", "unit"),
    [("card", "device"), ("Card Ref", "device"), ("vehicle_id", "device"), ("Rider", "person")],
)
def test_ids_of_cards_are_not_taken_for_people(folder: Path, column: str, unit: str) -> None:
    (folder / "trips.csv").write_text(f"{column},origin,destination,time\n", encoding="utf-8")
    done = run("trips.csv", "--yes")
    facts = tomllib.loads((folder / "plan.toml").read_text(encoding="utf-8"))
    assert facts["privacy"]["unit"] == unit
    assert f"One {unit} is protected" in done.output


def test_names_of_columns_in_other_languages_are_told(folder: Path) -> None:
    header = "Kartennr;Starthaltestelle;Zielhaltestelle;Abfahrt;Preis\n"
    (folder / "fahrten.csv").write_text(header, encoding="utf-8")
    (folder / "orte.csv").write_bytes("Haltestelle;Länge;Breite\n".encode("latin-1"))
    assert run("fahrten.csv", "--places", "orte.csv", *WINDOW, "--yes").exit_code == 0
    facts = tomllib.loads((folder / "plan.toml").read_text(encoding="utf-8"))
    assert facts["privacy"]["unit"] == "device"
    assert list(facts["data"]["columns"].values()) == header.strip().split(";")[:4]
    # Places that have no ids are told by their names.
    places = {"id": "Haltestelle", "name": "Haltestelle", "lon": "Länge", "lat": "Breite"}
    assert facts["places"]["columns"] == places


@pytest.mark.parametrize(
    ("wrong", "words"),
    [("time.minutes=-3", "time.minutes"), ("privacy.epsilon=-1", "privacy.epsilon")],
)
def test_a_plan_that_describes_no_release_is_not_written(
    folder: Path, wrong: str, words: str
) -> None:
    (folder / "trips.csv").write_text(f"{HEADER}\n", encoding="utf-8")
    (folder / "list.csv").write_text("id,lon,lat\n", encoding="utf-8")
    done = run("trips.csv", "--places", "list.csv", *WINDOW, "--yes", "--set", wrong)
    assert words in str(done.exception)
    assert not (folder / "plan.toml").exists()


def test_a_column_of_places_that_no_name_tells_is_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "trips.csv").write_text(f"{HEADER}\n", encoding="utf-8")
    (folder / "list.csv").write_text("key,east,lat\n", encoding="utf-8")
    words = ("trips.csv", "--places", "list.csv", *WINDOW)
    told = str(run(*words, "--yes").exception)
    assert "by its name to be the id: it has key, east, lat" in told
    assert not (folder / "plan.toml").exists()
    monkeypatch.setattr(module, "can_ask", lambda: True)
    for means, answers in (
        (("--set", "places.columns.id=key", "--set", "places.columns.lon=east", "--yes"), ""),
        (("--unit", "person", "--time-format", "epoch_s"), "key\neast\n\n\n\n"),
    ):
        done = run(*words, *means, answers=answers)
        assert done.exit_code == 0, done.output
        facts = tomllib.loads((folder / "plan.toml").read_text(encoding="utf-8"))
        assert facts["places"]["columns"] == {"id": "key", "lon": "east", "lat": "lat"}
        (folder / "plan.toml").unlink()


def test_trips_with_points_need_areas_and_no_places(folder: Path) -> None:
    header = "rider,started_at,start_lng,start_lat,end_lng,end_lat"
    (folder / "rides.csv").write_text(f"{header}\n", encoding="utf-8")
    assert run("rides.csv", "--areas", "zones.geojson", *WINDOW, "--yes").exit_code == 0
    facts = tomllib.loads((folder / "plan.toml").read_text(encoding="utf-8"))
    assert facts["places"]["areas"] == "zones.geojson"
    assert "file" not in facts["places"]
    assert facts["data"]["columns"]["destination_lon"] == "end_lng"
    load_plan(folder / "plan.toml")


def test_columns_of_a_list_of_places_are_told_by_their_names(folder: Path) -> None:
    (folder / "trips.csv").write_text(f"{HEADER}\n", encoding="utf-8")
    (folder / "stops.txt").write_text("stop_id,stop_name,stop_lat,stop_lon\n", encoding="utf-8")
    assert run("trips.csv", "--places", "stops.txt", *WINDOW, "--yes").exit_code == 0
    facts = tomllib.loads((folder / "plan.toml").read_text(encoding="utf-8"))
    assert facts["places"]["columns"] == {
        "id": "stop_id",
        "name": "stop_name",
        "lon": "stop_lon",
        "lat": "stop_lat",
    }


@pytest.mark.parametrize(
    ("written", "options"),
    [
        ("16/11/2009 07:45", {"time_format": "%d/%m/%Y %H:%M"}),
        ("11/16/2009 7:45 PM", {"time_format": "%m/%d/%Y %I:%M %p"}),
        ("16-Nov-09 07:45", {"time_format": "%d-%b-%y %H:%M"}),
        ("1258361100", {"time_format": "epoch_s", "clock": "utc"}),
        ("epoch_ms", {"time_format": "epoch_ms", "clock": "utc"}),
        ("2009-11-16T07:45:00Z", {"clock": "utc"}),
        ("2009-11-16T07:45", {}),
    ],
)
def test_an_example_says_how_times_are_written(
    folder: Path, written: str, options: dict[str, str]
) -> None:
    (folder / "trips.csv").write_text(f"{HEADER}\n", encoding="utf-8")
    assert run("trips.csv", "--yes", "--time-format", written).exit_code == 0
    facts = tomllib.loads((folder / "plan.toml").read_text(encoding="utf-8"))
    assert {"clock": "local", **options}.items() <= facts["data"].items()
    assert ("time_format" in facts["data"]) == ("time_format" in options)


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
    assert facts["data"]["columns"] == {"person": "subscriber", "place": "Tower ID", "time": "time"}
    assert facts["places"]["file"] == "t.csv"


def test_what_is_still_to_be_set_is_not_called_a_missing_file(folder: Path) -> None:
    (folder / "cdr.csv").write_text("IMSI_HASH,CELL_ID,TS_MS\n", encoding="utf-8")
    (folder / "towers.csv").write_text("cell_id,longitude,latitude\n", encoding="utf-8")
    assert run("cdr.csv", "--places", "towers.csv", *WINDOW, "--yes").exit_code == 0
    plan = load_plan(folder / "plan.toml")
    assert (plan.release_type, plan.privacy.unit) == ("density", "device")
    with pytest.raises(PlanError, match=r"areas\.file: still to be set"):
        refuse_missing(plan, rows=False)


def test_a_person_at_a_terminal_is_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "mine.csv").write_text("who,start_place,end_place,when\n", encoding="utf-8")
    monkeypatch.setattr(module, "can_ask", lambda: True)
    (folder / "places.csv").write_text("id,lon,lat\n", encoding="utf-8")
    answers = [
        *("od", "when", "start_place", "ende", "end_place"),
        *("person", "05/06/2009 7:45", "%d/%m/%Y %H:%M"),
        *("nowhere.csv", "places.csv", "Lisbon", "Europe/Lisbon", "16/11/2009", "2026-03-02", ""),
        *("City of Example", "", "A. Person"),
    ]
    asked = "\n".join([*answers, ""])
    done = run("mine.csv", "--person", "who", "--set", "time.minutes=30", answers=asked)
    assert done.exit_code == 0, done.output
    assert "One of: who, start_place, end_place, when" in " ".join(done.output.split())
    for refused in ("Choose one of", "there is no file nowhere.csv", "no time zone", "no day"):
        assert refused in " ".join(done.output.split())
    facts = tomllib.loads((folder / "plan.toml").read_text(encoding="utf-8"))
    assert facts["data"]["columns"]["origin"] == "start_place"
    assert facts["time"]["minutes"] == 30
    assert facts["data"]["time_format"] == "%d/%m/%Y %H:%M"
    assert facts["time"]["zone"] == "Europe/Lisbon"
    assert facts["time"]["last_day"] == "SET-THIS"
    assert facts["release"]["publisher"] == "City of Example"
    assert facts["release"]["approver"] == "A. Person"
    assert "intended_use" not in facts["release"]


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
        ("a,b", ("--type", "od", "--person", "a"), "the time or the origin or the destination"),
        (HEADER, ("--first-day", "16/11/2009"), "it is no day"),
        (HEADER, ("--zone", "Lisbon"), "it is no time zone"),
        (HEADER, ("--unit", "household"), "no such unit"),
        (HEADER, ("--time-format", "05/06/2009 7:45"), "may be read in several ways"),
        (HEADER, ("--time-format", "yesterday"), "neither a time"),
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
