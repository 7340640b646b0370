"""A true copy of a ledger file, whoever has it open."""

import shutil
import sqlite3
import stat
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from hushway.errors import LedgerError
from hushway.privacy.ledger import Ledger, Witness
from hushway.privacy.loss import Measure, ZCDPLoss
from support.ledgers import MARCH
from support.ledgers import METRO as KEY


@pytest.fixture(autouse=True)
def people(ledger: Ledger) -> None:
    ledger.declare_people("riders", ["metro"])


def pay(ledger: Ledger, release: str) -> str:
    losses = [ZCDPLoss(Fraction(1, 4))]
    paid = ledger.reserve(
        KEY, release=release, losses=losses, purpose="", window=MARCH, secret=f"salt of {release}"
    )
    return paid.entry_hash


def test_a_backup_holds_what_a_copy_of_the_file_misses(
    ledger: Ledger, path: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(path)) as reader:
        # As long as a reader has the ledger open, new entries stay in the log beside the file.
        reader.execute("SELECT * FROM hushway_entry").fetchall()
        pay(ledger, "r1")
        shutil.copy(path, tmp_path / "plain.db")
        ledger.backup(tmp_path / "true.db")
    with Ledger.connect(tmp_path / "plain.db") as plain:
        assert "r1" not in [entry.release for entry in plain.entries()]
    with Ledger.connect(tmp_path / "true.db") as true:
        assert true.entries() == ledger.entries()
        assert true.accounts() == ledger.accounts()
        assert true.lost() == ledger.lost()
        assert true.secret("r1") == "salt of r1"
        assert true.check() == ledger.check() == []
        pay(true, "r2")
        assert true.check() == []
    assert len(ledger.entries()) == 2


def test_a_backup_is_one_private_file(ledger: Ledger, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    ledger.backup(folder / "copy.db")
    assert [file.name for file in folder.iterdir()] == ["copy.db"]
    assert stat.S_IMODE((folder / "copy.db").stat().st_mode) == 0o600


def test_a_backup_never_replaces_a_file(ledger: Ledger, path: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("precious")
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "nowhere.db")
    for taken in (target, path, link):
        with pytest.raises(LedgerError, match="a backup never replaces a file"):
            ledger.backup(taken)
    assert target.read_text() == "precious"
    assert not (tmp_path / "nowhere.db").exists()
    assert ledger.check() == []


def test_a_backup_that_fails_leaves_nothing_behind(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(LedgerError, match="cannot be created"):
        ledger.backup(tmp_path / "missing" / "copy.db")
    states = iter(["before", "after"])
    monkeypatch.setattr("hushway.privacy.ledger.connection._everything", lambda _: next(states))
    with pytest.raises(LedgerError, match="could not be written"):
        ledger.backup(tmp_path / "copy.db")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ledger.db"]


def test_a_full_disk_is_reported_and_leaves_nothing_behind(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect

    def small(target: Path, **options: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(target, **options)
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    monkeypatch.setattr("hushway.privacy.ledger.connection.sqlite3.connect", small)
    with pytest.raises(LedgerError, match="could not be written"):
        ledger.backup(tmp_path / "copy.db")
    monkeypatch.undo()
    assert not (tmp_path / "copy.db").exists()


def test_an_old_backup_that_was_restored_is_betrayed_by_a_certificate(
    ledger: Ledger, tmp_path: Path
) -> None:
    pay(ledger, "r1")
    ledger.backup(tmp_path / "old.db")
    witness = Witness(
        release="r2",
        entry_hash=pay(ledger, "r2"),
        reference="seal-sha256:2",
        certificate="sha256:2",
        key=KEY,
        measure=Measure.ZCDP,
        spent=Fraction(1, 2),
        budget_limit=Fraction(1),
    )
    ledger.publish("r2", reference="seal-sha256:2")
    assert ledger.witness(witness) == []
    with Ledger.connect(tmp_path / "old.db") as restored:
        assert ["older copy" in finding for finding in restored.check()] == [True]
        (finding,) = restored.witness(witness)
    assert "does not know release r2" in finding
    assert "restored from a copy that is older than the release" in finding
