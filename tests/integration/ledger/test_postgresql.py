"""What only a database server can do to a ledger."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from hushway.errors import BudgetError, LedgerError
from hushway.privacy.bound import Unit
from hushway.privacy.ledger import AccountKey, EntryKind, Ledger
from hushway.privacy.ledger.book import Book, Line
from hushway.privacy.loss import ZCDPLoss
from hushway.release.job import window_of_days

KEY = AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03")
MARCH = window_of_days(date(2026, 3, 1), date(2026, 3, 31), "Europe/Paris")


@pytest.fixture
def ledger(fresh_postgres_url: str) -> Iterator[Ledger]:
    with Ledger.connect(fresh_postgres_url) as opened:
        opened.open_account(KEY, ZCDPLoss(Fraction(1)))
        yield opened


def reserve(ledger: Ledger, release: str = "r1") -> None:
    ledger.reserve(
        KEY,
        release=release,
        losses=[ZCDPLoss(Fraction(1, 4))],
        purpose="",
        window=MARCH,
        secret="s",  # noqa: S106
    )


def changed(url: str, **parts: str) -> str:
    return make_url(url).set(**parts).render_as_string(hide_password=False)


def with_setting(url: str, setting: str) -> str:
    address = make_url(url)
    options = f"{address.query['options']} -c{setting}"
    return address.set(query={"options": options}).render_as_string(hide_password=False)


def test_the_password_is_shown_nowhere(ledger: Ledger, fresh_postgres_url: str) -> None:
    password = make_url(fresh_postgres_url).password
    assert password
    assert str(password) not in f"{ledger!r} {ledger} {ledger.accounts()}"


def test_a_wrong_password_is_refused_without_repeating_it(fresh_postgres_url: str) -> None:
    wrong = "not-the-password-of-this-server"
    with pytest.raises(LedgerError, match="refused the login") as refusal:
        Ledger.connect(changed(fresh_postgres_url, password=wrong))
    assert wrong not in str(refusal.value) + refusal.value.advice


def test_a_database_that_does_not_exist_is_out_of_reach(fresh_postgres_url: str) -> None:
    with pytest.raises(LedgerError, match="does not answer or refused"):
        Ledger.connect(changed(fresh_postgres_url, database="nowhere"))


def test_an_account_that_stays_locked_is_reported_as_such(
    ledger: Ledger, fresh_postgres_url: str
) -> None:
    impatient = with_setting(fresh_postgres_url, "lock_timeout=50")
    with psycopg.connect(fresh_postgres_url) as other:
        other.execute("SELECT * FROM hushway_account FOR UPDATE")
        with (
            Ledger.connect(impatient) as waiting,
            pytest.raises(LedgerError, match="locked for too long"),
        ):
            reserve(waiting)
    assert ledger.account(KEY).spent == 0


def test_a_role_that_may_only_read_can_check_and_not_spend(
    ledger: Ledger, fresh_postgres_url: str
) -> None:
    reserve(ledger)
    password = "a-password"  # noqa: S105
    with psycopg.connect(fresh_postgres_url) as connection:
        (schema,) = connection.execute("SELECT current_schema()").fetchone() or ("",)
        role = f"auditor_of_{schema}"
        connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{password}'")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
    with Ledger.connect(changed(fresh_postgres_url, username=role, password=password)) as auditor:
        assert auditor.check() == []
        assert len(auditor.entries()) == 2
        with pytest.raises(LedgerError, match="cannot be written to"):
            reserve(auditor, "r2")


def test_a_ledger_lives_beside_the_tables_of_others(fresh_postgres_url: str) -> None:
    with psycopg.connect(fresh_postgres_url) as connection:
        connection.execute("CREATE TABLE song (title text)")
    with Ledger.connect(fresh_postgres_url) as ledger:
        ledger.open_account(KEY, ZCDPLoss(Fraction(1)))
        assert ledger.check() == []


def test_a_commit_waits_for_the_disk_even_where_the_server_would_not(
    ledger: Ledger, fresh_postgres_url: str
) -> None:
    hasty = with_setting(fresh_postgres_url, "synchronous_commit=off")
    with Ledger.connect(hasty) as careful, careful._store.writing() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
        assert connection.exec_driver_sql("SHOW lock_timeout").scalar() == "1min"
        assert connection.exec_driver_sql("SHOW transaction_isolation").scalar() == "read committed"
    assert ledger.check() == []


def test_a_stricter_server_setting_is_left_alone(ledger: Ledger, fresh_postgres_url: str) -> None:
    strict = with_setting(fresh_postgres_url, "synchronous_commit=remote_apply")
    with Ledger.connect(strict) as careful, careful._store.writing() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "remote_apply"
    assert ledger.check() == []


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE hushway_entry SET amount = '1/8', spent = '1/8' WHERE number = 2",
        "UPDATE hushway_account SET cap = '100'",
        "UPDATE hushway_account SET spent = '0'",
        "DELETE FROM hushway_entry WHERE number = 2",
    ],
)
def test_an_edit_is_found_and_stops_the_spending(
    ledger: Ledger, fresh_postgres_url: str, edit: str
) -> None:
    reserve(ledger)
    with psycopg.connect(fresh_postgres_url) as connection:
        assert connection.execute(edit).rowcount == 1
    assert ledger.check() != []
    with pytest.raises(LedgerError, match="edited or is damaged"):
        reserve(ledger, "r2")


def test_days_are_not_overlooked_that_an_account_took_which_was_opened_while_others_waited(
    ledger: Ledger, fresh_postgres_url: str
) -> None:
    """The one who waits has chosen its accounts before the new one was there."""
    new = AccountKey(dataset="metro", unit=Unit.TRIP, period="spring")
    with psycopg.connect(fresh_postgres_url) as blocker, ThreadPoolExecutor(1) as pool:
        blocker.execute("SELECT * FROM hushway_account FOR UPDATE")
        waiting = pool.submit(reserve, ledger)
        wait_for_a_lock(fresh_postgres_url)
        loss = ZCDPLoss(Fraction(1, 4))
        with Ledger.connect(fresh_postgres_url) as second:
            second.open_account(new, ZCDPLoss(Fraction(1)))
            # Takes the days behind the one who waits: the lock on the old account is ours.
            with second._store.writing() as connection:
                book = Book(connection)
                (row,) = [row for row in book.accounts() if row.period == "spring"]
                line = Line(
                    kind=EntryKind.RESERVE, release="s1", amount=loss.rho, days=MARCH.to_text()
                )
                book.append(row, line)
        blocker.rollback()
        with pytest.raises(BudgetError, match="charged to account metro / trip / spring"):
            waiting.result(timeout=60)
    assert ledger.account(KEY).spent == 0
    assert ledger.check() == []


def wait_for_a_lock(url: str) -> None:
    """Returns when a session waits for a lock."""
    with psycopg.connect(url, autocommit=True) as watcher:
        query = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        while watcher.execute(query).fetchone() == (0,):
            time.sleep(0.01)


def test_a_backup_is_the_server_s_business(ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="Only a ledger in SQLite") as refusal:
        ledger.backup(tmp_path / "copy.db")
    for table in ("hushway_ledger", "hushway_account", "hushway_entry", "hushway_people"):
        assert f"--table={table}" in refusal.value.advice
    assert "pg_dump" in refusal.value.advice
    assert list(tmp_path.iterdir()) == []
