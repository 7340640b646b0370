"""Bus lines from a published release, as somebody who downloaded it makes them."""

import json
import os
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

from hushway.cli.evaluate import design
from hushway.errors import PlanError, ReleaseError
from hushway.families.load import load_plan, prepare
from hushway.geography.itineraries import RiderCosts
from hushway.geography.locations import Location, Locations
from hushway.geography.transit import TransitNetwork
from hushway.privacy.randomness import SeededSource
from hushway.release.folder.new_file import write_new
from hushway.steward.demo import PLAN
from hushway.steward.publish import publish
from hushway.transit import network_design as designing
from hushway.transit.day_demand import DayDemand, one_day, read_od_table
from hushway.transit.network.file import read_network
from hushway.transit.network_design import (
    APART_M,
    DesignQuestion,
    NetworkDesign,
    busiest_apart,
    design_for,
    design_network,
)

MORNING = (480, 600)


def silently(*_: object) -> None:
    """Tells nobody."""


def invoke(*words: str | Path) -> Result:
    cli = typer.Typer()
    cli.command()(design)
    return CliRunner().invoke(cli, [str(word) for word in words])


@pytest.fixture(scope="module")
def published(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A city's folder with a release in it."""
    city = Path(shutil.copytree(demo, tmp_path_factory.mktemp("designed") / "city"))
    publish(prepare(load_plan(city / PLAN)), source=SeededSource(1))
    return city


@pytest.fixture(scope="module")
def release(published: Path) -> Path:
    return published / "release"


@pytest.fixture(scope="module")
def morning(release: Path) -> DayDemand:
    table = read_od_table(release)
    return one_day(table.universe, table.cells, table.counts, hours=MORNING)


@pytest.fixture(scope="module")
def designed(release: Path) -> NetworkDesign:
    question = DesignQuestion(candidates=8, hours=MORNING)
    return design_network(release, question, progress=silently)


def pairs_of(demand: DayDemand) -> dict[tuple[int, int], float]:
    """Riders of each pair on an average day, one cell after the other."""
    riders: dict[tuple[int, int], float] = {}
    _, origins, destinations = demand.universe.decode(demand.cells)
    for origin, destination, mean in zip(
        origins.tolist(), destinations.tolist(), demand.mean_trips.tolist(), strict=True
    ):
        riders[origin, destination] = riders.get((origin, destination), 0.0) + mean
    return riders


def test_the_file_reads_back_as_the_network_that_was_designed(
    designed: NetworkDesign, tmp_path: Path
) -> None:
    designed.write(tmp_path / "network.toml")
    read = read_network(tmp_path / "network.toml", designed.network.locations)
    assert read == designed.network
    assert read.lines
    assert set(read.hubs) == {stop for line in read.lines for stop in line.stops}
    assert set(read.hubs) <= set(designed.candidates)
    assert [path.name for path in tmp_path.iterdir()] == ["network.toml"]


def test_a_line_and_its_way_back_are_one_in_the_file(morning: DayDemand, tmp_path: Path) -> None:
    degrees = (0.0, 1.0, 0.1, 1.1)
    places = tuple(
        Location(id=f"p{i}", name="", lon=lon, lat=0.0, zone="z") for i, lon in enumerate(degrees)
    )
    cells = replace(morning.universe, locations=Locations(places))
    origin, destination = np.array([0, 1, 2, 3]), np.array([2, 3, 0, 1])
    demand = DayDemand(
        universe=cells,
        cells=cells.encode(np.zeros(4, dtype=np.int64), origin, destination),
        sums=np.full(4, 500),
        days=1,
    )
    found = design_for(demand, DesignQuestion(), progress=silently)
    assert [line.stops for line in found.network.lines] == [(0, 2), (2, 0), (1, 3), (3, 1)]
    assert [line.name for line in found.network.lines] == ["Line 1", "Line 1", "Line 2", "Line 2"]
    found.write(tmp_path / "network.toml")
    assert (tmp_path / "network.toml").read_text(encoding="utf-8").count("both_ways = true") == 2
    assert read_network(tmp_path / "network.toml", cells.locations) == found.network


def test_buses_are_worth_their_cost_and_the_bound_is_close(designed: NetworkDesign) -> None:
    assert designed.at_least_h <= designed.cost_h < designed.shuttles_only_h
    assert designed.cost_h - designed.at_least_h <= designing.GAP * designed.cost_h


def test_without_buses_everybody_pays_for_a_shuttle(
    designed: NetworkDesign, morning: DayDemand
) -> None:
    network, costs = designed.network, RiderCosts()
    total_s = 0.0
    for pair, riders in pairs_of(morning).items():
        street_km = network.distance_m[pair] * network.travel.detour / 1000
        shuttle_s = costs.shuttle_wait_s + network.shuttle_s[pair] + costs.shuttle_km_s * street_km
        total_s += riders * shuttle_s
    assert designed.shuttles_only_h == pytest.approx(total_s / 3600, rel=1e-9)


def test_the_share_by_bus_is_that_of_all_pairs(designed: NetworkDesign, morning: DayDemand) -> None:
    riders = pairs_of(morning)
    routes = designed.routes
    by_bus = sum(n for pair, n in riders.items() if routes.first[pair] != routes.last[pair])
    assert designed.trips == pytest.approx(sum(riders.values()))
    assert designed.bus_share == pytest.approx(by_bus / sum(riders.values()))
    assert 0 < designed.bus_share < 1
    assert designed.designed_share == 1


def test_lines_come_as_often_as_asked(morning: DayDemand) -> None:
    question = DesignQuestion(candidates=6, headway_min=10)
    found = design_for(morning, question, progress=silently)
    assert {line.headway_s for line in found.network.lines} == {600}


def test_candidates_are_the_busiest_places_that_keep_their_distance(morning: DayDemand) -> None:
    locations = morning.universe.locations
    visits = np.zeros(len(locations))
    for (origin, destination), riders in pairs_of(morning).items():
        visits[origin] += riders
        visits[destination] += riders
    chosen = busiest_apart(locations, visits, most=12)
    apart_m = TransitNetwork(locations=locations, hubs=(), lines=()).distance_m
    assert len(chosen) == 12
    assert all(visits[one] >= visits[next_] for one, next_ in pairwise(chosen))
    for place in set(range(len(locations))) - set(chosen):
        busier = [one for one in chosen if visits[one] >= visits[place]]
        too_near = any(apart_m[one, place] < APART_M for one in busier)
        assert too_near or visits[place] <= visits[chosen[-1]]
    for one in chosen:
        assert all(apart_m[one, other] >= APART_M for other in chosen if other != one)


def test_places_without_trips_are_no_candidates() -> None:
    places = tuple(Location(id=f"p{i}", name="", lon=0.1 * i, lat=0.0, zone="z") for i in range(5))
    visits = np.array([0.0, 2.0, 0.0, 3.0, 0.0])
    assert busiest_apart(Locations(places), visits, most=4) == (3, 1)


def test_hours_without_trips_give_a_network_of_shuttles_that_reads_back(
    morning: DayDemand, tmp_path: Path
) -> None:
    nobody = DayDemand(
        universe=morning.universe, cells=morning.cells[:0], sums=morning.sums[:0], days=1
    )
    found = design_for(nobody, DesignQuestion(), progress=silently)
    assert (found.network.hubs, found.network.lines, found.bus_share) == ((), (), 0.0)
    assert found.cost_h == found.shuttles_only_h == 0
    found.write(tmp_path / "network.toml")
    assert read_network(tmp_path / "network.toml", nobody.universe.locations) == found.network


def test_of_very_many_pairs_the_strongest_are_designed_for(
    morning: DayDemand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(designing, "MOST_PAIRS", 40)
    found = design_for(morning, DesignQuestion(candidates=6), progress=silently)
    riders = sorted(pairs_of(morning).values(), reverse=True)
    assert found.designed_share == pytest.approx(sum(riders[:40]) / sum(riders))
    assert found.designed_share < 1
    assert found.trips == pytest.approx(sum(riders))


@pytest.mark.long
def test_the_command_writes_the_network_and_a_picture_and_says_what_it_costs(
    release: Path, tmp_path: Path
) -> None:
    network, picture = tmp_path / "network.toml", tmp_path / "network.png"
    words = ("--candidates", "8", "--hours", "08:00-10:00", "--picture", picture)
    said = invoke(release, network, *words)
    assert said.exit_code == 0, said.output
    assert "of 8 candidates" in said.output
    assert "7.5 min" in said.output
    assert "no cost" in said.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in tmp_path.iterdir()} == {"network.toml", "network.png"}


def test_the_answer_in_json_is_that_of_the_design(
    release: Path, designed: NetworkDesign, tmp_path: Path
) -> None:
    network = tmp_path / "network.toml"
    said = invoke(release, network, "--candidates", "8", "--hours", "08:00-10:00", "--json")
    facts = json.loads(said.stdout)
    ids = designed.network.locations.ids
    assert facts["hubs"] == [ids[hub] for hub in designed.network.hubs]
    assert facts["candidates"] == [ids[place] for place in designed.candidates]
    assert [line["ride_s"] for line in facts["lines"]] == [
        list(line.ride_s) for line in designed.network.lines
    ]
    for name in ("cost_h", "shuttles_only_h", "at_least_h", "trips", "bus_share"):
        assert facts[name] == getattr(designed, name)
    assert read_network(network, designed.network.locations) == designed.network


def test_nothing_is_spent_and_nothing_in_the_release_changes(
    published: Path, tmp_path: Path
) -> None:
    before = {path: path.read_bytes() for path in published.rglob("*") if path.is_file()}
    invoke(published / "release", tmp_path / "network.toml", "--hours", "08:00-10:00")
    after = {path: path.read_bytes() for path in published.rglob("*") if path.is_file()}
    assert (tmp_path / "network.toml").is_file()
    assert after == before


@pytest.mark.parametrize("taken", ["network.toml", "network.png"])
def test_a_file_that_is_there_is_never_overwritten(
    release: Path, tmp_path: Path, taken: str
) -> None:
    (tmp_path / taken).write_text("mine", encoding="utf-8")
    words = ("--hours", "08:00-10:00", "--picture", tmp_path / "network.png")
    said = invoke(release, tmp_path / "network.toml", *words)
    assert isinstance(said.exception, ReleaseError)
    assert (tmp_path / taken).read_text(encoding="utf-8") == "mine"
    assert [path.name for path in tmp_path.iterdir()] == [taken]


@pytest.mark.parametrize("problem", [OSError(28, "full"), KeyboardInterrupt()])
def test_a_file_that_cannot_be_finished_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: BaseException
) -> None:
    def fail(_: int) -> None:
        raise problem

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((ReleaseError, KeyboardInterrupt)):
        write_new(tmp_path / "network.toml", b"hubs = []")
    assert not list(tmp_path.iterdir())


