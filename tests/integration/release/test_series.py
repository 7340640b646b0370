"""Releases of a series, step by step, from one account with a rolling limit."""

import json
from fractions import Fraction
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hushway
from hushway.cli.app import app
from hushway.errors import BudgetError, OptionsError, PlanError
from hushway.families.load import load_plan, plan_from, prepare
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import PureLoss
from hushway.workbench.worker_events import EventWriter
from hushway.workbench.worker_tasks import TASKS
from support.little_city import write_table
from support.monthly import PLACES, plan_with
from support.restored import backed_up, put_back

PLAN = plan_with(
    {
        'steps_per_span = 12\nbudget = "96"': 'steps_per_span = 3\nbudget = "16"',
        "releases/{step}": "release-{step}",
    }
)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    write_table(tmp_path / "places.csv", "id,name,lon,lat", PLACES)
    for month in range(1, 8):
        rows = [(f"r{n}", "a", "bc"[n % 2], f"2026-0{month}-1{n % 9}T08:00:00") for n in range(200)]
        write_table(tmp_path / f"trips-2026-0{month}.csv", "rider,from,to,at", rows)
    file = tmp_path / "plan.toml"
    file.write_text(PLAN, encoding="utf-8")
    return file


def command(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def publish(plan: Path, step: str) -> Path:
    return hushway.publish(plan, step=step, anyway=True).folder


def test_a_step_is_published_by_its_name(plan: Path) -> None:
    command("ledger", "open", plan, "--step", "2026-01")
    command("publish", plan, "--step", "2026-02", "--yes", "--anyway")
    folder = plan.parent / "release-2026-02"
    certificate = json.loads((folder / "certificate.json").read_bytes())
    assert certificate["title"] == "Trips in 2026-02"
    assert "2026-02-01" in (folder / "periods.csv").read_text("utf-8")
    assert "2026-02-28" in (folder / "periods.csv").read_text("utf-8")
    account = certificate["account"]
    assert (account["spent"], account["budget_limit"], account["span"]) == ("8", "16", "3 month")
    assert "in any 3 consecutive months" in (folder / "certificate.html").read_text("utf-8")
    series = json.loads((folder / "mobilitydcat-ap.jsonld").read_bytes())["dcat:inSeries"]
    assert series["dct:accrualPeriodicity"]["@id"].endswith("/MONTHLY")
    assert series["dct:identifier"] == "trips / person / monthly"
    shown = json.loads(command("ledger", "show", plan.parent / "ledger.db", "--json"))
    assert shown["accounts"][0]["span"] == "any 3 consecutive months"
    assert hushway.verify(folder, ledger=plan.parent / "ledger.db").passed


def test_steps_in_any_order_keep_every_span_within_the_limit(plan: Path) -> None:
    hushway.ledger.open(load_plan(plan, step="2026-01"))
    for step in ("2026-06", "2026-01", "2026-03"):
        publish(plan, step)
    # January and March are in one span already, and so would be March, April and May with it.
    with pytest.raises(BudgetError, match="any 3 consecutive months around these days"):
        publish(plan, "2026-02")
    publish(plan, "2026-04")
    with pytest.raises(BudgetError, match="left of its budget limit"):
        publish(plan, "2026-05")
    with Ledger.connect(plan.parent / "ledger.db") as ledger:
        (account,) = ledger.accounts()
        assert (account.spent, account.lifetime) == (16, 32)
        assert ledger.check() == []
    certificate = json.loads((plan.parent / "release-2026-04" / "certificate.json").read_bytes())
    assert (certificate["account"]["spent"], certificate["account"]["lifetime"]) == ("16", "32")


def test_a_plan_may_change_between_steps(plan: Path) -> None:
    hushway.ledger.open(load_plan(plan, step="2026-01"))
    publish(plan, "2026-01")
    with (plan.parent / "places.csv").open("a", encoding="utf-8") as places:
        places.write("d,D,2.33,48.83\n")
    plan.write_text(PLAN.replace('"8"', '"4"').replace("720", "480"), encoding="utf-8")
    assert hushway.verify(publish(plan, "2026-02")).passed


@pytest.mark.parametrize(
    "change", [('budget = "16"', 'budget = "17"'), ("steps_per_span = 3", "steps_per_span = 4")]
)
def test_another_limit_than_the_account_has_is_refused(plan: Path, change: tuple[str, str]) -> None:
    hushway.ledger.open(load_plan(plan, step="2026-01"))
    plan.write_text(PLAN.replace(*change), encoding="utf-8")
    with pytest.raises(BudgetError, match="was opened with another limit"):
        publish(plan, "2026-01")


def test_a_limit_for_good_is_none_for_a_series(plan: Path) -> None:
    job = load_plan(plan, step="2026-01")
    with Ledger.connect(plan.parent / "ledger.db") as ledger:
        ledger.open_account(prepare(job).account, PureLoss(Fraction(16)))
    with pytest.raises(BudgetError, match="was opened with another limit"):
        publish(plan, "2026-01")


def test_what_a_plan_leaves_open_is_asked_for(plan: Path) -> None:
    with pytest.raises(PlanError, match="no step is named"):
        load_plan(plan)
    with pytest.raises(BudgetError, match="There is no month '2026-W14'"):
        load_plan(plan, step="2026-W14")
    with pytest.raises(OptionsError, match="stands in its plan"):
        hushway.ledger.open(plan, step="2026-01", epsilon="3")
    with pytest.raises(OptionsError, match="stands in its plan"):
        hushway.ledger.open(plan, step="2026-01", epsilon="16", delta="1e-6")
    with pytest.raises(PlanError, match="has been read"):
        hushway.ledger.open(load_plan(plan, step="2026-01"), step="2026-02")
    plan.write_text(PLAN.replace("[series]", '[series]\nthis = "2026-03"'), encoding="utf-8")
    assert load_plan(plan).release.folder == "release-2026-03"


def test_in_the_workbench_the_limit_is_typed_and_the_plan_names_the_step(plan: Path) -> None:
    plan.write_text(PLAN.replace("[series]", '[series]\nthis = "2026-03"'), encoding="utf-8")
    events = EventWriter(StringIO(), outlives_server=False)
    opened = TASKS["account"](plan, {"epsilon": "16"}, events)
    assert opened["span"] == "any 3 consecutive months"
    assert TASKS["price"](plan, {}, events)["affordable"]


def test_restored_releases_of_other_steps_are_charged_for_their_own_days(
    plan: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hushway.ledger.open(load_plan(plan, step="2026-01"))
    publish(plan, "2026-01")
    with Ledger.connect(plan.parent / "ledger.db") as ledger:
        old = backed_up(ledger)
        may = publish(plan, "2026-05")
        before = ledger.entries()
        put_back(ledger, old)
    # Somebody else, who knows nothing of the ledger but the folder of a release.
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another-user"))
    command("ledger", "settle", plan, "--step", "2026-01", "--restored", "--release", may)
    with Ledger.connect(plan.parent / "ledger.db") as ledger:
        days = [(entry.release, entry.window) for entry in ledger.entries()]
        assert days == [(entry.release, entry.window) for entry in before]
        assert hushway.verify(may, ledger=ledger).passed
    publish(plan, "2026-02")
    publish(plan, "2026-06")
    with pytest.raises(BudgetError, match="any 3 consecutive months around these days"):
        publish(plan, "2026-07")


def test_a_plan_that_is_no_series_has_no_steps() -> None:
    with pytest.raises(PlanError, match="is no series"):
        plan_from({"time": {}}, folder=Path(), step="2026-01")


def test_the_price_of_a_step_says_how_far_the_budget_of_a_span_goes(plan: Path) -> None:
    found = hushway.price(plan, step="2026-01").series
    assert found is not None
    assert (found.releases, found.longer) == (2, {"quarter": 3, "year": 12})
    assert "pays for 2 such releases, not for 3" in found.sentence
    said = " ".join(command("price", plan, "--step", "2026-01").split())
    assert found.sentence in said
    assert "in a quarter" in said
    facts = json.loads(command("price", plan, "--step", "2026-01", "--json"))["series"]
    assert (facts["releases"], facts["limit"], facts["charge"]) == (2, "16", "8")
    plan.write_text(PLAN.replace('epsilon = "8"', 'epsilon = "16/3"'), encoding="utf-8")
    assert hushway.price(plan, step="2026-01").series.sentence.endswith("pays for 3 such releases.")


def test_plans_that_are_no_series_have_no_price_of_one(plan: Path) -> None:
    text = PLAN.replace('step = "month"\nsteps_per_span = 3\nbudget = "16"\n', "")
    days = "minutes = 720\nfirst_day = 2026-01-01\nlast_day = 2026-01-31"
    alone = (
        text.replace("[series]\n", "").replace("minutes = 720", days).replace("{step}", "2026-01")
    )
    plan.write_text(alone, encoding="utf-8")
    assert hushway.price(plan).series is None
