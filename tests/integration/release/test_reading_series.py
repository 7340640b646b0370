"""Releases of one city read as a series: by command and by Python, with the same answers."""

import csv
import json
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from frictionless import Package
from rdflib import RDF, Graph, Namespace, URIRef
from typer.testing import CliRunner

import hushway
from hushway.cli.app import app
from hushway.errors import ReleaseError
from hushway.families.load import load_plan
from hushway.steward.facts import series_facts
from support.monthly import PLAN, RIDERS, publish_months

BASE = "https://city.example/series/"


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish_months(tmp_path_factory.mktemp("series"))


def by_command(*words: object) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["ask", *map(str, words), "--json"], catch_exceptions=False)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_steps_are_in_order_and_those_that_are_missing_are_named(city: Path) -> None:
    series = hushway.series([city / step for step in reversed(RIDERS)])
    assert series.steps == tuple(RIDERS)
    assert series.missing == ("2026-02",)
    assert repr(series) == "Series(4 months, 2025-12 to 2026-04, without 2026-02)"
    assert hushway.series(city).steps == series.steps
    assert series.releases["2026-01"].folder == city / "2026-01"


def test_months_add_up_and_say_what_is_not_in_them(city: Path) -> None:
    series = hushway.series(city)
    months = series.sum()
    for month, riders in zip(months, RIDERS.values(), strict=True):
        assert month.value == series.releases[month.label].sum().value
        assert month.low <= riders <= month.high
    _, first, second = series.sum(by="quarter")
    assert first.steps == ("2026-01", "2026-03")
    assert first.missing == ("2026-02",)
    assert first.value == months[1].value + months[2].value
    assert second.label == "2026-Q2, 1 of 3 months"
    # Cells as they were measured have errors of noise alone, which steps do not share.
    assert first.standard_error < months[1].standard_error + months[2].standard_error


def test_places_that_come_and_go_are_asked_where_they_are(city: Path) -> None:
    series = hushway.series(city)
    assert [month.label for month in series.sum(origins="d")] == ["2026-04"]
    with pytest.raises(ReleaseError, match="no 'nowhere'"):
        series.sum(origins="nowhere")
    with pytest.raises(ReleaseError, match="no release of '2026-02'"):
        series.changes(between=("2026-01", "2026-02"))
    notes = by_command(city, "--where", "origins=d")["notes"]
    assert any("2026-02" in note for note in notes)
    assert any("2025-12, 2026-01, 2026-03" in note for note in notes)


def test_what_changed_is_told_and_what_did_not_is_not(city: Path) -> None:
    series = hushway.series(city)
    (change,) = series.changes()
    assert (change.earlier, change.later) == ("2026-03", "2026-04")
    assert change.low <= 400 <= change.high
    by_place = series.changes("destinations")
    assert [one.label for one in by_place if one.value > 0] == ["B (b)"]
    assert {one.label for one in series.changes("origins")} == {"A (a)"}
    assert series.changes(between=("2025-12", "2026-01")) == ()
    assert len(series.changes("destinations", top=1)) == 1


def test_the_command_answers_as_python_does(city: Path) -> None:
    series = hushway.series(city)
    by_quarter = by_command(city, "--each", "quarter", "--where", "origins=a")
    sums = series.sum(by="quarter", origins=["a"])
    assert [one["value"] for one in by_quarter["answers"]] == [one.value for one in sums]
    assert by_quarter["answers"][1]["missing"] == ["2026-02"]
    assert by_quarter["of"] == series.sentence
    changed = by_command(*(city / step for step in RIDERS), "--changes", "--by", "origins")
    assert changed["answers"][0]["later"] == "2026-04"
    said = CliRunner().invoke(app, ["ask", str(city), "--changes"]).output
    assert "2026-03 to 2026-04" in said


@pytest.mark.parametrize(
    "words", [["--each", "month", "--changes"], ["--top", "3"], ["--minus", "origins=a"]]
)
def test_questions_that_a_series_cannot_answer_are_refused(city: Path, words: list[str]) -> None:
    assert CliRunner().invoke(app, ["ask", str(city), *words]).exit_code != 0


def test_releases_that_are_no_series_are_refused(city: Path, tmp_path: Path) -> None:
    shutil.copytree(city / "2026-01", tmp_path / "again")
    with pytest.raises(ReleaseError, match="Two releases are of 2026-01: "):
        hushway.series([city / "2026-01", tmp_path / "again"])
    with pytest.raises(ReleaseError, match="no folder"):
        hushway.series(tmp_path / "none")
    with pytest.raises(ReleaseError, match="needs releases"):
        hushway.series([])


