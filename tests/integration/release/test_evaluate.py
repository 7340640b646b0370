"""`hushway evaluate RELEASE --task fleet`, from a raw trips file to the verdict."""

import json
import shutil
from collections.abc import Sequence
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from hushway.cli.app import app
from hushway.errors import GeographyError, HushwayError, PlanError, ReleaseError
from hushway.families.load import load_plan, prepare
from hushway.families.od.city.ann_arbor import City, ann_arbor
from hushway.families.sequences.city.cards import metro
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import PureLoss
from hushway.privacy.randomness import SeededSource
from hushway.steward.publish import publish
from hushway.transit.day_demand import read_od_table
from hushway.transit.evaluation import FleetQuestion, evaluate_fleet

PLAN, NETWORK = "plan.toml", "network.toml"
# Two half-hours of two days, and so much budget that the noise vanishes in rounding.
CHANGES = {
    'opens = "00:00"': 'opens = "08:00"',
    'closes = "24:00"': 'closes = "09:00"',
    "minutes = 60 ": "minutes = 30 ",
    'unit = "person" ': 'unit = "trip" ',
    'epsilon = "1" ': 'epsilon = "100" ',
    "# [mechanism] ": '[mechanism]\nname = "cbdp"\nbudget_shares = "uniform" ',
    "last_day = 2026-03-03": "last_day = 2026-03-04",
    'most_dropped = "1/2" ': 'most_dropped = "1" ',
}
FEW = ("--draws", "2")


def silent(_step: str, _share: float | None = None, /) -> None:
    pass


def change(plan: Path, changes: dict[str, str]) -> None:
    text = plan.read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    plan.write_text(text, encoding="utf-8")


def template(family: str, folder: Path, changes: dict[str, str]) -> Path:
    text = (files("hushway") / "families" / family / "template.toml").read_text(encoding="utf-8")
    (folder / PLAN).write_text(text, encoding="utf-8")
    change(folder / PLAN, changes)
    return folder / PLAN


def published(plan: Path, budget_limit: int) -> Path:
    job = prepare(load_plan(plan))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, PureLoss(Fraction(budget_limit)))
    return publish(job, source=SeededSource(1)).folder


@pytest.fixture(scope="module")
def made() -> City:
    return ann_arbor(seed=1, places=40, days=2)


