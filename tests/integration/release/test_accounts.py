"""Accounts as a steward sees them: one budget for a day, what a person lost, copies."""

import csv
import io
import json
import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from hushway.errors import BudgetError, HushwayError
from hushway.families.load import load_plan, prepare
from hushway.families.od.plan import ODPlan
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import PureLoss
from hushway.release.job import window_of_days
from hushway.steward.demo import PLAN
from hushway.steward.publish import publish
from support.city_plan import invoke

PERIOD = 'period = "2026-03"'
UNIT = 'unit = "person"'
NAME = 'name = "city-trips"'


def change(city: Path, *changes: tuple[str, str]) -> Path:
    """Writes another plan beside the first, for a folder of its own."""
    text = (city / PLAN).read_text(encoding="utf-8")
    for old, new in (*changes, ('folder = "release"', 'folder = "second"')):
        assert old in text
        text = text.replace(old, new)
    (city / "second.toml").write_text(text, encoding="utf-8")
    return city / "second.toml"


def spend(plan: Path) -> None:
    publish(prepare(load_plan(plan)))


@pytest.fixture(scope="module")
def released(unfitted: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A city whose day was released once, for persons."""
    folder = Path(shutil.copytree(unfitted, tmp_path_factory.mktemp("spent") / "city"))
    spend(folder / PLAN)
    return folder


@pytest.fixture
def spent(released: Path, tmp_path: Path) -> Path:
    """A fresh copy of that city."""
    return Path(shutil.copytree(released, tmp_path / "spent"))


def test_a_release_takes_the_days_of_its_plan(spent: Path) -> None:
    plan = load_plan(spent / PLAN)
    assert isinstance(plan, ODPlan)
    assert plan.time is not None
    days = window_of_days(plan.time.first_day, plan.time.last_day, "America/Detroit")
    with Ledger.connect(spent / "ledger.db") as ledger:
        assert [entry.window for entry in ledger.entries()] == [None, days, None]


@pytest.mark.parametrize(
    ("changes", "advice"),
    [
        ([(PERIOD, 'period = "2026-03 again"')], 'period = "2026-03"'),
        ([(UNIT, 'unit = "trip"')], "two kinds of unit"),
    ],
)
def test_the_same_day_cannot_be_released_from_a_second_account(
    spent: Path, changes: list[tuple[str, str]], advice: str
) -> None:
    plan = change(spent, *changes)
    assert invoke("ledger", "open", plan, "--epsilon", "4").exit_code == 0
    priced = invoke("price", plan)
    assert "The ledger would refuse it." in priced.output
    assert advice in priced.output.replace("\n", " ")
    assert advice in json.loads(invoke("price", plan, "--json").output)["obstacle"]
    with pytest.raises(BudgetError, match="was charged to account city-trips / person / 2026-03"):
        spend(plan)
    with Ledger.connect(spent / "ledger.db") as ledger:
        assert [account.spent for account in ledger.accounts()] == [1, 0]
        assert ledger.unpublished() == []
    assert not (spent / "second").exists()


def test_another_spelling_pays_from_the_same_account(spent: Path) -> None:
    plan = change(spent, (NAME, 'name = "City-Trips "'), (PERIOD, 'period = " 2026-03"'))
    assert json.loads(invoke("price", plan, "--json").output)["obstacle"] is None
    spend(plan)
    with Ledger.connect(spent / "ledger.db") as ledger:
        assert [account.spent for account in ledger.accounts()] == [2]


def test_a_name_that_looks_like_another_opens_no_account(spent: Path) -> None:
    plan = change(spent, (NAME, 'name = "city_trips"'))
    refused = invoke("ledger", "open", plan, "--epsilon", "4")
    assert refused.exit_code == 1
    assert isinstance(refused.exception, BudgetError)
    assert "looks like city-trips" in str(refused.exception)


def second_data_set(city: Path) -> None:
    plan = change(city, (NAME, 'name = "bikes"'), (UNIT, 'unit = "trip"'))
    assert invoke("ledger", "open", plan, "--epsilon", "4").exit_code == 0
    spend(plan)


def test_losses_of_declared_people_are_shown_together(spent: Path) -> None:
    second_data_set(spent)
    ledger = spent / "ledger.db"
    apart = json.loads(invoke("ledger", "show", ledger, "--people", "--json").output)
    assert [group["datasets"] for group in apart["people"]] == [["bikes"], ["city-trips"]]
    declared = invoke("ledger", "people", ledger, "Riders", "city-trips", "bikes")
    assert declared.exit_code == 0
    assert "riders are the people of bikes, city-trips" in declared.output
    answer = invoke("ledger", "show", ledger, "--people", "--check", "--json")
    (group,) = json.loads(answer.output)["people"]
    assert (group["people"], group["datasets"]) == ("riders", ["bikes", "city-trips"])
    person, trip = group["lost"]
    assert (person["unit"], person["epsilon"], person["rho"]) == ("person", "1", "0")
    assert person["bounds_a_person"]
    assert person["note"] is None
    assert (trip["unit"], trip["epsilon"], trip["bounds_a_person"]) == ("trip", "1", False)
    shown = invoke("ledger", "show", ledger, "--people", "--check").output
    assert "riders" in shown
    assert "somebody with k of them may have lost k times as much" in shown
    assert "other ledgers" in shown
    assert "The ledger is sound" in shown


@pytest.mark.parametrize(
    ("words", "losses"),
    [
        (["--from", "2026-03-03", "--to", "2026-03-03"], 1),
        (["--from", "2026-03-04"], 0),
        (["--to", "2026-03-02"], 0),
    ],
)
def test_a_span_shows_what_its_days_cost(spent: Path, words: list[str], losses: int) -> None:
    answer = invoke("ledger", "show", spent / "ledger.db", "--people", *words, "--json")
    (group,) = json.loads(answer.output)["people"]
    assert len(group["lost"]) == losses


@pytest.mark.parametrize(
    "words",
    [
        ["--from", "2026-03-03"],
        ["--people", "--from", "2026-03-03", "--to", "2026-03-02"],
        ["--people", "--from", "yesterday"],
    ],
)
def test_a_span_that_makes_no_sense_is_wrong_usage(city: Path, words: list[str]) -> None:
    assert invoke("ledger", "show", city / "ledger.db", *words).exit_code == 2


def test_a_backup_is_made_once_and_checked(spent: Path) -> None:
    copy = spent / "copy.db"
    made = invoke("ledger", "backup", spent / PLAN, copy)
    assert made.exit_code == 0, made.output
    with Ledger.connect(copy) as copied, Ledger.connect(spent / "ledger.db") as ledger:
        assert copied.entries() == ledger.entries()
        assert copied.check() == []
    assert isinstance(invoke("ledger", "backup", spent / PLAN, copy).exception, Exception)


def test_a_backup_of_an_edited_ledger_says_so(city: Path) -> None:
    with Ledger.connect(city / "ledger.db") as ledger, ledger._store.writing() as connection:
        connection.exec_driver_sql("UPDATE hushway_account SET cap = '1000'")
    made = invoke("ledger", "backup", city / "ledger.db", city / "copy.db")
    assert made.exit_code == 1
    assert "the ledger is not sound" in made.output
    assert (city / "copy.db").exists()


def test_statements_tell_times_to_the_second_and_days(spent: Path) -> None:
    exported = invoke("ledger", "export", spent / PLAN).output
    shown = json.loads(invoke("ledger", "show", spent / PLAN, "--json").output)
    times = [row["at"] for row in csv.DictReader(io.StringIO(exported))]
    times += [entry["at"] for entry in shown["entries"]]
    times += [account["opened_at"] for account in shown["accounts"]]
    assert len(times) == 7
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", time) for time in times)
    days = [row["days"] for row in csv.DictReader(io.StringIO(exported))]
    assert days == ["", "2026-03-03/2026-03-03 wall 2026-03-03T05:00:00Z/2026-03-04T05:00:00Z", ""]


def test_a_certificate_and_its_ledger_name_the_release_alike(city: Path) -> None:
    published = publish(prepare(load_plan(city / PLAN)))
    with Ledger.connect(city / "ledger.db") as ledger:
        reserved = ledger.entries()[1]
        assert reserved.release == published.certificate.release_id
        assert ledger.accounts()[0].spent == Fraction(1)
        assert PureLoss(Fraction(4)) == ledger.accounts()[0].budget_limit


def test_verifying_with_the_ledger_notices_one_that_was_restored_from_before(
    city: Path, tmp_path: Path
) -> None:
    ledger, copy = city / "ledger.db", tmp_path / "before.db"
    assert invoke("ledger", "backup", ledger, copy).exit_code == 0
    spend(city / PLAN)
    agreed = invoke("verify", city / "release", "--ledger", city / PLAN, "--json")
    assert agreed.exit_code == 0, agreed.output
    assert "charged it to the account as stated" in agreed.output
    for file in city.glob("ledger.db*"):
        file.unlink()
    shutil.copy(copy, ledger)
    with Ledger.connect(ledger) as book:
        assert ["older copy" in finding for finding in book.check()] == [True]
    noticed = invoke("verify", city / "release", "--ledger", ledger, "--json")
    assert noticed.exit_code == 1
    failed = [
        check for check in json.loads(noticed.output)["checks"] if check["outcome"] == "failed"
    ]
    assert [check["name"] for check in failed] == ["ledger"]
    assert "restored from a copy that is older" in failed[0]["sentence"]


def test_verifying_without_a_ledger_believes_an_invented_account_and_says_no_more_than_it_knows(
    city: Path,
) -> None:
    spend(city / PLAN)
    found = invoke("verify", city / "release")
    assert found.exit_code == 0
    assert "nobody answers for it" in found.output


@pytest.mark.parametrize("victim", ["ledger.db", PLAN, "trips.csv", "key.pem"])
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_an_export_overwrites_no_ledger_no_key_and_no_source(
    city: Path, victim: str, force: tuple[str, ...]
) -> None:
    (city / "key.pem").write_text("-----BEGIN PRIVATE KEY-----")
    before = (city / victim).read_bytes()
    refused = invoke("ledger", "export", city / PLAN, "--output", city / victim, *force)
    assert refused.exit_code != 0
    assert (city / victim).read_bytes() == before


def test_an_earlier_export_is_replaced_only_by_force(city: Path) -> None:
    words = ("ledger", "export", city / PLAN, "--output", city / "entries.csv")
    assert invoke(*words).exit_code == 0
    before = (city / "entries.csv").read_bytes()
    spend(city / PLAN)
    assert invoke(*words).exit_code != 0
    assert (city / "entries.csv").read_bytes() == before
    assert invoke(*words, "--force").exit_code == 0
    assert (city / "entries.csv").read_bytes().startswith(before)


def test_an_export_into_a_missing_folder_is_one_error(city: Path) -> None:
    refused = invoke("ledger", "export", city / PLAN, "--output", city / "no" / "entries.csv")
    assert refused.exit_code != 0
    assert isinstance(refused.exception, HushwayError)


def test_publishing_says_what_is_worth_knowing_about_the_ledger(city: Path) -> None:
    (city / "ledger.db").chmod(0o666)
    published = invoke("publish", city / PLAN, "--yes")
    assert published.exit_code == 0
    assert "Others may write to ledger.db" in published.stderr


def test_too_little_memory_is_refused_before_paying(city: Path) -> None:
    plan = change(city, ('# memory_limit = "4GB"', 'memory_limit = "20MB"'))
    with pytest.raises(HushwayError, match="at least 125 MB"):
        spend(plan)
    with Ledger.connect(city / "ledger.db") as ledger:
        assert ledger.accounts()[0].spent == 0
