"""Links of a series that learn from the releases before them."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import hushway
from hushway.families.load import load_plan
from hushway.families.sealed import read_certificate
from hushway.release.others import named
from support.little_city import write_features, write_table

PLAN = """
release_type = "links"
[data]
name = "traces"
traces = "traces-{step}.csv"
[roads]
file = "roads.geojson"
[time]
zone = "Europe/Lisbon"
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
title = "Traffic in {step}"
[engine]
threads = 1
encrypt_spills = false
"""
STEPS = ("2026-01", "2026-02", "2026-03", "2026-05")
LATER = "2026-06"
CORNERS = [(-8.600 + 0.002 * step, 41.10) for step in range(6)]


def roads(corners: list[tuple[float, float]]) -> list[dict[str, Any]]:
    """Returns the blocks of a street, and a way round from its end to its beginning."""
    (first, south), (last, _) = corners[0], corners[-1]
    north = south + 0.002
    blocks = [list(pair) for pair in pairwise(corners)]
    blocks.append([corners[-1], (last, north), (first, north), corners[0]])
    return [
        {
            "type": "Feature",
            "properties": {"link_id": f"at {line[0][0]:.3f}", "class": "primary", "speed": 50},
            "geometry": {"type": "LineString", "coordinates": [list(point) for point in line]},
        }
        for line in blocks
    ]


def published(plan: Path, step: str) -> Path:
    return hushway.publish(plan, step=step, anyway=True).folder


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the plan of three published months in a row and of the one after next."""
    folder = tmp_path_factory.mktemp("series")
    write_features(folder / "roads.geojson", roads(CORNERS))
    for step in (*STEPS, LATER):
        rows = [
            (f"p{n}", f"{step}-{1 + n % 28:02}T10:{at:02}:00", lon, lat)
            for n in range(200)
            for at, (lon, lat) in enumerate(CORNERS[: 3 + n % 4])
        ]
        write_table(folder / f"traces-{step}.csv", "person,time,lon,lat", rows)
    (folder / "releases").mkdir()
    plan = folder / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8")
    hushway.ledger.open(load_plan(plan, step=STEPS[0]))
    for step in STEPS:
        published(plan, step)
    return plan


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


def test_a_revision_learns_from_both_sides(series: Path, tmp_path: Path) -> None:
    releases = series.parent / "releases"
    again = hushway.revise(releases / STEPS[1], series=releases, to=tmp_path / "again")
    assert [each["steps_away"] for each in named(read_certificate(again))] == [0, -1, 1, -3]
    found = fit_of(again, releases)
    assert found.passed, found.sentence
    first, revised = (folder / "links.parquet" for folder in (releases / STEPS[1], again))
    assert first.read_bytes() != revised.read_bytes()


def test_roads_come_and_go_and_other_periods_do_not_help(series: Path) -> None:
    longer = [*CORNERS, (CORNERS[-1][0] + 0.002, CORNERS[-1][1])]
    write_features(series.parent / "roads.geojson", roads(longer))
    folder = published(series, LATER)
    assert len(named(read_certificate(folder))) == 4
    assert fit_of(folder, folder.parent).passed

    hours = PLAN.replace('Lisbon"', 'Lisbon"\nminutes = 720').replace(
        '{step}"\ntitle', '{step}-h"\ntitle'
    )
    series.write_text(hours, encoding="utf-8")
    assert named(read_certificate(published(series, LATER))) == ()
