"""A ledger that cannot be used says so in one error, with advice and without a password."""

import logging
import os
import socket
import sqlite3
import stat
import sys
import traceback
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine.default import DefaultDialect

from hushway.errors import LedgerError
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import ZCDPLoss
from support.ledgers import MARCH
from support.ledgers import METRO as KEY

SECRET = "0123456789abcdef"  # noqa: S105


def reserve(ledger: Ledger, release: str = "r1", purpose: str = "") -> None:
    ledger.reserve(
        KEY,
        release=release,
        losses=[ZCDPLoss(Fraction(1, 10**6))],
        purpose=purpose,
        window=MARCH,
        secret=SECRET,
    )


def reserve_until_it_fails(ledger: Ledger) -> None:
    for number in range(1000):
        reserve(ledger, f"r{number}", purpose="x" * 5000)


def pragma(path: Path, name: str) -> object:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}", "sqlite+pysqlite:///{}"])
def test_a_file_is_named_by_a_path_or_an_address(path: Path, form: str) -> None:
    with Ledger.connect(form.format(path)) as ledger:
        ledger.open_account(KEY, ZCDPLoss(Fraction(1)))
    with Ledger.connect(path) as ledger:
        assert [account.key for account in ledger.accounts()] == [KEY]


def test_odd_characters_in_a_path_are_part_of_its_name(tmp_path: Path) -> None:
    path = tmp_path / "50% of #1? é.db"
    Ledger.connect(path).close()
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_relative_path_still_means_the_same_file_after_a_change_of_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    with Ledger.connect("ledger.db") as ledger:
        monkeypatch.chdir(elsewhere)
        ledger.open_account(KEY, ZCDPLoss(Fraction(1)))
    assert list(elsewhere.iterdir()) == []


def test_the_file_is_written_ahead_and_every_commit_waits_for_the_disk(
    ledger: Ledger, path: Path
) -> None:
    assert pragma(path, "journal_mode") == "wal"
    with ledger._store.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 60_000


def test_no_checkpoint_runs_beside_a_commit(ledger: Ledger, path: Path) -> None:
    log = path.with_name(path.name + "-wal")
    with ledger._store.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA wal_autocheckpoint").scalar() == 0
    with closing(sqlite3.connect(path)) as other:
        other.execute("SELECT count(*) FROM hushway_entry").fetchone()
        reserve(ledger)
        assert log.stat().st_size > 0
    # The last one to leave, alone with the file, puts the log away.
    ledger.check()
    assert not log.exists()


def test_a_writer_holds_the_write_lock_from_its_first_moment(ledger: Ledger, path: Path) -> None:
    with (
        ledger._store.writing(),
        closing(sqlite3.connect(path, timeout=0)) as other,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        other.execute("BEGIN IMMEDIATE")


def test_only_its_owner_may_read_a_new_file(ledger: Ledger, path: Path) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with ledger._store.writing():
        assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}


