"""Every release can be fitted again from its noisy answers, bit by bit, and no forged one can."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from hushway.cli.app import app
from hushway.errors import ReleaseError
from hushway.families.load import plan_from, prepare
from hushway.families.refit import check_refit, fitted_again
from hushway.families.sealed import read_certificate, read_facts
from hushway.families.verify import verify
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.privacy.measured import KeptAnswer
from hushway.release.folder.answers import ANSWERS, answers_parquet, read_answers
from hushway.release.folder.finding import Outcome
from hushway.steward.publish import publish
from support.little_plans import FAMILIES, little_plan
from support.replay.rows import one_crowd, write_public_and
from support.replay.variants import Variant, changed_variants, other_plans, usual_variants

_OTHERS = other_plans()


def published(plan: dict[str, Any], folder: Path) -> Path:
    folder = folder / "here"
    write_public_and(one_crowd, folder)
    job = prepare(plan_from(plan, folder=folder))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.ZCDP, Fraction(1000)))
    return publish(job, anyway=True).folder


def check_fits_again(plan: dict[str, Any], folder: Path) -> None:
    found = {check.name: check for check in verify(published(plan, folder), refit=True).checks}
    assert [check.sentence for check in found.values() if not check.passed] == []
    assert "the same to the last byte" in found["fit"].sentence


@pytest.mark.parametrize("variant", usual_variants(), ids=str)
def test_every_mechanism_can_be_fitted_again(variant: Variant, tmp_path: Path) -> None:
    check_fits_again(variant.plan, tmp_path)


@pytest.mark.one_in(15)
@pytest.mark.parametrize("variant", changed_variants(), ids=str)
def test_so_it_can_whatever_its_options_are(variant: Variant, tmp_path: Path) -> None:
    check_fits_again(variant.plan, tmp_path)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", _OTHERS)
def test_so_it_can_with_other_units_places_and_records(name: str, tmp_path: Path) -> None:
    check_fits_again(_OTHERS[name], tmp_path)


@pytest.fixture(scope="module", params=FAMILIES)
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    return published(little_plan(request.param), folder)


def refitted(folder: Path) -> str:
    return check_refit(folder, read_certificate(folder), read_facts(folder))


def test_one_answer_that_was_changed_shows(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    *others, last = read_answers(release / ANSWERS)
    moved = replace(last, values=last.values + 7)
    monkeypatch.setattr("hushway.release.folder.answers.read_answers", lambda _: (*others, moved))
    with pytest.raises(ReleaseError, match=r"other files|contradicts|not what"):
        refitted(release)


def test_an_answer_too_few_or_too_many_is_refused(
    release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = read_answers(release / ANSWERS)
    for wrong in (answers[:-1], (*answers, answers[-1])):
        monkeypatch.setattr(
            "hushway.release.folder.answers.read_answers", lambda _, wrong=wrong: wrong
        )
        with pytest.raises(ReleaseError, match="as many answers as measurements"):
            refitted(release)


def test_a_mechanism_that_fits_again_has_no_rows(release: Path) -> None:
    for path in release.parent.glob("*"):
        if path.is_file():
            path.write_bytes(b"")  # rows, plan and ledger
    assert "the same to the last byte" in refitted(release)
    assert type(fitted_again(release, read_certificate(release), read_facts(release)))


def test_the_command_fits_again_in_a_process_that_can_read_nothing_else(tmp_path: Path) -> None:
    folder = published(little_plan("density"), tmp_path)
    done = CliRunner().invoke(app, ["verify", str(folder), "--refit", "--json"])
    found = json.loads(done.output)
    (fit,) = (check for check in found["checks"] if check["name"] == "fit")
    assert (done.exit_code, fit["outcome"]) == (0, "passed")
    assert found["checks"] == [vars(check) for check in verify(folder, refit=True).checks]


def test_without_its_answers_a_release_says_so(tmp_path: Path) -> None:
    plan = little_plan("od")
    plan["release"] = plan["release"] | {"noisy_answers": False}
    folder = published(plan, tmp_path)
    assert not (folder / ANSWERS).exists()
    assert "nobody can fit it again" in (folder / "README.md").read_text("utf-8")
    checked = verify(folder, refit=True)
    (fit,) = (check for check in checked.checks if check.name == "fit")
    assert checked.passed
    assert (fit.outcome, "not kept" in fit.sentence) == (Outcome.ABSENT, True)


def test_answers_are_read_as_they_were_written(tmp_path: Path) -> None:
    dense = KeptAnswer(values=np.array([3, -5, 0], dtype=np.int64))
    sparse = KeptAnswer(
        values=np.array([9, 8], dtype=np.int64),
        cells=np.array([4, 1 << 40], dtype=np.int64),
        thresholds=np.array([7, np.iinfo(np.int64).max], dtype=np.int64),
    )
    written = answers_parquet([dense, sparse])
    assert written is not None
    (tmp_path / ANSWERS).write_bytes(written)
    for kept, read in zip((dense, sparse), read_answers(tmp_path / ANSWERS), strict=True):
        assert np.array_equal(kept.values, read.values)
        for one, other in ((kept.cells, read.cells), (kept.thresholds, read.thresholds)):
            assert (one is None and other is None) or np.array_equal(one, other)


def test_answers_that_would_take_too_much_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = KeptAnswer(values=np.zeros(10, dtype=np.int64))
    assert answers_parquet([answer]) is not None
    monkeypatch.setattr("hushway.release.folder.answers.MOST_BYTES", 10)
    assert answers_parquet([answer]) is None
    assert answers_parquet(None) is None
