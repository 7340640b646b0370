"""Steps of a series that learn from the releases before them."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import hushway
from hushway.cli.app import app
from hushway.errors import PlanError, ReleaseError
from hushway.families.load import load_plan, prepare
from hushway.families.other_steps import learning_from, named_releases
from hushway.families.refit import check_revised, fitted_again
from hushway.families.sealed import read_certificate, read_facts
from hushway.privacy.ledger import Ledger
from hushway.release.folder.finding import Outcome
from hushway.release.folder.seal import Seal
from hushway.release.others import LEARNT_FROM, certified_others, is_revision, named
from support.little_city import write_table
from support.monthly import PLACES, plan_with

PLAN = plan_with(
    {
        'epsilon = "8"\nmax_trips = 2': 'epsilon = "4"\ndelta = "1e-6"',
        'name = "laplace"': 'noise = "gaussian"',
        'budget = "96"': 'budget = "40"\nlearn_from = "releases"',
    }
)
STEPS = ("2026-01", "2026-02", "2026-03")


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


@pytest.mark.long
def test_the_command_fits_again_where_it_may_read_them(series: Path) -> None:
    releases = series.parent / "releases"
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


@pytest.fixture(scope="module")
def released(series: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder of releases, far from plan, rows and ledger."""
    folder = tmp_path_factory.mktemp("reader") / "releases"
    shutil.copytree(series.parent / "releases", folder)
    return folder


@pytest.fixture(scope="module")
def revised(released: Path) -> Path:
    to = released.parent / "revised"
    done = CliRunner().invoke(
        app,
        ["revise", str(released / STEPS[1]), "--series", str(released), "--to", str(to)],
    )
    assert done.exit_code == 0, (done.output, done.exception)
    assert "Nothing was spent" in done.output
    return to


def test_a_revision_learns_from_steps_on_both_sides(series: Path, revised: Path) -> None:
    certificate = read_certificate(revised)
    first = read_certificate(series.parent / "releases" / STEPS[1])
    assert is_revision(certificate)
    assert [each["steps_away"] for each in named(certificate)] == [0, -1, 1]
    assert named(certificate)[0]["release"] == first.release_id
    assert (certificate.terms.events, certificate.account) == (first.terms.events, first.account)
    assert certificate.title == "Trips in 2026-02 (revised)"
    page = (revised / "certificate.html").read_text("utf-8")
    assert f"revised fit of the release {first.release_id}" in page
    tables = [folder / "estimates.parquet" for folder in (revised, series.parent / "releases")]
    assert tables[0].read_bytes() != (tables[1].parent / STEPS[1] / tables[1].name).read_bytes()


def test_catalogues_know_the_step_before_and_the_version_that_was_revised(
    series: Path, revised: Path
) -> None:
    releases = [series.parent / "releases" / step for step in STEPS]
    ids = [read_certificate(folder).release_id for folder in releases]
    first, _, third, revision = (
        json.loads((folder / "mobilitydcat-ap.jsonld").read_bytes())
        for folder in (*releases, revised)
    )
    assert first.keys().isdisjoint({"dcat:prev", "dcat:previousVersion"})
    assert third["dcat:prev"] == {"@type": "dcat:Dataset", "dct:identifier": ids[1]}
    assert revision["dcat:prev"]["dct:identifier"] == ids[0]
    assert revision["dcat:previousVersion"]["dct:identifier"] == ids[1]
    assert first["dcat:inSeries"] == revision["dcat:inSeries"]


def test_a_revision_is_verified_by_whoever_has_the_releases(
    series: Path, released: Path, revised: Path
) -> None:
    assert hushway.verify(revised, ledger=series.parent / "ledger.db").passed
    found = fit_of(revised, series=released)
    assert found.passed, found.sentence


def test_a_revision_costs_nothing(series: Path, revised: Path) -> None:
    assert is_revision(read_certificate(revised))
    assert spent(series) == sum(
        read_certificate(series.parent / "releases" / step).claim.amount for step in STEPS
    )


def test_a_lost_ledger_takes_a_revision_for_the_release_that_it_revises(
    copy: Path, released: Path, revised: Path
) -> None:
    (copy.parent / "ledger.db").unlink()
    hushway.ledger.open(load_plan(copy, step=STEPS[2]))
    known = [released / STEPS[0], revised, released / STEPS[1]]
    hushway.ledger.settle(copy, step=STEPS[2], restored=True, release=known)
    with Ledger.connect(copy.parent / "ledger.db") as ledger:
        paid = [entry for entry in ledger.entries() if entry.kind == "reserve"]
        assert all(hushway.verify(folder, ledger=ledger).passed for folder in known)
    assert [entry.release for entry in paid] == [
        read_certificate(released / step).release_id for step in STEPS[:2]
    ]
    assert [str(entry.window) for entry in paid] == [
        "2026-01-01 to 2026-01-31",
        "2026-02-01 to 2026-02-28",
    ]


