"""Errors of a density foreseen from a guess of the crowd, and what is said of too small a crowd."""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.errors import PlanError
from hushway.families.density.city.paris import paris
from hushway.families.density.plan import DensityPlan
from hushway.families.density.planning import forecast
from hushway.families.density.planning.trial import invented_crowd
from hushway.families.density.public.visits import PERSON_PARTS, VisitLimits
from hushway.families.load import load_plan, plan_from, prepare
from hushway.families.registry import FAMILIES
from hushway.progress import quiet
from hushway.release.forecast.crowd import CrowdForecast, ExpectedPopulation
from hushway.release.job import Job
from hushway.steward.price_tag import price_tag

LIMITS = VisitLimits(max_visits=30, max_visits_in_total=200)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("city")
    paris(1, people=500, towers=30, areas=20).write(place)
    return place


def job_of(folder: Path, **changes: str) -> Job:
    text = (files("hushway") / "families" / "density" / "template.toml").read_text(encoding="utf-8")
    for old, new in {'epsilon = "0.3" ': 'epsilon = "1" ', **changes}.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return prepare(load_plan(folder / "plan.toml"))


@pytest.mark.long
def test_too_few_people_are_told_what_would_do_instead(folder: Path) -> None:
    expected = price_tag(job_of(folder), crowd=ExpectedPopulation(trips=2800, people=200)).expected
    assert expected is not None
    assert any("Too few people for this table at this budget" in note for note in expected.notes)
    instead = expected.notes[-1]
    assert instead.startswith("What would do: periods of 3 hours")
    assert "people" in instead


def test_what_is_said_to_do_does(folder: Path) -> None:
    job = job_of(folder)
    instead = price_tag(job, crowd=ExpectedPopulation(trips=2800, people=200)).expected
    assert instead is not None
    words = instead.notes[-1].split("about ")[1].split(" people")[0]
    people = int(words.replace(",", ""))
    enough = price_tag(job, crowd=ExpectedPopulation(trips=14 * people, people=people)).expected
    assert enough is not None
    assert not any("Too few" in note for note in enough.notes)


def test_more_people_mean_smaller_shares_of_error(folder: Path) -> None:
    job = job_of(folder)
    shares = []
    for people in (300, 10_000, 1_000_000):
        expected = price_tag(
            job, crowd=ExpectedPopulation(trips=14 * people, people=people)
        ).expected
        assert expected is not None
        shares.append([error.share or 0.0 for error in expected.errors])
    for few, some, many in np.array(shares).T:
        assert few > some > many


@pytest.mark.long
def test_nothing_that_was_tried_may_do(folder: Path) -> None:
    expected = price_tag(
        job_of(folder, **{'epsilon = "1" ': 'epsilon = "0.01" '}),
        crowd=ExpectedPopulation(trips=20, people=2),
    ).expected
    assert expected is not None
    assert "Nothing that was tried would do" in expected.notes[-1]


@pytest.mark.parametrize(
    ("crowd", "words"),
    [
        (ExpectedPopulation(trips=100), "depend on the people"),
        (ExpectedPopulation(trips=100, people=0), "at least as many trips as people"),
        (ExpectedPopulation(trips=10, people=11), "at least as many trips as people"),
    ],
)
def test_a_guess_that_cannot_be_is_refused(
    folder: Path, crowd: ExpectedPopulation, words: str
) -> None:
    with pytest.raises(PlanError, match=words):
        price_tag(job_of(folder), crowd=crowd)


def test_no_forecast_is_made_of_huge_tables(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(forecast, "MOST_CELLS", 100)
    expected = price_tag(job_of(folder), crowd=ExpectedPopulation(trips=100, people=10)).expected
    assert expected is not None
    assert expected.errors == ()
    assert "No forecast" in expected.notes[0]


def test_an_invented_crowd_is_as_large_as_guessed_and_bounded(folder: Path) -> None:
    universe: Any = job_of(folder).geography
    found = invented_crowd(universe, LIMITS, people=5000, visits=10.0)
    assert found.city.found.activity.sum() == 5000
    assert found.city.found.people.sum() == 5000 * PERSON_PARTS
    assert found.truth.sum() == pytest.approx(50_000, rel=0.1)
    assert found.city.found.series.sum() <= 30 * 5000
    assert 0.5 < found.counted <= 1
    alone = invented_crowd(universe, LIMITS, people=5000, visits=1.0)
    assert alone.truth.sum() == pytest.approx(5000, rel=0.1)


def test_recommended_lines_are_options_of_a_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd = ExpectedPopulation(trips=2800, people=200)
    nothing = CrowdForecast(crowd=crowd, errors=(), left_out=None, notes=("",))
    monkeypatch.setattr(forecast, "_score", lambda *_: 1.0)
    monkeypatch.setattr(forecast, "forecast_density", lambda *_: nothing)
    paris(1, people=500, towers=30, areas=20).write(tmp_path)
    file = tmp_path / "plan.toml"
    text = FAMILIES["density"].template.replace('max_visits = "auto" ', "max_visits = 30 ")
    file.write_text(text.replace('in_total = "auto" ', "in_total = 200 "), encoding="utf-8")
    job = prepare(load_plan(file))
    found = forecast.recommend_density(job, crowd, runs=1, progress=quiet)
    lines = tomllib.loads(found.lines)
    facts = tomllib.loads(file.read_text("utf-8"))
    for table, options in lines.items():
        facts[table] = {**facts.get(table, {}), **options}
    plan = plan_from(facts, folder=tmp_path)
    assert isinstance(plan, DensityPlan)
    assert plan.privacy.max_visits == lines["privacy"]["max_visits"]
