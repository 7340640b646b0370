"""Sequences of people with several days each: the limit is chosen, stated, and chosen again."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import hushway
from hushway.errors import ReleaseError
from hushway.families.load import plan_from, prepare
from hushway.families.sequences.mechanism.terms import stated_terms
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.privacy.randomness import SeededSource
from hushway.release.folder.finding import Outcome
from hushway.release.job import Job
from hushway.release.terms import check_terms
from hushway.steward.publish import Published, publish
from support.little_plans import little_plan, write_little_files

PEOPLE = 900
WAYS = ("ab", "abc", "bd", "ca")


def days_of(person: int) -> int:
    return 1 if person % 3 else 4


RECORDS = sum(map(days_of, range(PEOPLE)))


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("people")
    write_little_files(folder)
    taps = [
        f"p{person},{place},2026-03-{2 + day:02d}T{8 + hour:02d}:30:00"
        for person in range(PEOPLE)
        for day in range(days_of(person))
        for hour, place in enumerate(WAYS[person % len(WAYS)])
    ]
    (folder / "taps.csv").write_text("\n".join(["person,place,time", *taps]), encoding="utf-8")
    plan = little_plan("sequences") | {"mechanism": {"name": "learned"}}
    plan["privacy"] = {"epsilon": "8"}
    return prepare(plan_from(plan, folder=folder))


@pytest.fixture(scope="module")
def published(job: Job) -> Published:
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.ZCDP, Fraction(10**6)))
    return publish(job, source=SeededSource(3))


@pytest.fixture(scope="module")
def release(published: Published) -> Path:
    return published.folder


def test_counts_estimate_all_records(release: Path) -> None:
    certificate = json.loads((release / "certificate.json").read_text("utf-8"))
    assert "Counts estimate all records." in certificate["contribution"]["words"]
    package = json.loads((release / "datapackage.json").read_text("utf-8"))
    assert package["table"]["records"] == pytest.approx(RECORDS, rel=0.05)


def test_it_verifies_but_for_the_seed(release: Path) -> None:
    checks = hushway.verify(release).checks
    assert [check.name for check in checks if check.outcome is Outcome.FAILED] == ["randomness"]


def test_limits_that_do_not_follow_from_the_noisy_histogram_are_refused(
    job: Job, published: Published
) -> None:
    stated, universe = published.certificate, job.geography
    assert isinstance(universe, SequenceUniverse)
    cells = [event.cells for event in stated.terms.events]
    check_terms(stated, stated_terms(stated, universe)[0].measured(cells))
    record = stated.terms.mechanism
    others = {**record.parameters, "people_by_records": [10, 10, 10, 9000, 0]}
    terms = replace(stated.terms, mechanism=replace(record, parameters=others))
    forged = replace(stated, terms=terms)
    with pytest.raises(ReleaseError, match="contradicts itself"):
        check_terms(forged, stated_terms(forged, universe)[0])


def test_a_tree_does_not_choose_its_limit(tmp_path: Path) -> None:
    write_little_files(tmp_path)
    plan = little_plan("sequences") | {"privacy": {"epsilon": "1"}}
    with pytest.raises(hushway.HushwayError, match="max_records: must be a number"):
        plan_from(plan, folder=tmp_path)
    # Nor where it is taken because times are kept.
    plan["records"]["times"] = True
    del plan["mechanism"]
    with pytest.raises(hushway.HushwayError, match="max_records: must be a number"):
        prepare(plan_from(plan, folder=tmp_path))