def test_an_error_in_the_middle_of_a_transaction_leaves_nothing_behind(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hushway.privacy.ledger.ledger.Reservation", None)
    with pytest.raises(TypeError):
        reserve(ledger, "acknowledged to nobody")
    # The commit came before the failure: it stays spent.
    assert [entry.release for entry in ledger.entries()] == ["", "acknowledged to nobody"]
    monkeypatch.setattr("hushway.privacy.ledger.book.EntryRow", None)
    with pytest.raises(TypeError):
        reserve(ledger, "never written")
    monkeypatch.undo()
    assert len(ledger.entries()) == 2
    assert ledger.check() == []


def test_text_is_not_a_ledger(path: Path) -> None:
    path.write_text("origin,destination,count\n" * 100)
    with pytest.raises(LedgerError, match="not a ledger"):
        Ledger.connect(path)


def test_the_database_of_another_program_is_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE song (title)")
        connection.commit()
    with pytest.raises(LedgerError, match="not a ledger"):
        Ledger.connect(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("song",)]
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


@pytest.mark.parametrize("place", ["", "missing/ledger.db"])
def test_a_place_where_no_file_can_be_is_refused(tmp_path: Path, place: str) -> None:
    with pytest.raises(LedgerError) as refusal:
        Ledger.connect(tmp_path / place)
    assert "folder" in refusal.value.advice


@pytest.mark.parametrize(
    "url",
    [
        "",
        ":memory:",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///x.db?cache=shared",
        "sqlite:///x.db?mode=memory",
        "sqlite:///x.db?timeout=soon",
        "sqlite+aiosqlite:///x.db",
        "mysql://user:hunter2@host/db",
        "postgresql://user:hunter2@host:port/db",
        "://",
    ],
)
def test_an_address_that_makes_no_ledger_is_refused_without_repeating_it(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LedgerError) as refusal:
        Ledger.connect(url)
    assert "hunter2" not in everything_shown(refusal.value)
    assert refusal.value.advice
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_that_stays_locked_is_reported_as_such(ledger: Ledger, path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with (
            Ledger.connect(f"sqlite:///{path}?timeout=0.05") as impatient,
            pytest.raises(LedgerError, match="locked for too long") as refusal,
        ):
            reserve(impatient)
    assert "shows in the ledger" in refusal.value.advice
    assert len(ledger.entries()) == 1


def test_reading_does_not_wait_for_a_writer(ledger: Ledger, path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with Ledger.connect(f"sqlite:///{path}?timeout=0") as reader:
            assert len(reader.entries()) == 1
            assert reader.check() == []
    assert len(ledger.entries()) == 1


def test_a_read_only_ledger_can_be_read_and_not_spent(ledger: Ledger, path: Path) -> None:
    reserve(ledger)
    with Ledger.connect(f"sqlite:///{path}?mode=ro") as auditor:
        assert auditor.check() == []
        assert len(auditor.entries()) == 2
        with pytest.raises(LedgerError, match="cannot be written to"):
            reserve(auditor, "r2")


def test_looking_at_a_ledger_that_is_not_there_creates_none(path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be opened"):
        Ledger.connect(f"sqlite:///{path}?mode=ro")
    assert not path.exists()


def test_a_full_disk_is_reported_and_spends_nothing(ledger: Ledger) -> None:
    def shrink(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")

    event.listen(ledger._store.reader, "connect", shrink)
    with pytest.raises(LedgerError, match="no room left") as refusal:
        reserve_until_it_fails(ledger)
    assert SECRET not in everything_shown(refusal.value)
    written = [entry for entry in ledger.entries() if entry.kind == "reserve"]
    assert ledger.account(KEY).spent == sum(entry.amount for entry in written)
    assert ledger.check() == []


def test_a_file_that_disappears_is_not_silently_replaced(ledger: Ledger, path: Path) -> None:
    path.unlink()
    with pytest.raises(LedgerError, match="cannot be opened"):
        reserve(ledger)
    assert not path.exists()


def test_a_file_that_loses_its_tables_is_no_ledger_any_more(ledger: Ledger, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE hushway_entry")
        connection.commit()
    with pytest.raises(LedgerError, match="not a ledger"):
        reserve(ledger)


def test_a_garbled_file_is_damaged(ledger: Ledger, path: Path) -> None:
    ledger.close()
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(LedgerError, match="damaged"), Ledger.connect(path) as garbled:
        garbled.check()


def test_a_missing_driver_is_answered_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LedgerError) as refusal:
        Ledger.connect("postgresql://user:hunter2@127.0.0.1/db")
    assert 'pip install "hushway[postgres]"' in refusal.value.advice


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_a_server_that_does_not_answer_is_reported_without_the_password(scheme: str) -> None:
    pytest.importorskip("psycopg")
    with socket.socket() as nobody:
        # Bound and not listening: the port stays closed for as long as the test runs.
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        with pytest.raises(LedgerError, match=r"127\.0\.0\.1/city does not answer") as refusal:
            Ledger.connect(f"{scheme}://user:{SECRET}@127.0.0.1:{port}/city?sslpassword={SECRET}")
    assert SECRET not in everything_shown(refusal.value)


def everything_shown(error: LedgerError) -> str:
    return "".join(traceback.format_exception(error)) + error.advice + repr(error)


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_an_interruption_while_closing_prints_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with Ledger.connect(tmp_path / "ledger.db") as ledger:
        # Without handlers of the test's own, as in a command.
        monkeypatch.setattr(logging.getLogger(), "handlers", [])
        monkeypatch.setattr(DefaultDialect, "do_close", interrupted)
        monkeypatch.setattr(DefaultDialect, "do_terminate", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.accounts()
    assert capfd.readouterr().err == ""
