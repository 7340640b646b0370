"""Whether a release is worth its budget: said before it is spent, by every face."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import hushway
from hushway.engine.key import BoundingKey
from hushway.errors import PlanError
from hushway.families.load import load_plan, prepare
from hushway.families.registry import FAMILIES
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource
from hushway.release.job import CountingContext, Job, settings_of
from hushway.steward import facts
from hushway.workbench.worker_events import EventWriter
from hushway.workbench.worker_tasks import TASKS
from support.scene import PLAN, Scene

FEW = {"trips": 500, "people": 500}
OPTIONS = ("--trips", "500", "--people", "500")


@pytest.fixture
def city(tmp_path: Path) -> Scene:
    """Trips between places with zones, at a budget that is too small for pairs of places."""
    scene = Scene.prepared(tmp_path / "city", "od")
    scene.plan.pop("mechanism")
    scene.plan["places"].pop("pairs", None)
    scene.plan["privacy"]["epsilon"] = "1/20"
    scene.write_plan()
    return scene


def by_command(scene: Scene, capsys: pytest.CaptureFixture[str], verb: str, *options: str) -> Any:
    capsys.readouterr()
    assert scene.run(verb, *options, "--json") == 0
    return json.loads(capsys.readouterr().out)


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


@pytest.mark.parametrize("family", ["od", "density", "links", "sequences"])
def test_all_faces_say_what_would_be_known_and_no_row_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], family: str
) -> None:
    scene = Scene.prepared(tmp_path / "scene", family)
    scene.rows.write_bytes(b"\x00\xff garbage")
    plan = scene.folder / PLAN
    worth = plain(facts.worth_facts(hushway.price(plan, trips=3000, people=900).worth))
    assert "would stand in" in worth["sentence"]
    assert 0 <= worth["known"]["sure"] <= 1
    guess = ("--trips", "3000", "--people", "900")
    assert by_command(scene, capsys, "price", *guess)["worth"] == worth
    events = EventWriter(StringIO(), outlives_server=False)
    shown = TASKS["price"](plan, {"trips": 3000, "people": 900}, events)
    assert plain(shown)["worth"] == worth
    advice = by_command(scene, capsys, "recommend", *guess)
    assert advice["worth"] == worth
    assert scene.spent() == [0]


def test_without_a_guess_noise_says_how_large_numbers_must_be(city: Scene) -> None:
    worth = hushway.price(city.folder / PLAN).worth
    assert worth.known is None
    assert not worth.little
    assert worth.sentence.startswith("By noise alone, one cell is sure (twice its error) from ")


def test_little_is_known_more_of_coarser_places_and_periods_is_and_the_plan_is_taken_over(
    city: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    # Of people so few that noise hides them, it is not known either how many trips they make.
    city.plan["privacy"] = {"unit": "trip", "epsilon": "1/20"}
    city.write_plan()
    plan, new = city.folder / PLAN, city.folder / "coarser.toml"
    advice = hushway.recommend(plan, **FEW, write=new)
    assert advice.worth.little
    proposal = advice.proposal
    assert proposal is not None
    assert not proposal.worth.little
    assert advice.changes == proposal.changes
    taken = prepare(load_plan(new))
    assert taken.geography.size < prepare(load_plan(plan)).geography.size
    # What is written is what was tried.
    assert hushway.price(new, **FEW).worth == proposal.worth
    events = EventWriter(StringIO(), outlives_server=False)
    shown = plain(TASKS["price"](plan, FEW, events))["proposal"]
    assert shown == plain(facts.proposal_facts(proposal))
    assert city.run("recommend", *OPTIONS) == 0
    assert "The finest that the budget supports: " in " ".join(capsys.readouterr().out.split())


def test_a_plan_is_never_written_over_another_nor_away_from_its_files(
    city: Scene, tmp_path: Path
) -> None:
    plan = city.folder / PLAN
    with pytest.raises(hushway.HushwayError, match="already"):
        hushway.recommend(plan, **FEW, write=plan)
    with pytest.raises(PlanError, match="beside it"):
        hushway.recommend(plan, **FEW, write=tmp_path / "elsewhere.toml")


def _context(job: Job) -> CountingContext:
    return CountingContext(
        key=BoundingKey.draw(SeededSource(1)),
        bits=SeededSource(2),
        settings=settings_of(job.plan),
        progress=lambda _: None,
    )


def _counts(job: Job) -> dict[tuple[str, ...], int]:
    """Returns exact counts by period, origin and destination, everything bounded as planned."""
    cells: Any = job.geography
    found = job.rows.counter(_context(job)).count(Query(name=cells.name, cells=cells))
    period, origin, destination = cells.decode(found.cells)
    ids = cells.locations.ids
    return {
        (str(p), ids[o], ids[d]): int(n)
        for p, o, d, n in zip(period, origin, destination, found.values, strict=True)
    }


def test_places_by_zone_count_the_trips_of_their_members(city: Scene) -> None:
    city.plan["places"]["include_intrazonal"] = True
    city.plan["privacy"]["max_trips"] = 1000
    city.write_plan()
    fine = prepare(load_plan(city.folder / PLAN))
    cells: Any = fine.geography
    zone = {place.id: place.zone for place in cells.locations.places}
    summed: dict[tuple[str, ...], int] = {}
    for (period, origin, destination), trips in _counts(fine).items():
        key = (period, zone[origin], zone[destination])
        summed[key] = summed.get(key, 0) + trips
    city.plan["places"]["group"] = "zone"
    city.write_plan()
    assert _counts(prepare(load_plan(city.folder / PLAN))) == summed


def test_a_release_of_zones_says_which_places_are_in_each(city: Scene) -> None:
    city.plan["places"] |= {"group": "zone", "include_intrazonal": True}
    city.write_plan()
    published = hushway.publish(city.folder / PLAN)
    assert hushway.verify(published.folder).intact
    listed = (published.folder / "places.csv").read_text(encoding="utf-8")
    assert "member_ids" in listed.splitlines()[0]


def test_groups_go_with_a_list_of_places_and_not_with_pairs_or_own_totals(city: Scene) -> None:
    city.plan["places"] |= {"group": "zone"}
    city.plan["published_totals"] = {"own": {"places": "zone"}}
    city.write_plan()
    with pytest.raises(PlanError, match=r"which places\.group joins"):
        load_plan(city.folder / PLAN)
    city.plan.pop("published_totals")
    city.plan["places"]["pairs"] = "pairs.csv"
    city.write_plan()
    with pytest.raises(PlanError, match="group needs file, and no pairs"):
        load_plan(city.folder / PLAN)


def test_families_name_what_is_coarser_in_their_plans(tmp_path: Path) -> None:
    for family in ("density", "links"):
        job = prepare(load_plan(Scene.written(tmp_path / family, family).folder / PLAN))
        coarser = list(FAMILIES[family].coarser(job.plan))
        assert [one.words for one in coarser][-1] == "one period a day"
        assert all(one.changes["time.minutes"] > 0 for one in coarser)


@pytest.fixture
def taps(tmp_path: Path) -> Scene:
    """Taps at places with zones, at a budget that is too small for pairs of places."""
    scene = Scene.prepared(tmp_path / "taps", "sequences")
    scene.plan["privacy"]["epsilon"] = "1/2"
    scene.write_plan()
    return scene


def test_sequences_of_zones_are_proposed_and_taken_over(taps: Scene) -> None:
    plan, new = taps.folder / PLAN, taps.folder / "coarser.toml"
    advice = hushway.recommend(plan, **FEW, write=new)
    assert advice.worth.little
    assert advice.proposal is not None
    assert advice.proposal.words == "places by zone"
    assert hushway.price(new, **FEW).worth == advice.proposal.worth
    published = hushway.publish(new)
    assert hushway.verify(published.folder).intact
    listed = (published.folder / "places.csv").read_text(encoding="utf-8")
    assert "member_ids" in listed.splitlines()[0]


def test_records_that_keep_times_are_coarser_without_them(taps: Scene) -> None:
    taps.plan["records"]["times"] = True
    taps.write_plan()
    coarser = FAMILIES["sequences"].coarser(load_plan(taps.folder / PLAN))
    assert [one.words for one in coarser] == ["no times", "places by zone, no times"]


def _first_stops(plan: Path) -> dict[str, int]:
    job = prepare(load_plan(plan))
    universe: Any = job.geography
    cells = universe.first_step()
    found = job.rows.counter(_context(job)).count(Query(name=cells.name, cells=cells))
    ids = universe.taxonomy.locations.ids
    return {ids[cell]: int(n) for cell, n in zip(found.cells, found.values, strict=True)}


def test_records_by_zone_are_those_of_its_places(taps: Scene) -> None:
    taps.plan.pop("taxonomy")
    taps.plan["privacy"]["max_records"] = 1000
    taps.write_plan()
    universe: Any = prepare(load_plan(taps.folder / PLAN)).geography
    zone = {place.id: place.zone for place in universe.taxonomy.locations.places}
    summed: dict[str, int] = {}
    for place, records in _first_stops(taps.folder / PLAN).items():
        summed[zone[place]] = summed.get(zone[place], 0) + records
    taps.plan["places"]["group"] = "zone"
    taps.write_plan()
    assert _first_stops(taps.folder / PLAN) == summed


def test_zones_of_taps_have_no_taxonomy_of_single_places(taps: Scene) -> None:
    taps.plan["places"]["group"] = "zone"
    taps.write_plan()
    with pytest.raises(PlanError, match=r"which places\.group joins"):
        load_plan(taps.folder / PLAN)
