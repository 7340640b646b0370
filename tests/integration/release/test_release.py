"""A release from a raw trips file to a verified folder, as a steward makes it."""

import json
import signal
import sqlite3
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import hushway
from hushway.errors import BudgetError, PrivacyError
from hushway.privacy.curator import Curator
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import PureLoss
from hushway.privacy.randomness import SeededSource
from hushway.steward.demo import PLAN
from hushway.steward.publish import publish
from support.city_plan import change, invoke, job_of, with_mechanism


def test_a_release_verifies_and_the_ledger_knows_it(city: Path) -> None:
    published = publish(job_of(city))
    assert hushway.verify(published.folder).passed
    with Ledger.connect(city / "ledger.db") as ledger:
        (account,) = ledger.accounts()
        assert account.spent == 1
        assert ledger.unpublished() == []
        assert ledger.check() == []
        assert [entry.kind for entry in ledger.entries()] == ["open", "reserve", "publish"]
    assert published.certificate.account.spent == 1


def test_a_dense_release_has_a_row_for_every_cell(city: Path) -> None:
    job = job_of(city)
    published = publish(job)
    table = pq.read_table(published.folder / "trips.parquet")
    assert table.num_rows == job.geography.size
    assert min(table["count"].to_pylist()) == 0
    assert hushway.verify(published.folder).passed


def test_a_release_by_trip_says_so_on_its_certificate(city: Path) -> None:
    change(city, 'unit = "person" ', 'unit = "trip" ')
    with Ledger.connect(city / "ledger.db") as ledger:
        ledger.open_account(job_of(city).account, PureLoss(Fraction(4)))
    certificate = publish(job_of(city)).certificate
    terms = certificate.terms
    assert terms.unit == "trip"
    assert terms.contribution.limits == {"trips": 1, "trip": "row"}
    assert any("single trips" in sentence for sentence in terms.not_protected)


def test_a_seeded_release_is_stamped_not_private_and_does_not_verify(city: Path) -> None:
    published = publish(job_of(city), source=SeededSource(1))
    assert published.certificate.stamp == "NOT PRIVATE"
    assert not hushway.verify(published.folder).passed
    verdict = invoke("verify", published.folder)
    assert verdict.exit_code == 1
    assert "NOT PRIVATE: intact" in verdict.output
    assert "NOT PRIVATE" in (published.folder / "certificate.html").read_text(encoding="utf-8")


@pytest.mark.long  # test_same_bytes.py compares all files in every run
def test_the_same_seed_gives_the_same_numbers(city: Path) -> None:
    first = publish(job_of(city), source=SeededSource(7)).folder / "trips.csv"
    change(city, 'folder = "release"', 'folder = "again"')
    second = publish(job_of(city), source=SeededSource(7)).folder / "trips.csv"
    assert first.read_bytes() == second.read_bytes()


def test_a_second_release_is_refused_when_the_budget_is_gone(city: Path) -> None:
    change(city, 'epsilon = "1"', 'epsilon = "3"')
    publish(job_of(city))
    change(city, 'folder = "release"', 'folder = "again"')
    with pytest.raises(BudgetError, match="left"):
        publish(job_of(city))
    assert not (city / "again").exists()


def test_a_failure_after_paying_is_visible_as_spent_not_published(
    city: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Curator, "counts", fail)
    with pytest.raises(KeyboardInterrupt):
        publish(job_of(city))
    assert not (city / "release").exists()
    with Ledger.connect(city / "ledger.db") as ledger:
        (lost,) = ledger.unpublished()
        assert lost.amount == 1
        assert ledger.accounts()[0].spent == 1
    shown = invoke("ledger", "show", city / PLAN)
    assert "Spent, not published" in shown.output


@pytest.mark.long  # test_endings.py has killed runs in every run
def test_a_killed_run_leaves_no_half_release_and_stays_paid_for(city: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from hushway.families import write\n"
        "write._write_seal = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "import hushway\n"
        "hushway.publish(hushway.prepare(hushway.load_plan(sys.argv[1])), anyway=True)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(city / PLAN)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not (city / "release").exists()
    with Ledger.connect(city / "ledger.db") as ledger:
        (lost,) = ledger.unpublished()
        assert lost.amount == 1
        assert ledger.check() == []
    publish(job_of(city))
    assert hushway.verify(city / "release").passed
    assert not list(city.glob(".release.partial-*"))


def test_a_signed_release_verifies_with_the_right_key_only(
    city: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(city)
    for name in ("steward", "stranger"):
        assert invoke("keys", "new", name).exit_code == 0
    change(city, '# signing_key = "steward.pem"', 'signing_key = "steward.pem"')
    assert invoke("publish", PLAN, "--yes").exit_code == 0
    assert invoke("verify", "release", "--key", "steward.pub.pem").exit_code == 0
    assert invoke("verify", "release", "--key", "stranger.pub.pem").exit_code == 1


def test_price_needs_neither_rows_nor_a_ledger(city: Path) -> None:
    with_mechanism(city, 'name = "learned"')
    (city / "trips.csv").unlink()
    (city / "ledger.db").unlink()
    answer = json.loads(invoke("price", city / PLAN, "--json").output)
    assert answer["cost"] == "1"
    assert answer["remaining"] is None
    assert not answer["affordable"]
    assert [f["figure"] for f in answer["forecasts"]] == [
        "one cell",
        "all trips",
        "one of period",
        "one of origins",
        "one of destinations",
        "one of zones",
        "one of modes",
    ]
    assert not (city / "ledger.db").exists()


def test_a_certificate_that_cannot_be_written_costs_nothing(city: Path) -> None:
    change(city, "Trips by hour, origin and destination", "Trips from /home/steward/secret.csv")
    with pytest.raises(PrivacyError, match="path"):
        publish(job_of(city))
    with Ledger.connect(city / "ledger.db") as ledger:
        assert ledger.accounts()[0].spent == 0


def test_every_verb_answers_a_program_in_json(city: Path) -> None:
    checked = json.loads(invoke("check", city / PLAN, "--json").stdout)
    assert checked["usable"]
    published = json.loads(invoke("publish", city / PLAN, "--yes", "--json").stdout)
    assert published["cost"] == "1"
    verified = json.loads(invoke("verify", city / "release", "--json").stdout)
    assert verified["passed"]
    shown = json.loads(invoke("ledger", "show", city / PLAN, "--check", "--json").stdout)
    assert shown["findings"] == []
    assert shown["accounts"][0]["spent"] == "1"
    exported = invoke("ledger", "export", city / PLAN)
    assert exported.stdout.count("\n") == 4
    assert "poly31" not in exported.stdout


def test_wrong_usage_exits_with_two_and_a_refusal_with_one(city: Path) -> None:
    command = [sys.executable, "-c", "from hushway.cli.app import main; main()"]
    usage = subprocess.run([*command, "verify"], capture_output=True, check=False)
    assert usage.returncode == 2
    refused = subprocess.run(
        [*command, "verify", str(city / "nowhere")], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert "Error:" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_ledger_that_was_edited_fails_its_check(city: Path) -> None:
    publish(job_of(city))
    with sqlite3.connect(city / "ledger.db") as connection:
        tables = [
            row[0]
            for row in connection.execute("select name from sqlite_master where type='table'")
        ]
        entries = next(name for name in tables if "entr" in name)
        connection.execute(f"update {entries} set purpose = 'nothing to see'")  # noqa: S608
    connection.close()
    assert invoke("ledger", "show", city / PLAN, "--check").exit_code == 1
