"""Densities of a series that learn from the releases before them."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import hushway
from hushway.errors import PlanError
from hushway.families.load import load_plan
from hushway.families.sealed import read_certificate
from hushway.release.others import named
from support.little_city import write_features, write_table

PLAN = """
release_type = "density"
[data]
name = "events"
events = "events-{step}.csv"
[data.columns]
person = "person"
lon = "lon"
lat = "lat"
time = "time"
[areas]
file = "areas.geojson"
[time]
zone = "Europe/Lisbon"
minutes = 720
[privacy]
unit = "person"
epsilon = "2"
[series]
step = "month"
steps_per_span = 12
budget = "24"
learn_from = "releases"
[ledger]
period = "monthly"
[release]
folder = "releases/{step}"
title = "Visits in {step}"
[engine]
threads = 1
encrypt_spills = false
"""
STEPS = ("2026-01", "2026-02", "2026-03", "2026-05")
SKIPPED = "2026-04"


def squares(count: int) -> list[dict[str, Any]]:
    corners = ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))
    return [
        {
            "type": "Feature",
            "properties": {"id": f"s{i}"},
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[-8.6 + 0.01 * (i + x), 41.1 + 0.01 * y] for x, y in corners]],
            },
        }
        for i in range(count)
    ]


def published(plan: Path, step: str) -> Path:
    return hushway.publish(plan, step=step, anyway=True).folder


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the plan of three published months in a row and of the one after next."""
    folder = tmp_path_factory.mktemp("series")
    write_features(folder / "areas.geojson", squares(4))
    for step in (*STEPS, SKIPPED):
        rows = [
            (
                f"p{n}",
                -8.595 + 0.01 * (n % 4),
                41.105,
                f"{step}-{1 + (n + k) % 28:02}T{9 + 6 * k:02}:00:00",
            )
            for n in range(400)
            for k in range(2)
        ]
        write_table(folder / f"events-{step}.csv", "person,lon,lat,time", rows)
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


def test_steps_before_are_named_with_how_far_away_they_are(series: Path) -> None:
    releases = series.parent / "releases"
    assert named(read_certificate(releases / STEPS[0])) == ()
    last = read_certificate(releases / STEPS[-1])
    assert [each["steps_away"] for each in named(last)] == [2, 3, 4]
    assert "noisy answers of 3 other releases" in (
        releases / STEPS[-1] / "certificate.html"
    ).read_text("utf-8")
    assert hushway.verify(releases / STEPS[-1], ledger=series.parent / "ledger.db").passed


def test_it_is_fitted_again_to_the_last_byte_from_all_of_them(series: Path) -> None:
    releases = series.parent / "releases"
    found = fit_of(releases / STEPS[-1], releases)
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

    first, revised = (folder / "density.parquet" for folder in (releases / STEPS[1], again))
    assert first.read_bytes() != revised.read_bytes()
    assert hushway.compare(releases / STEPS[1], again).beyond == 0


def test_areas_come_and_go_and_what_does_not_help_is_not_named(copy: Path) -> None:
    write_features(copy.parent / "areas.geojson", squares(5)[1:])
    folder = published(copy, STEPS[-1])
    assert len(named(read_certificate(folder))) == 3
    assert fit_of(folder, folder.parent).passed


def test_other_parts_of_the_day_do_not_help(copy: Path) -> None:
    text = PLAN.replace("720", "480").replace('step}"\ntitle', 'step}-parts"\ntitle')
    copy.write_text(text, encoding="utf-8")
    assert named(read_certificate(published(copy, STEPS[-1]))) == ()


def test_other_mechanisms_are_learnt_from_and_do_not_learn(copy: Path) -> None:
    laplace = PLAN.replace(
        'epsilon = "2"', 'epsilon = "2"\nmax_visits = 2\nmax_visits_in_total = 2'
    )
    laplace = laplace.replace("[series]", '[mechanism]\nname = "laplace"\n[series]')
    copy.write_text(laplace, encoding="utf-8")
    with pytest.raises(PlanError, match="only densities with"):
        published(copy, STEPS[-1])
    copy.write_text(laplace.replace('learn_from = "releases"\n', ""), encoding="utf-8")
    published(copy, SKIPPED)
    copy.write_text(PLAN, encoding="utf-8")
    folder = published(copy, STEPS[-1])
    assert [each["steps_away"] for each in named(read_certificate(folder))] == [1, 2, 3, 4]
    assert fit_of(folder, folder.parent).passed