def test_a_file_that_appears_meanwhile_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "network.toml"
    monkeypatch.setattr(os, "fsync", lambda _: path.write_bytes(b"theirs"))
    with pytest.raises(ReleaseError, match="exists already"):
        write_new(path, b"ours")
    assert path.read_bytes() == b"theirs"
    assert [each.name for each in tmp_path.iterdir()] == ["network.toml"]


def test_a_folder_that_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="cannot be written"):
        write_new(tmp_path / "missing" / "network.toml", b"")


@pytest.mark.parametrize(
    "wrong",
    [
        {"candidates": 1},
        {"candidates": 21},
        {"headway_min": 0.0},
        {"headway_min": -1.0},
        {"headway_min": float("nan")},
        {"headway_min": float("inf")},
    ],
)
def test_a_question_that_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(PlanError):
        DesignQuestion(**wrong)


@pytest.mark.parametrize(
    "words", [("--hours", "08:07-10:00"), ("--hours", "morning"), ("--day", "Tue")]
)
def test_a_day_or_hours_that_the_release_lacks_are_refused(
    release: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    said = invoke(release, tmp_path / "network.toml", *words)
    assert isinstance(said.exception, PlanError)
    assert not list(tmp_path.iterdir())


def test_a_release_that_was_changed_is_refused(release: Path, tmp_path: Path) -> None:
    changed = Path(shutil.copytree(release, tmp_path / "changed"))
    with (changed / "trips.parquet").open("ab") as file:
        file.write(b"0")
    said = invoke(changed, tmp_path / "network.toml")
    assert isinstance(said.exception, ReleaseError)
    assert not (tmp_path / "network.toml").exists()
