"""What costs nothing reads nothing: prices, curves and stand-ins without rows and ledger."""

import base64
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from hushway.families.load import load_plan, prepare
from hushway.families.registry import family_named
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.steward.certify import check_bounds
from hushway.workbench.preview import InventedCertificate, preview_release
from hushway.workbench.worker_tasks import TASKS
from support.little_plans import FAMILIES, little_plan, rows_file, write_little_files


class Listener:
    """Hears what a task tells."""

    def __init__(self) -> None:
        self.parts: list[Any] = []

    def progress(self, step: str, share: float | None = None, /) -> None:
        """Forgets it."""

    def part(self, facts: Any) -> None:
        """Keeps it."""
        self.parts.append(facts)


@pytest.fixture
def rowless(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A plan whose rows are gone, and that has no ledger."""
    family = request.param
    write_little_files(tmp_path)
    (tmp_path / rows_file(family)).unlink()
    facts = little_plan(family)
    if family == "od":
        facts["mechanism"] = {"name": "laplace"}
    file = tmp_path / "plan.toml"
    file.write_text(tomlkit.dumps(facts), encoding="utf-8")
    return file


@pytest.mark.one_in(2)
@pytest.mark.parametrize("rowless", FAMILIES, indirect=True)
def test_a_stand_in_is_drawn_without_a_row_and_stamped(rowless: Path) -> None:
    files = sorted(rowless.parent.iterdir())
    options = {"epsilon": "0.5", "trips": 2000, "people": 500}
    found = preview_release(rowless, options, Listener())
    picture = base64.b64decode(found["picture"].removeprefix("data:image/png;base64,"))
    assert picture.startswith(b"\x89PNG")
    assert found["note"] is None
    assert "Invented" in found["caption"]
    assert all(error["error"] > 0 for error in found["errors"])
    assert sorted(rowless.parent.iterdir()) == files


@pytest.mark.parametrize("rowless", FAMILIES, indirect=True)
def test_invented_rows_are_bounded_as_the_plan_says(rowless: Path) -> None:
    job = prepare(load_plan(rowless))
    invent = family_named(job.plan.release_type).invented_rows
    assert invent is not None
    counter = invent(job, ExpectedPopulation(trips=500, people=100))
    check_bounds(job, counter)
    again = invent(job, ExpectedPopulation(trips=500, people=100))
    (first, *_) = job.mechanism.queries(job.geography)
    one, other = counter.count(first), again.count(first)
    assert one.values.sum() > 0
    assert (one.values == other.values).all()


@pytest.mark.parametrize("rowless", FAMILIES, indirect=True)
def test_prices_and_curves_need_no_row(rowless: Path) -> None:
    files = sorted(rowless.parent.iterdir())
    listener = Listener()
    price = TASKS["price"](rowless, {}, listener)
    assert price["cost"]
    assert price["account"] is None
    curve = TASKS["curve"](rowless, {"epsilons": ["0.5", "2", "1/2"]}, listener)
    assert [str(point["epsilon"]) for point in listener.parts] == ["1/2", "2"]
    assert curve["curve"] == listener.parts
    wide, narrow = (point["errors"][0]["error"] for point in curve["curve"])
    assert wide > narrow
    assert sorted(rowless.parent.iterdir()) == files


@pytest.mark.parametrize("rowless", ["od"], indirect=True)
def test_a_larger_budget_is_off_by_less_on_the_same_invented_rows(rowless: Path) -> None:
    def off(epsilon: str) -> float:
        options = {"epsilon": epsilon, "trips": 5000}
        return float(preview_release(rowless, options, Listener())["errors"][0]["error"])

    assert off("0.1") > 2 * off("4")


@pytest.mark.parametrize("rowless", ["density"], indirect=True)
def test_a_guess_that_is_not_enough_is_said_in_a_sentence(rowless: Path) -> None:
    found = preview_release(rowless, {"epsilon": "1", "trips": 100}, Listener())
    assert found["picture"] is None
    assert "people" in found["note"]
    assert found["errors"]


@pytest.mark.parametrize("rowless", ["od"], indirect=True)
def test_what_is_invented_can_never_be_taken_for_a_release(rowless: Path) -> None:
    from hushway.workbench.preview import _certificate

    certificate = _certificate(prepare(load_plan(rowless)))
    assert isinstance(certificate, InventedCertificate)
    assert certificate.stamp == "INVENTED"
    assert not certificate.randomness.private