@pytest.fixture(scope="module")
def folder(made: City, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A city with a fifth of its riders, and a release that nobody touches."""
    folder = tmp_path_factory.mktemp("evaluate") / "city"
    made.write(folder)
    header, *trips = (folder / "trips.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [trip for trip, rider in zip(trips, made.trips.rider, strict=True) if rider % 5 == 0]
    (folder / "trips.csv").write_text("".join([header, *kept]), encoding="utf-8")
    published(template("od", folder, CHANGES), 100)
    return folder


@pytest.fixture
def city(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "city"))


def invoke(release: Path, *words: str | Path) -> Result:
    asked = ["evaluate", str(release), "--task", "fleet", *map(str, words)]
    return CliRunner().invoke(app, asked)


def answer(release: Path, *words: str | Path) -> Any:
    result = invoke(release, *words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_release_without_noise_asks_for_the_fleet_of_the_truth(folder: Path) -> None:
    with_network = ("--network", folder / NETWORK, *FEW)
    seen = answer(folder / "release", *with_network, "--plan", folder / PLAN)
    assert seen["truth"]["fleet"] == seen["fleet"]
    assert seen["truth"]["by_release"] == seen["truth"]["by_truth"]
    assert seen["truth"]["by_release"]["mean_trip_wait_s"] > 0
    assert all(zone["truth"] == zone["fleet"] for zone in seen["zones"])
    assert [zone["zone"] for zone in seen["zones"]] == ["east", "north", "south", "west"]
    assert seen["task"] == "fleet"
    assert seen["internal"].startswith("INTERNAL")
    median = seen["fleet"]["median"]
    assert median >= seen["at_least"] > 0
    assert seen["sentence"].startswith(f"fleet {median} vehicles, ")
    assert seen["sentence"].endswith(f"over 2 draws; truth {median}")
    # The same days are drawn again, and whether the truth was seen changes nothing else.
    unseen = answer(folder / "release", *with_network)
    assert unseen["truth"] is None
    assert unseen["internal"] is None
    assert unseen["fleet"] == seen["fleet"]


def test_the_truth_is_all_trips_whatever_the_plan_caps(city: Path, made: City) -> None:
    riders = made.trips.rider[(made.trips.period == 4) | (made.trips.period == 5)]
    assert len(np.unique(riders)) < 0.9 * len(riders), "a contribution limit of one trip would show"
    words = ("--plan", city / PLAN, "--draws", "1")
    before = answer(city / "release", *words)["truth"]
    change(
        city / PLAN, {'unit = "trip" ': 'unit = "person" ', 'max_trips = "auto" ': "max_trips = 1 "}
    )
    assert answer(city / "release", *words)["truth"] == before


def test_looking_at_the_truth_needs_no_ledger_and_spends_nothing(city: Path) -> None:
    (city / "ledger.db").unlink()
    listed = sorted(city.rglob("*"))
    assert answer(city / "release", "--plan", city / PLAN, "--draws", "1")["truth"] is not None
    assert sorted(city.rglob("*")) == listed


def test_people_read_a_sentence_tables_and_a_warning(folder: Path) -> None:
    words = ("--network", folder / NETWORK, "--draws", "1", "--shifts", "1")
    result = invoke(folder / "release", *words, "--plan", folder / PLAN)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("fleet ")
    assert "draws" not in lines[0]
    assert "; truth " in lines[0]
    assert lines[-1] == "INTERNAL: depends on exact trips; not for release"
    for part in ("south", "wait per trip", "drivers"):
        assert part in result.stdout
    assert "INTERNAL" not in invoke(folder / "release", *words).stdout


def test_hours_and_shifts_are_kept(folder: Path) -> None:
    whole = answer(folder / "release", "--draws", "1", "--shifts", "1")
    half = answer(folder / "release", "--draws", "1", "--shifts", "1", "--hours", "08:30-09:00")
    assert half["fleet"]["median"] <= whole["fleet"]["median"]
    assert whole["drivers"]["total"] == sum(one["drivers"] for one in whole["drivers"]["shifts"])
    assert 0 < whole["drivers"]["total"] <= sum(z["fleet"]["median"] for z in whole["zones"])
    question = FleetQuestion(draws=1, hours=(510, 540))
    found = evaluate_fleet(folder / "release", question, progress=silent)
    assert found.demand.window_s == (510 * 60, 540 * 60)
    assert found.demand.days == 2
    assert found.drivers is None
    published_trips = read_od_table(folder / "release")
    second = published_trips.cells >= published_trips.universe.pairs
    assert found.demand.sums.sum() == published_trips.counts[second].sum()


def feed_of(city: City, folder: Path) -> Path:
    """A timetable of one bus between the first two hubs, every ten minutes of that Tuesday."""
    first, second = city.cells.locations.ids[:2]
    calls = "".join(
        f"t{i},08:{i}0:00,08:{i}0:00,{first},1\nt{i},08:{i}5:00,08:{i}5:00,{second},2\n"
        for i in range(6)
    )
    trips = "".join(f"r,s,t{i},0\n" for i in range(6))
    texts = {
        "stops": f"stop_id,stop_name,parent_station\n{first},One,\n{second},Two,\n",
        "routes": "route_id,route_short_name,route_long_name\nr,Red,\n",
        "trips": f"route_id,service_id,trip_id,direction_id\n{trips}",
        "stop_times": f"trip_id,arrival_time,departure_time,stop_id,stop_sequence\n{calls}",
        "calendar_dates": "service_id,date,exception_type\ns,20260303,1\n",
    }
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def test_a_timetable_gives_the_network_of_the_first_day(
    folder: Path, made: City, tmp_path: Path
) -> None:
    question = FleetQuestion(draws=1, gtfs=feed_of(made, tmp_path / "feed"))
    found = evaluate_fleet(folder / "release", question, progress=silent)
    (line,) = found.routes.network.lines
    assert (line.stops, line.ride_s, line.headway_s) == ((0, 1), (300,), 600)
    assert found.verdict.value.fleet.median > 0


@pytest.mark.long
def test_a_weekly_release_needs_a_weekday_and_takes_its_timetable(city: Path, made: City) -> None:
    weekly = {
        'cycle = "day" ': 'cycle = "week" ',
        'folder = "release"': 'folder = "weekly"',
        'name = "city-trips" ': 'name = "weekly-trips" ',
    }
    change(city / PLAN, weekly)
    release = published(city / PLAN, 100)
    with pytest.raises(PlanError, match="weekday is needed") as refused:
        evaluate_fleet(release, FleetQuestion(), progress=silent)
    assert "Tue, Wed." in refused.value.advice
    tuesday = answer(release, "--day", "Tue", "--plan", city / PLAN, "--draws", "1")
    assert tuesday["truth"]["fleet"] == tuesday["fleet"]
    assert tuesday["fleet"]["median"] > 0
    wednesday = FleetQuestion(day="Wed", gtfs=feed_of(made, city / "feed"))
    with pytest.raises(GeographyError, match="2026-03-04"):
        evaluate_fleet(release, wednesday, progress=silent)


def test_a_picture_is_drawn_once_and_never_over_another_file(folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "fleet.png"
    words = ("--network", folder / NETWORK, "--draws", "1", "--picture", picture)
    result = invoke(folder / "release", *words)
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    drawn = picture.read_bytes()
    with pytest.raises(ReleaseError, match="exists already"):
        invoke_loudly(folder / "release", *words)
    assert picture.read_bytes() == drawn


def invoke_loudly(release: Path, *words: str | Path) -> None:
    """Lets an error of the command out."""
    result = invoke(release, *words)
    assert result.exit_code == 1
    assert isinstance(result.exception, HushwayError)
    raise result.exception


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        (["--hours", "08:15-09:00"], PlanError, "begin and end with periods"),
        (["--hours", "eight"], PlanError, "not hours"),
        (["--day", "Tue"], PlanError, "all days together"),
        (["--shifts", "four"], PlanError, "lengths of shifts"),
        (["--shifts", "4"], PlanError, "No shift fits"),
        (["--network", "a", "--gtfs", "b"], PlanError, "two networks"),
        (["--network", "no such file"], GeographyError, "no network file"),
    ],
)
def test_bad_questions_are_refused_in_plain_words(
    folder: Path, words: Sequence[str], kind: type[HushwayError], message: str
) -> None:
    with pytest.raises(kind, match=message) as refused:
        invoke_loudly(folder / "release", *words, "--draws", "1")
    assert refused.value.advice


@pytest.mark.parametrize("words", [["--task", "buses"], ["--draws", "0"], ["--mean-wait", "-1"]])
def test_wrong_usage_has_its_own_exit_code(folder: Path, words: Sequence[str]) -> None:
    assert invoke(folder / "release", *words).exit_code == 2


def test_a_negative_wait_is_refused() -> None:
    with pytest.raises(PlanError, match="cannot be negative"):
        FleetQuestion(mean_wait_s=-1)


def test_a_damaged_release_is_refused(city: Path) -> None:
    with (city / "release" / "trips.csv").open("ab") as file:
        file.write(b"\n")
    with pytest.raises(ReleaseError, match="not as it was written"):
        invoke_loudly(city / "release")


@pytest.mark.parametrize(
    "changes", [{'closes = "09:00"': 'closes = "09:30"'}, {"2026-03-03\nlast": "2026-03-02\nlast"}]
)
def test_a_plan_over_other_periods_is_refused(city: Path, changes: dict[str, str]) -> None:
    change(city / PLAN, changes)
    with pytest.raises(PlanError, match="places and periods of the release"):
        invoke_loudly(city / "release", "--plan", city / PLAN)


def test_a_plan_over_another_city_is_refused(folder: Path, tmp_path: Path) -> None:
    ann_arbor(seed=1, places=41).write(tmp_path)
    plan = template("od", tmp_path, CHANGES)
    with pytest.raises(PlanError, match="places and periods of the release"):
        invoke_loudly(folder / "release", "--plan", plan)


@pytest.mark.long
def test_releases_and_plans_of_another_family_are_refused(folder: Path, tmp_path: Path) -> None:
    metro(3, records=2000).write(tmp_path)
    plan = template("sequences", tmp_path, {})
    with pytest.raises(PlanError, match="does not count trips"):
        invoke_loudly(folder / "release", "--plan", plan)
    with pytest.raises(ReleaseError, match="release type 'sequences'; one of OD tables") as refused:
        invoke_loudly(published(plan, 4))
    assert "release type od" in refused.value.advice
