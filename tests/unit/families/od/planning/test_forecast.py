"""Errors foreseen from a guess of the crowd."""

from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.errors import PlanError
from hushway.families.load import plan_from, prepare
from hushway.families.od.mechanism.cbdp import od_cbdp
from hushway.families.od.mechanism.laplace import DenseLaplace
from hushway.families.od.mechanism.learned import od_learned, with_ends
from hushway.families.od.mechanism.shares import learned_shares
from hushway.families.od.planning import forecast as forecast_module
from hushway.families.od.planning.forecast import figures, forecast_od, typical_errors
from hushway.families.od.planning.stand_in import stand_in
from hushway.families.od.planning.trial import TripArrays, trips_scene
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import period_feature, total_feature
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound
from hushway.privacy.loss import PureLoss
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.job import Job
from hushway.steward.price_tag import can_be_foreseen, expected_errors, price_tag
from support.little_plans import little_plan, write_little_files


def small(places: int, minutes: int) -> ODCells:
    rng = np.random.default_rng(3)
    day = date(2024, 1, 15)
    return ODCells(
        locations=Locations(
            tuple(
                Location(id=str(i), name="", lon=rng.random(), lat=rng.random(), zone="")
                for i in range(places)
            )
        ),
        periods=Periods(
            zone="UTC", first_day=day, last_day=day, opens=360, closes=1200, minutes=minutes
        ),
    )


def job_of(folder: Path, family: str = "od", **changes: dict[str, Any]) -> Job:
    """Prepares a little plan whose rows are missing."""
    write_little_files(folder)
    for rows in ("trips.csv", "taps.csv", "events.csv", "traces.csv"):
        (folder / rows).unlink()
    return prepare(plan_from(little_plan(family) | changes, folder=folder))


TRIP = {"unit": "trip", "epsilon": "1"}


@pytest.mark.parametrize(
    "mechanism",
    [
        {"name": "learned"},
        {"name": "cbdp"},
        {"name": "hierarchical", "published_totals": ["total", "period"]},
        {"name": "laplace", "form": "dense"},
        {"name": "laplace", "form": "sparse"},
    ],
    ids=lambda mechanism: "-".join(str(word) for word in mechanism.values() if word),
)
def test_every_mechanism_says_what_its_figures_are_off_by(
    tmp_path: Path, mechanism: dict[str, Any]
) -> None:
    job = job_of(tmp_path, mechanism=mechanism, privacy=TRIP)
    expected = price_tag(job, crowd=ExpectedPopulation(trips=5000)).expected
    assert expected is not None
    by_figure = {one.figure: one for one in expected.errors}
    assert list(by_figure)[:6] == [
        "one cell with a row",
        "one of the busiest tenth of cells",
        "all trips",
        "an origin's total",
        "a destination's total",
        "a period's total",
    ]
    assert by_figure["all trips"].size == 5000
    assert by_figure["an origin's total"].size == 5000 / 4
    assert by_figure["a period's total"].size == 5000 / 2
    busy = by_figure["one of the busiest tenth of cells"]
    assert busy.size > 5000 / 24
    assert busy.share == busy.error / busy.size
    assert all(0 < one.error < one.size for one in expected.errors)
    assert expected.left_out == 0


def test_features_of_the_plan_are_figures_too_but_none_twice(tmp_path: Path) -> None:
    job = job_of(tmp_path, mechanism={"name": "learned"}, privacy=TRIP)
    named = [one.figure for one in forecast_od(job, ExpectedPopulation(trips=100)).errors]
    assert len(set(named)) == len(named)
    assert named[6:] == ["one of zones in one period"]


def test_more_budget_means_smaller_errors_of_every_figure() -> None:
    cells = small(places=20, minutes=120)
    features = with_ends(cells, (total_feature(cells), period_feature(cells)))
    scene = trips_scene(cells, figures(cells, features), stand_in(cells, trips=20_000, people=9000))

    def errors(epsilon: str) -> list[float]:
        budget = PureLoss(Fraction(epsilon))
        shares = learned_shares(features, budget, Bound.of_records(1))
        mechanism = od_learned(cells, features, budget=budget, shares=shares)
        return [one.error for one in typical_errors(mechanism, scene, seeds=range(2)).value]

    little, some, much = (errors(epsilon) for epsilon in ("0.1", "1", "8"))
    assert len(little) == 8
    assert all(a > b > c for a, b, c in zip(little, some, much, strict=True))