def test_a_revision_loads_no_code_that_reads_rows(released: Path, tmp_path: Path) -> None:
    script = (
        "import sys, hushway;"
        f"hushway.revise({str(released / STEPS[0])!r}, series={str(released)!r},"
        f" to={str(tmp_path / 'revised')!r});"
        "print([name for name in sys.modules if name in ('duckdb', 'ibis') or"
        " name.startswith(('hushway.engine', 'hushway.families.od.rows'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, stdout=subprocess.PIPE, text=True
    )
    assert done.stdout.strip() == "[]"


def test_a_revision_that_peeked_at_rows_is_caught(
    released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def peeking(*given: Any) -> Any:
        table = fitted_again(*given)
        # As if each count had been moved by one that was known from rows.
        estimates = replace(table.estimates, means=table.estimates.means + 1)
        return replace(table, estimates=estimates)

    monkeypatch.setattr("hushway.steward.revise.fitted_again", peeking)
    forged = hushway.revise(released / STEPS[1], series=released, to=tmp_path / "forged")
    found = fit_of(forged, series=released)
    assert not found.passed
    assert "other files" in found.sentence


def test_a_revision_of_other_answers_is_caught(
    released: Path, revised: Path, tmp_path: Path
) -> None:
    other = tmp_path / "releases"
    shutil.copytree(released, other)
    shutil.copy(other / STEPS[0] / "noisy_answers.parquet", other / "kept.parquet")
    forged = tmp_path / "forged"
    shutil.copytree(revised, forged)
    shutil.copy(other / "kept.parquet", forged / "noisy_answers.parquet")
    certificate, facts = read_certificate(forged), read_facts(forged)
    assert facts
    with pytest.raises(ReleaseError, match="not those of the release that it says it revises"):
        check_revised(forged, certificate, named_releases(certificate, other))


def test_what_cannot_be_revised_is_refused(released: Path, revised: Path, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="is a revision itself"):
        hushway.revise(revised, series=released, to=tmp_path / "again")
    alone = tmp_path / "alone"
    shutil.copytree(released / STEPS[0], alone / STEPS[0])
    with pytest.raises(ReleaseError, match="no other release that helps"):
        hushway.revise(alone / STEPS[0], series=alone, to=tmp_path / "again")
    with pytest.raises(ReleaseError, match="already"):
        hushway.revise(released / STEPS[0], series=released, to=revised)
    assert not (tmp_path / "again").exists()


def test_revisions_are_no_steps_to_learn_from(copy: Path, released: Path, revised: Path) -> None:
    assert released.exists()
    shutil.copytree(revised, copy.parent / "releases" / "revised")
    assert len(named(read_certificate(published(copy, STEPS[2])))) == len(STEPS) - 1


def test_a_series_reads_revisions_in_place_of_what_they_revise(
    series: Path, tmp_path: Path
) -> None:
    releases = series.parent / "releases"
    revised = hushway.revise(releases / STEPS[0], series=releases, to=tmp_path / "again" / STEPS[0])
    city = hushway.series([releases, tmp_path / "again"])
    assert [city.releases[step].folder for step in STEPS] == [
        revised,
        releases / STEPS[1],
        releases / STEPS[2],
    ]
    assert f"Revised with what other steps say: {STEPS[0]}." in city.notes({})
    whole = tmp_path / "whole"
    hushway.series([releases, tmp_path / "again"], to=whole)
    members = json.loads((whole / "mobilitydcat-ap.jsonld").read_bytes())["dcat:seriesMember"]
    older = read_certificate(releases / STEPS[0]).release_id
    assert members[0]["dcat:previousVersion"]["dct:identifier"] == older
    # Both tell the same month, by the same noisy answers: what differs is what was expected.
    assert hushway.compare(releases / STEPS[0], revised).beyond == 0
    first, second = (one.standard_error for one in city.sum()[1:])
    assert city.releases[STEPS[2]].cells.learnt
    assert city.changes() == ()
    (quarter,) = city.sum(by="quarter")
    assert quarter.standard_error >= first + second


def test_a_final_revision_is_the_one_that_a_series_reads(
    released: Path, revised: Path, tmp_path: Path
) -> None:
    to = tmp_path / "final"
    done = CliRunner().invoke(
        app,
        ["revise", str(released / STEPS[1]), "--series", str(released), "--to", str(to), "--final"],
    )
    assert done.exit_code == 0, (done.output, done.exception)
    certificate = read_certificate(to)
    assert certificate.title == "Trips in 2026-02 (final)"
    assert "final fit of the release" in (to / "certificate.html").read_text("utf-8")
    assert json.loads((to / "mobilitydcat-ap.jsonld").read_bytes())["dcat:version"] == "final"
    found = fit_of(to, series=released)
    assert found.passed, found.sentence
    city = hushway.series([released, revised, to])
    assert city.releases[STEPS[1]].folder == to
    assert f"Revised for the last time: {STEPS[1]}." in city.notes({})


def test_only_what_is_revised_can_be_final(revised: Path) -> None:
    (own, other, *_) = named(read_certificate(revised))
    for faulty in ({**own, "final": False}, {**other, "final": True}):
        with pytest.raises(TypeError):
            certified_others({LEARNT_FROM: [faulty]})
    (kept,) = certified_others({LEARNT_FROM: [{**own, "final": True}]})
    assert kept.stated["final"] is True
