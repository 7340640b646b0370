"""What is worth knowing about a ledger that is sound: rights, older copies, clocks."""

import shutil
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from hushway.privacy.bound import Unit
from hushway.privacy.ledger import AccountKey, Ledger, Window
from hushway.privacy.loss import PureLoss

KEY = AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with Ledger.connect(tmp_path / "ledger.db") as ledger:
        ledger.open_account(KEY, PureLoss(Fraction(9)))
    return tmp_path / "ledger.db"


def spend(file: Path, release: str) -> None:
    with Ledger.connect(file) as ledger:
        ledger.reserve(
            KEY,
            release=release,
            losses=[PureLoss(Fraction(1))],
            purpose="x",
            window=Window.always(),
        )


def said(file: Path) -> str:
    with Ledger.connect(file) as ledger:
        assert ledger.check() == []
        return " ".join(ledger.cautions())


def test_nothing_is_said_of_an_ordinary_ledger(file: Path) -> None:
    spend(file, "one")
    assert said(file) == ""


@pytest.mark.parametrize(
    ("mode", "words"), [(0o666, "write to"), (0o640, "read"), (0o620, "write")]
)
def test_rights_of_others_are_said(file: Path, mode: int, words: str) -> None:
    file.chmod(mode)
    assert f"Others may {words}" in said(file)


def test_an_older_copy_is_noticed_though_its_chains_are_sound(file: Path, tmp_path: Path) -> None:
    spend(file, "one")
    with Ledger.connect(file) as ledger:
        ledger.backup(tmp_path / "copy.db")
    assert said(file) == said(tmp_path / "copy.db") == ""
    spend(file, "two")
    assert said(file) == ""
    assert "older copy" in said(tmp_path / "copy.db")


def test_a_chain_that_went_on_otherwise_is_noticed(file: Path, tmp_path: Path) -> None:
    with Ledger.connect(file) as ledger:
        ledger.backup(tmp_path / "copy.db")
    spend(file, "one")
    spend(tmp_path / "copy.db", "another one")
    assert "older copy, or another one" in said(file) + said(tmp_path / "copy.db")


def test_what_cannot_be_remembered_is_no_trouble(file: Path, state: Path) -> None:
    shutil.rmtree(state)
    state.write_text("in the way")
    spend(file, "one")
    assert said(file) == ""


@pytest.mark.parametrize(("hours", "words"), [(-2, "went back"), (2, "in the future")])
def test_a_clock_that_is_off_is_said(
    file: Path, monkeypatch: pytest.MonkeyPatch, hours: int, words: str
) -> None:
    moment = (datetime.now(UTC) + timedelta(hours=hours)).isoformat(timespec="seconds")
    with monkeypatch.context() as patch:
        patch.setattr("hushway.privacy.ledger.book.now_text", lambda: moment)
        spend(file, "one")
    assert words in said(file)
