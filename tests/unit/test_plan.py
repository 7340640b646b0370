import tomllib
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import PlanError
from hushway.plan import load_plan, plan_from
from hushway.privacy.unit import Unit


@pytest.fixture
def facts() -> dict[str, Any]:
    return tomllib.loads((files("hushway") / "templates" / "od.toml").read_text(encoding="utf-8"))


def refusal(facts: dict[str, Any]) -> str:
    with pytest.raises(PlanError) as caught:
        plan_from(facts, folder=Path())
    return str(caught.value)


def test_the_template_is_a_valid_plan(facts: dict[str, Any]) -> None:
    plan = plan_from(facts, folder=Path("somewhere"))
    assert plan.privacy.unit is Unit.PERSON
    assert plan.time.opens == 6 * 60
    assert plan.path("trips.csv") == Path("somewhere/trips.csv")


def test_an_epsilon_is_read_exactly_as_written(facts: dict[str, Any]) -> None:
    for written, meant in (
        ("0.1", Fraction(1, 10)),
        (0.1, Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
    ):
        facts["privacy"]["epsilon"] = written
        assert plan_from(facts, folder=Path()).privacy.epsilon == meant


@pytest.mark.parametrize(
    "epsilon", ["0", "-1", "nan", "inf", float("inf"), float("nan"), "much", "1/0", True, []]
)
def test_an_epsilon_that_is_not_finite_and_positive_is_refused(
    facts: dict[str, Any], epsilon: Any
) -> None:
    facts["privacy"]["epsilon"] = epsilon
    assert "privacy.epsilon" in refusal(facts)


@pytest.mark.parametrize("delta", ["0", "1", "2", "nan"])
def test_a_delta_outside_zero_and_one_is_refused(facts: dict[str, Any], delta: str) -> None:
    facts["privacy"]["delta"] = delta
    assert "privacy.delta" in refusal(facts)


def test_every_problem_is_listed_at_once(facts: dict[str, Any]) -> None:
    facts["privacy"]["epsilom"] = "1"
    facts["time"]["opens"] = "25:99"
    del facts["ledger"]
    message = refusal(facts)
    assert "privacy.epsilom: is not an option" in message
    assert "time.opens: must be a time of day" in message
    assert "ledger: is missing" in message


def test_protecting_persons_needs_a_person_column(facts: dict[str, Any]) -> None:
    del facts["data"]["columns"]["person"]
    assert "data.columns.person" in refusal(facts)
    facts["privacy"]["unit"] = "trip"
    assert plan_from(facts, folder=Path()).privacy.unit is Unit.TRIP


def test_a_ledger_may_be_a_file_beside_the_plan_or_a_url(facts: dict[str, Any]) -> None:
    assert plan_from(facts, folder=Path("x")).ledger_url() == Path("x/ledger.db")
    facts["ledger"]["url"] = "postgresql://host/db"
    assert plan_from(facts, folder=Path("x")).ledger_url() == "postgresql://host/db"


def test_a_missing_plan_names_the_command_that_writes_one(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no plan") as caught:
        load_plan(tmp_path / "plan.toml")
    assert "hushway plan new" in caught.value.advice


@pytest.mark.parametrize("text", [b"family = od", b"\xff\xfe"])
def test_a_file_that_is_not_toml_is_refused(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "plan.toml"
    file.write_bytes(text)
    with pytest.raises(PlanError):
        load_plan(file)
