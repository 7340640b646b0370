"""Steps of a series that learn from the releases before them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import hushway
from hushway.cli.app import app
from hushway.errors import PlanError, ReleaseError
from hushway.families.load import load_plan, prepare
from hushway.families.refit import fitted_again
from hushway.families.sealed import read_certificate, read_facts
from hushway.families.series import learning_from, named, named_releases
from hushway.privacy.ledger import Ledger
from hushway.release.folder.finding import Outcome
from hushway.release.folder.seal import Seal
from support.little_city import write_table

PLAN = """
release_type = "od"
[data]
trips = "trips-{step}.csv"
name = "trips"
[data.columns]
person = "rider"
origin = "from"
destination = "to"
time = "at"
[places]
file = "places.csv"
[time]
zone = "Europe/Paris"
minutes = 720
[privacy]
unit = "person"
epsilon = "4"
delta = "1e-6"
[mechanism]
noise = "gaussian"
[series]
step = "month"
steps_per_span = 12
budget = "40"
learn_from = "releases"
[ledger]
period = "monthly"
[release]
folder = "releases/{step}"
title = "Trips in {step}"
[engine]
threads = 1
encrypt_spills = false
"""
STEPS = ("2026-01", "2026-02", "2026-03")
PLACES = [("a", "A", 2.30, 48.80), ("b", "B", 2.31, 48.81), ("c", "C", 2.32, 48.82)]


def written(folder: Path) -> Path:
    write_table(folder / "places.csv", "id,name,lon,lat", PLACES)
    for step in STEPS:
        rows = [(f"r{n}", "ab"[n % 2], "c", f"{step}-1{n % 9}T08:00:00") for n in range(300)]
        write_table(folder / f"trips-{step}.csv", "rider,from,to,at", rows)
    (folder / "releases").mkdir()
    file = folder / "plan.toml"
    file.write_text(PLAN, encoding="utf-8")
    return file


def published(plan: Path, step: str) -> Path:
    return hushway.publish(plan, step=step, anyway=True).folder


def spent(plan: Path) -> Any:
    with Ledger.connect(plan.parent / "ledger.db") as ledger:
        return ledger.accounts()[0].lifetime


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = written(tmp_path_factory.mktemp("series"))
    hushway.ledger.open(load_plan(plan, step=STEPS[0]))
    (plan.parent / "releases" / "notes").mkdir()
    for step in STEPS:
        published(plan, step)
    return plan


@pytest.fixture
def copy(series: Path, tmp_path: Path) -> Path:
    """Returns the plan of two steps, of which the third is still to be published."""
    shutil.copytree(series.parent, tmp_path / "copy", dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "copy" / "releases" / STEPS[2])
    return tmp_path / "copy" / "plan.toml"


def test_a_certificate_names_what_was_learnt_from(series: Path) -> None:
    releases = series.parent / "releases"
    assert named(read_certificate(releases / STEPS[0])) == ()
    third = read_certificate(releases / STEPS[2])
    before = [read_certificate(releases / step).release_id for step in (STEPS[1], STEPS[0])]
    assert [(each["release"], each["steps_away"]) for each in named(third)] == [
        (before[0], 1),
        (before[1], 2),
    ]
    seal = Seal.from_json((releases / STEPS[1] / "seal.json").read_bytes())
    assert named(third)[0]["seal"] == seal.digest
    page = (releases / STEPS[2] / "certificate.html").read_text("utf-8")
    assert "noisy answers of 2 other releases" in page
    assert hushway.verify(releases / STEPS[2], ledger=series.parent / "ledger.db").passed


def fit_of(folder: Path, **given: Any) -> Any:
    verification = hushway.verify(folder, refit=True, **given)
    return next(check for check in verification.checks if check.name == "fit")


def test_it_is_fitted_again_from_all_of_them(series: Path) -> None:
    releases = series.parent / "releases"
    alone = fit_of(releases / STEPS[2])
    assert alone.outcome is Outcome.ABSENT
    assert "learnt from 2 other releases" in alone.sentence
    found = fit_of(releases / STEPS[2], series=releases)
    assert found.passed, found.sentence
    assert "those of 2 other releases" in found.sentence
    done = CliRunner().invoke(
        app, ["verify", str(releases / STEPS[2]), "--refit", "--series", str(releases)]
    )
    assert done.exit_code == 0, done.output
    assert "same to the last byte" in " ".join(done.output.split())


def test_what_was_learnt_changes_the_table(series: Path) -> None:
    folder = series.parent / "releases" / STEPS[2]
    certificate, facts = read_certificate(folder), read_facts(folder)
    others = named_releases(certificate, folder.parent)
    learnt = fitted_again(folder, certificate, facts, others)
    fewer = fitted_again(folder, certificate, facts, others[:1])
    assert learnt.estimates.means.tolist() != fewer.estimates.means.tolist()


def test_a_release_that_is_missing_is_named(series: Path, tmp_path: Path) -> None:
    releases = tmp_path / "releases"
    shutil.copytree(series.parent / "releases", releases)
    shutil.rmtree(releases / STEPS[0])
    missing = fit_of(releases / STEPS[2], series=releases)
    assert not missing.passed
    assert "not in the folder" in missing.sentence


def test_nothing_is_learnt_from_a_release_that_was_changed(copy: Path) -> None:
    before = spent(copy)
    changed = copy.parent / "releases" / STEPS[0] / "trips.csv"
    changed.write_bytes(changed.read_bytes() + b"\n")
    with pytest.raises(ReleaseError, match="were changed"):
        published(copy, STEPS[2])
    assert spent(copy) == before


def test_nothing_is_learnt_from_a_release_that_nobody_charged_for(
    copy: Path, tmp_path: Path
) -> None:
    (tmp_path / "stranger").mkdir()
    stranger = written(tmp_path / "stranger")
    hushway.ledger.open(load_plan(stranger, step=STEPS[0]))
    shutil.copytree(published(stranger, STEPS[0]), copy.parent / "releases" / "strange")
    before = spent(copy)
    with pytest.raises(ReleaseError, match="does not know the release strange"):
        published(copy, STEPS[2])
    assert spent(copy) == before


def test_what_does_not_help_is_not_named(copy: Path) -> None:
    text = PLAN.replace("720", "480").replace('step}"\ntitle', 'step}-parts"\ntitle')
    copy.write_text(text, encoding="utf-8")
    assert named(read_certificate(published(copy, STEPS[2]))) == ()


def test_places_may_come_and_go(copy: Path) -> None:
    places = [*PLACES[1:], ("d", "D", 2.33, 48.83)]
    write_table(copy.parent / "places.csv", "id,name,lon,lat", places)
    folder = published(copy, STEPS[2])
    assert len(named(read_certificate(folder))) == len(STEPS) - 1
    assert fit_of(folder, series=folder.parent).passed


def test_only_tables_that_learn_can(copy: Path) -> None:
    copy.write_text(
        PLAN.replace('noise = "gaussian"', 'name = "laplace"').replace(
            'delta = "1e-6"', 'delta = "1e-6"\nmax_trips = 2'
        ),
        encoding="utf-8",
    )
    with pytest.raises(PlanError, match="only tables that learn"):
        published(copy, STEPS[2])


def test_what_is_asked_and_spent_stays(series: Path) -> None:
    plan = load_plan(series, step=STEPS[2])
    alone = prepare(plan)
    folder = series.parent / "releases"
    others = named_releases(read_certificate(folder / STEPS[2]), folder)
    job = learning_from(alone, others)
    assert job.terms.events == alone.terms.events
    assert job.mechanism.losses == alone.mechanism.losses
    assert len(job.terms.mechanism.parameters["learnt_from"]) == len(others)


def test_the_plan_is_checked_with_them(copy: Path) -> None:
    assert not [one for one in hushway.check(copy, step=STEPS[2]).everything if one.refused]
    shutil.rmtree(copy.parent / "releases" / STEPS[0] / "seal.json", ignore_errors=True)
    facts = json.loads((copy.parent / "releases" / STEPS[1] / "certificate.json").read_bytes())
    assert facts["mechanism"]["parameters"]["learnt_from"]