@pytest.mark.parametrize(
    ("change", "step", "refusal"),
    [
        (('step = "month"', 'step = "quarter"'), "2026-Q2", "not of one day, week .*, month or q"),
        (('name = "trips"', 'name = "others"'), "2026-04", "different data sets: others and trips"),
        (('unit = "person"', 'unit = "trip"'), "2026-04", "different protected units"),
    ],
)
def test_releases_of_something_else_are_refused(
    city: Path, change: tuple[str, str], step: str, refusal: str
) -> None:
    folder = city.parent / step / change[1].split('"')[1]
    folder.mkdir(parents=True)
    other = PLAN.replace(*change)
    if 'unit = "trip"' in other:
        other = other.replace("max_trips = 2\n", "").replace('person = "rider"\n', "")
    (folder / "plan.toml").write_text(other, encoding="utf-8")
    shutil.copy(city.parent / "places.csv", folder)
    shutil.copy(city.parent / "trips-2026-04.csv", folder / f"trips-{step}.csv")
    hushway.ledger.open(load_plan(folder / "plan.toml", step=step))
    release = hushway.publish(folder / "plan.toml", step=step, anyway=True).folder
    with pytest.raises(ReleaseError, match=refusal):
        hushway.series([city / "2026-01", release])


@pytest.fixture(scope="module")
def folder(city: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made") / "series"
    said = CliRunner().invoke(app, ["series", str(city), "--to", str(made)], catch_exceptions=False)
    assert "2026-Q1, 2 of 3 months" in said.output
    return made


def test_the_command_and_python_read_a_series_alike(city: Path) -> None:
    said = CliRunner().invoke(app, ["series", str(city), "--json"], catch_exceptions=False)
    facts = series_facts(hushway.series(city))
    assert json.loads(said.stdout) == json.loads(json.dumps(facts))
    assert facts["missing"] == ("2026-02",)
    assert [*facts["sums"]] == ["month", "quarter", "year"]


def test_a_series_folder_holds_its_releases_and_is_a_series_itself(
    city: Path, folder: Path
) -> None:
    for step in RIDERS:
        assert hushway.verify(folder / step).passed
    assert hushway.series(folder).sum(by="year") == hushway.series(city).sum(by="year")


def test_one_table_adds_up_from_months_to_years(folder: Path) -> None:
    with (folder / "series.csv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    for name in {(row["by"], row["id"]) for row in rows}:
        own = [row for row in rows if (row["by"], row["id"]) == name]
        sums = {
            length: sum(Decimal(row["count"]) for row in own if row["length"] == length)
            for length in ("month", "quarter", "year")
        }
        assert sums["month"] == sums["quarter"] == sums["year"]
    (first,) = [row for row in rows if (row["by"], row["period"]) == ("everything", "2026-Q1")]
    assert (first["steps"], first["missing"]) == ("2", "2026-02")
    answer = hushway.series(folder).sum(by="quarter")[1]
    assert (float(first["count"]), float(first["low"])) == (answer.value, round(answer.low, 2))


def test_the_same_releases_give_the_same_folder_and_nothing_is_written_over(
    city: Path, folder: Path, tmp_path: Path
) -> None:
    hushway.series(city, to=tmp_path / "again")
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            again = tmp_path / "again" / file.relative_to(folder)
            assert again.read_bytes() == file.read_bytes()
    with pytest.raises(ReleaseError, match="exists already"):
        hushway.series(city, to=folder)
    assert [one.name for one in tmp_path.iterdir()] == ["again"]


# The library still calls one of its own names that it has renamed.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tools_read_what_a_series_says_of_itself(folder: Path) -> None:
    report = Package(str(folder / "datapackage.json")).validate()
    assert report.valid, report.flatten(["rowNumber", "fieldName", "type", "note"])
    graph = Graph().parse(folder / "mobilitydcat-ap.jsonld", format="json-ld", publicID=BASE)
    dcat = Namespace("http://www.w3.org/ns/dcat#")
    (series,) = graph.subjects(RDF.type, dcat.DatasetSeries)
    members = [URIRef(f"{BASE}{step}/mobilitydcat-ap.jsonld#release") for step in RIDERS]
    assert set(graph.objects(series, dcat.seriesMember)) == set(members)
    assert [graph.value(member, dcat.prev) for member in members] == [None, *members[:-1]]
    own = Graph().parse(
        folder / "2026-01" / "mobilitydcat-ap.jsonld", format="json-ld", publicID=f"{members[1]}"
    )
    assert (members[1], RDF.type, dcat.Dataset) in own
