"""Sequences of a series that learn from each other: published, fitted again and revised."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import hushway
from hushway.errors import PlanError
from hushway.families.load import load_plan
from hushway.families.sealed import read_certificate
from hushway.release.others import named
from support.little_city import write_table

PLAN = """
release_type = "sequences"
[data]
name = "taps"
taps = "taps-{step}.csv"
[data.columns]
person = "person"
place = "place"
[places]
file = "places.csv"
[time]
zone = "Europe/Lisbon"
[records]
max_stops = 4
[mechanism]
name = "learned"
[privacy]
unit = "person"
epsilon = "8"
[series]
step = "month"
steps_per_span = 12
budget = "96"
learn_from = "releases"
[ledger]
period = "monthly"
[release]
folder = "releases/{step}"
title = "Ways in {step}"
[engine]
threads = 1
encrypt_spills = false
"""
STEPS = ("2026-01", "2026-02", "2026-03", "2026-05")
WAYS = ("ab", "abc", "bd", "ca")


def places(ids: str) -> list[tuple[Any, ...]]:
    return [(key, -8.6 + 0.01 * at, 41.1) for at, key in enumerate(ids)]


def published(plan: Path, step: str) -> Path:
    return hushway.publish(plan, step=step, anyway=True).folder


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the plan of three published months in a row and of the one after next."""
    folder = tmp_path_factory.mktemp("series")
    write_table(folder / "places.csv", "id,lon,lat", places("abcd"))
    for step in STEPS:
        rows = [
            (f"p{n}", place, f"{step}-{2 + day:02}T{8 + hour:02}:30:00")
            for n in range(400)
            for day in range(1 + n % 3)
            for hour, place in enumerate(WAYS[n % len(WAYS)])
        ]
        write_table(folder / f"taps-{step}.csv", "person,place,time", rows)
    (folder / "releases").mkdir()
    plan = folder / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8")
    hushway.ledger.open(load_plan(plan, step=STEPS[0]))
    for step in STEPS:
        published(plan, step)
    return plan


@pytest.fixture
def copy(series: Path, tmp_path: Path) -> Path:
    """Returns the plan with the last month still to be published."""
    shutil.copytree(series.parent, tmp_path / "copy", dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "copy" / "releases" / STEPS[-1])
    return tmp_path / "copy" / "plan.toml"


def fit_of(folder: Path, series: Path) -> Any:
    verification = hushway.verify(folder, refit=True, series=series)
    return next(check for check in verification.checks if check.name == "fit")


def test_steps_before_are_named_and_it_is_fitted_again_from_all_of_them(series: Path) -> None:
    releases = series.parent / "releases"
    assert named(read_certificate(releases / STEPS[0])) == ()
    last = releases / STEPS[-1]
    assert [each["steps_away"] for each in named(read_certificate(last))] == [2, 3, 4]
    assert "noisy answers of 3 other releases" in (last / "certificate.html").read_text("utf-8")
    assert hushway.verify(last, ledger=series.parent / "ledger.db").passed
    found = fit_of(last, releases)
    assert found.passed, found.sentence
    assert "those of 3 other releases" in found.sentence


def test_a_revision_learns_from_both_sides_and_keeps_what_was_measured(
    series: Path, tmp_path: Path
) -> None:
    releases = series.parent / "releases"
    again = hushway.revise(releases / STEPS[1], series=releases, to=tmp_path / "again")
    assert [each["steps_away"] for each in named(read_certificate(again))] == [0, -1, 1, -3]
    found = fit_of(again, releases)
    assert found.passed, found.sentence
    answers = (folder / "noisy_answers.parquet" for folder in (releases / STEPS[1], again))
    first, kept = (file.read_bytes() for file in answers)
    assert first == kept


def test_a_series_adds_up_months_that_hold_no_times(series: Path, tmp_path: Path) -> None:
    releases = series.parent / "releases"
    city = hushway.series(releases)
    assert (city.step, city.steps, city.missing) == ("month", STEPS, ("2026-04",))
    months, quarters = city.sum(), city.sum(by="quarter")
    assert len(months) == 4
    assert quarters[0].value == sum(one.value for one in months[:3])
    again = hushway.revise(releases / STEPS[0], series=releases, to=tmp_path / "again")
    assert hushway.series([releases, again]).releases[STEPS[0]].folder == again


def test_places_come_and_go(copy: Path) -> None:
    write_table(copy.parent / "places.csv", "id,lon,lat", places("xcba"))
    folder = published(copy, STEPS[-1])
    assert len(named(read_certificate(folder))) == 3
    assert fit_of(folder, folder.parent).passed


def test_longer_records_do_not_help_and_trees_do_not_learn(copy: Path) -> None:
    copy.write_text(PLAN.replace("max_stops = 4", "max_stops = 5"), encoding="utf-8")
    assert named(read_certificate(published(copy, STEPS[-1]))) == ()
    shutil.rmtree(copy.parent / "releases" / STEPS[-1])
    tree = PLAN.replace('"learned"', '"prefix_tree"').replace('"8"', '"8"\nmax_records = 2')
    copy.write_text(tree, encoding="utf-8")
    with pytest.raises(PlanError, match="only sequences that are learnt"):
        published(copy, STEPS[-1])
