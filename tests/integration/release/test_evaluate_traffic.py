"""`hushway evaluate RELEASE --task traffic`, from a release to volumes of links."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import hushway
from hushway.cli.app import app
from hushway.errors import HushwayError
from hushway.families.links.city.road_city import road_city
from hushway.families.links.public.geoparquet import write_links_parquet
from hushway.steward import facts
from hushway.transit.traffic.evaluation import TrafficEvaluation
from support.little_city import PLACES
from support.scene import PLAN, Scene

COLUMNS = "link_id from_node_id to_node_id volume volume_low volume_high speed_kmh speed_kmh_low"
DRAWS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A little city, its release, and roads round its places."""
    scene = Scene.prepared(tmp_path_factory.mktemp("traffic") / "city", "od")
    folder = scene.folder
    # Draws can be made of a table that learnt its counts, and of many trips it learns enough.
    scene.plan["mechanism"] = {"name": "learned"}
    scene.write_plan()
    header, *lines = scene.rows.read_text(encoding="utf-8").splitlines()
    many = [f"{copy}{line}" for copy in range(200) for line in lines]
    scene.rows.write_text("\n".join([header, *many, ""]), encoding="utf-8")
    hushway.publish(folder / PLAN)
    middle = tuple(sum(place[axis] for place in PLACES) / len(PLACES) for axis in (1, 2))
    write_links_parquet(road_city(3, links=1000, middle=middle), folder / "roads.parquet")
    return folder


def judged(folder: Path, **asked: object) -> TrafficEvaluation:
    found = hushway.evaluate(
        folder / "release", task="traffic", network=folder / "roads.parquet", draws=DRAWS, **asked
    )
    assert isinstance(found, TrafficEvaluation)
    return found


def test_every_link_is_written_whether_or_not_the_truth_was_asked_for(
    folder: Path, tmp_path: Path
) -> None:
    alone, beside = tmp_path / "alone.csv", tmp_path / "beside.csv"
    found = judged(folder, to=alone)
    seen = judged(folder, to=beside, plan=folder / PLAN)
    assert alone.read_bytes() == beside.read_bytes()
    with alone.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert " ".join(rows[0]).startswith(COLUMNS)
    roads, volumes = found.places.roads, found.verdict.value.volumes
    assert [row["link_id"] for row in rows] == roads.link_id.tolist()
    assert [float(row["volume_high"]) for row in rows] == pytest.approx(volumes.high, abs=0.006)
    assert max(float(row["volume"]) for row in rows) > 0
    truth = seen.verdict.value.truth
    assert truth is not None
    assert truth.day.vehicles > 0
    assert facts.traffic_facts(seen)["internal"] == facts.INTERNAL_TRIPS
    assert facts.traffic_facts(found)["internal"] is None


def invoke(folder: Path, *words: str | Path) -> Result:
    asked = ["evaluate", str(folder / "release"), "--draws", str(DRAWS), *map(str, words)]
    return CliRunner().invoke(app, asked)


def test_the_command_says_what_python_answers(folder: Path) -> None:
    words = ("--task", "traffic", "--network", folder / "roads.parquet", "--plan", folder / PLAN)
    told = invoke(folder, *words, "--vehicles-per-trip", "0.5", "--json")
    assert told.exit_code == 0, told.output
    answer = facts.traffic_facts(judged(folder, plan=folder / PLAN, vehicles_per_trip=0.5))
    assert json.loads(told.stdout) == json.loads(json.dumps(answer))
    read = invoke(folder, *words).stdout.splitlines()
    assert f" by {DRAWS} draws; truth " in read[0]
    assert read[-1] == facts.INTERNAL_TRIPS
    alone = invoke(folder, *words[:4]).stdout
    assert "truth" not in alone
    assert "INTERNAL" not in alone


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--task", "traffic"], "Traffic needs roads"),
        (["--task", "traffic", "--network", "no such file.parquet"], "no such file.parquet"),
        (["--task", "traffic", "--network", "a", "--gtfs", "b"], "has no gtfs"),
        (["--task", "traffic", "--network", "a", "--picture", "b"], "has no picture"),
        (["--task", "fleet", "--to", "volumes.csv"], "has no to"),
    ],
)
def test_questions_of_another_task_are_refused(
    folder: Path, words: list[str], message: str
) -> None:
    refused = invoke(folder, *words)
    assert isinstance(refused.exception, HushwayError)
    assert message in str(refused.exception)
    assert refused.exception.advice