def test_figures_are_what_they_are_called() -> None:
    """With next to no noise sizes can be counted by hand, and nothing is off."""
    cells = small(places=5, minutes=840)
    origin = np.array([0] * 50 + [1] * 3 + [2] * 2 + [3, 3, 3, 3, 4, 4, 4, 4])
    destination = np.array([1] * 50 + [2] * 3 + [3] * 2 + [0, 1, 2, 4, 0, 1, 2, 3])
    trips = TripArrays(period=np.zeros_like(origin), origin=origin, destination=destination)
    scene = trips_scene(cells, figures(cells, ()), trips)
    found = typical_errors(DenseLaplace(spend=PureLoss(Fraction(100))), scene, seeds=range(2))
    assert {one.figure: (one.size, one.error) for one in found.value} == {
        "one cell with a row": (63 / 20, 0.0),
        # Eleven cells hold trips: the busiest tenth is two of them.
        "one of the busiest tenth of cells": ((50 + 3) / 2, 0.0),
        "all trips": (63.0, 0.0),
        "an origin's total": (63 / 5, 0.0),
        "a destination's total": (63 / 5, 0.0),
    }


def test_a_single_figure_is_not_right_by_luck() -> None:
    cells = small(places=6, minutes=420)
    features = (total_feature(cells), period_feature(cells))
    budget = PureLoss(Fraction(1))
    mechanism = od_cbdp(cells, features, budget=budget, shares=[Fraction(1, 3)] * 3)
    scene = trips_scene(cells, figures(cells, features), stand_in(cells, trips=900, people=900))
    noise = mechanism.forecast(cells, Bound.of_records(1))[1].standard_error
    for seed in range(20):
        found = typical_errors(mechanism, scene, seeds=range(seed, seed + 1)).value
        (whole,) = (one for one in found if one.figure == "all trips")
        assert whole.error >= 0.7 * noise


def test_trips_that_the_cap_leaves_out_are_part_of_the_error(tmp_path: Path) -> None:
    capped = {"unit": "person", "max_trips": 2, "epsilon": "8"}
    job = job_of(tmp_path, mechanism={"name": "cbdp"}, privacy=capped)
    expected = forecast_od(job, ExpectedPopulation(trips=6000, people=1000))
    # Of six trips of a person at most two are counted.
    assert expected.left_out is not None
    assert 4 / 6 <= expected.left_out < 0.8
    (whole,) = (one for one in expected.errors if one.figure == "all trips")
    assert whole.share == pytest.approx(expected.left_out, abs=0.02)
    assert f"The contribution limit of 2 leaves out {expected.left_out:.0%}" in expected.notes[1]


def test_trips_that_are_estimated_are_no_error(tmp_path: Path) -> None:
    privacy = {"unit": "person", "max_trips": "auto", "epsilon": "8"}
    job = job_of(tmp_path, mechanism={"name": "learned"}, privacy=privacy)
    expected = forecast_od(job, ExpectedPopulation(trips=6000, people=1000))
    (whole,) = (one for one in expected.errors if one.figure == "all trips")
    assert whole.share is not None
    assert whole.share < 0.1


def test_without_a_guess_of_people_nothing_is_said_about_the_cap(tmp_path: Path) -> None:
    capped = {"unit": "person", "max_trips": 2, "epsilon": "8"}
    job = job_of(tmp_path, mechanism={"name": "learned"}, privacy=capped)
    expected = forecast_od(job, ExpectedPopulation(trips=6000))
    assert expected.left_out is None
    assert "Without a guess of people" in expected.notes[1]
    (whole,) = (one for one in expected.errors if one.figure == "all trips")
    assert whole.share is not None
    assert whole.share < 0.05


def test_what_would_take_too_long_is_not_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(tmp_path, privacy=TRIP)
    # So many trips could not even be held in memory.
    crowded = forecast_od(job, ExpectedPopulation(trips=10**15))
    assert crowded.errors == ()
    assert crowded.notes == ("No forecast is made from a guess of more than 4,000,000 trips.",)
    monkeypatch.setattr(forecast_module, "MOST_CELLS", 23)
    large = forecast_od(job, ExpectedPopulation(trips=100))
    assert large.errors == ()
    assert "more than 23 cells, and this one has 24" in large.notes[0]


@pytest.mark.parametrize(
    "crowd",
    [
        ExpectedPopulation(trips=0),
        ExpectedPopulation(trips=-5),
        ExpectedPopulation(trips=10, people=0),
        ExpectedPopulation(trips=10, people=-1),
        ExpectedPopulation(trips=10, people=11),
    ],
    ids=str,
)
def test_a_crowd_that_cannot_be_is_refused(tmp_path: Path, crowd: ExpectedPopulation) -> None:
    with pytest.raises(PlanError, match="at least as many trips as people"):
        price_tag(job_of(tmp_path), crowd=crowd)


@pytest.mark.parametrize("family", ["sequences", "links"])
def test_families_that_cannot_foresee_say_so(tmp_path: Path, family: str) -> None:
    job = job_of(tmp_path, family)
    assert not can_be_foreseen(job)
    assert price_tag(job).expected is None
    with pytest.raises(PlanError, match=f"Errors of the release type {family} cannot be foreseen"):
        expected_errors(job, ExpectedPopulation(trips=100))
