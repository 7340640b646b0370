"""Certificates edited so that they claim less, and sealed again: none of them is believed."""

import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hushway.families.load import plan_from, prepare
from hushway.families.verify import verify
from hushway.privacy.accounting import budget_limit_for
from hushway.privacy.certificate import canonical_json, parsed_json
from hushway.privacy.ledger import Ledger
from hushway.release.folder.finding import Result
from hushway.steward.publish import publish
from support.little_plans import little_plan, write_little_files
from support.mutations import passes

FAMILIES = ("od", "sequences", "density", "links")
Edit = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One release of every family, with several measurements each."""
    folder = tmp_path_factory.mktemp("little")
    write_little_files(folder)
    for family in FAMILIES:
        facts = little_plan(family)
        facts["release"]["folder"] = family
        job = prepare(plan_from(facts, folder=folder))
        with Ledger.connect(job.plan.ledger_url()) as ledger:
            ledger.open_account(job.account, budget_limit_for(Fraction(9), Fraction(1, 10**6)))
        publish(job)
    return folder


def claim_again(facts: dict[str, Any]) -> None:
    """States the claim that the edited events add up to, as a careful forger would."""
    events = [*facts["events"], *facts["events_not_taken"]]
    pure = sum((_epsilon(event) for event in events), Fraction(0))
    facts["claim"]["amount"] = str(pure)


def _epsilon(event: dict[str, Any]) -> Fraction:
    if event["kind"] == "discrete_laplace":
        bound = event["bound"]
        return min(bound["total"], bound["cells"] * bound["each"]) / Fraction(event["scale"])
    return _squares(event["bound"]) / (2 * Fraction(event["sigma_squared"]))


def _squares(bound: dict[str, int]) -> int:
    most = min(bound["total"], bound["cells"] * bound["each"])
    full, rest = divmod(most, min(bound["each"], most))
    return full * min(bound["each"], most) ** 2 + rest**2


def smaller_bounds(facts: dict[str, Any]) -> None:
    for event in (*facts["events"], *facts["events_not_taken"]):
        event["bound"] = {"cells": 1, "each": 1, "total": 1}


def no_cells(facts: dict[str, Any]) -> None:
    del facts["events"][0]


def no_last(facts: dict[str, Any]) -> None:
    del facts["events"][-1]


def more_noise(facts: dict[str, Any]) -> None:
    for event in (*facts["events"], *facts["events_not_taken"]):
        name = "scale" if "scale" in event else "sigma_squared"
        event[name] = str(4 * Fraction(event[name]))


def everything_is_protected(facts: dict[str, Any]) -> None:
    facts["not_protected"] = ["Nothing; everything is protected."]


EDITS: dict[str, Edit] = {
    "every bound set to 1": smaller_bounds,
    "the first measurement deleted": no_cells,
    "the last measurement deleted": no_last,
    "four times the noise": more_noise,
    "everything is protected": everything_is_protected,
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("edit", EDITS.values(), ids=list(EDITS))
def test_a_certificate_that_contradicts_itself_is_not_believed(
    releases: Path, tmp_path: Path, family: str, edit: Edit
) -> None:
    folder = Path(shutil.copytree(releases / family, tmp_path / family))
    facts = parsed_json((folder / "certificate.json").read_bytes())
    edit(facts)
    claim_again(facts)
    facts["claim"]["epsilon_delta"] = None
    assert not passes(folder, canonical_json(facts))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_release_that_nobody_signed_adds_up_and_nobody_answers_for_it(
    releases: Path, family: str
) -> None:
    found = verify(releases / family)
    assert found.result is Result.UNSIGNED
    (signature,) = [check for check in found.checks if check.name == "signature"]
    assert signature.outcome == "absent"


@pytest.mark.parametrize("family", FAMILIES)
def test_all_times_of_a_release_are_that_of_its_certificate(releases: Path, family: str) -> None:
    """How long counting took would tell of the rows."""
    folder = releases / family
    times = {path.stat().st_mtime for path in (folder, *folder.rglob("*"))}
    assert len(times) == 1
