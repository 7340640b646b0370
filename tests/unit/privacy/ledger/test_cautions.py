"""What is worth knowing about a ledger that is sound: rights, older copies, clocks."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from hushway.errors import LedgerError
from hushway.privacy.ledger import Ledger, Window
from hushway.privacy.ledger.book import Book
from hushway.privacy.ledger.recovery import remember
from hushway.privacy.loss import PureLoss
from support.ledgers import METRO as KEY


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
        older = [caution for caution in ledger.cautions() if "older copy" in caution]
        assert ledger.check() == older
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


def test_a_chain_that_went_on_otherwise_is_noticed(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.connect(file) as ledger:
        ledger.backup(tmp_path / "copy.db")
    spend(file, "one")
    with monkeypatch.context() as patch:  # somebody else, who has not seen it
        patch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
        spend(tmp_path / "copy.db", "another one")
    assert said(file) == ""
    assert "older copy, or another one" in said(tmp_path / "copy.db")


@pytest.mark.parametrize("release", ["another one", None])
def test_what_was_seen_is_never_replaced_by_another_chain(
    file: Path, tmp_path: Path, release: str | None
) -> None:
    with Ledger.connect(file) as ledger:
        ledger.backup(tmp_path / "copy.db")
    spend(file, "one")
    with Ledger.connect(tmp_path / "copy.db") as copy, copy._store.reading() as connection:
        book = Book(connection)
        rows, entries = book.accounts(), book.entries()
    if release is not None:  # longer than what was seen, and another one
        more = [replace(entries[0], number=number, hash=f"x{number}") for number in range(2, 9)]
        rows, entries = [replace(rows[0], entries=8, head="x8")], [*entries, *more]
    remember(rows, entries)
    assert said(file) == ""
    assert "older copy" in said(tmp_path / "copy.db")


def test_the_memory_of_an_earlier_version_is_read(file: Path, state: Path) -> None:
    spend(file, "one")
    (kept,) = (state / "hushway" / "ledgers").iterdir()
    facts = json.loads(kept.read_text())["1"]["account"]
    kept.write_text(json.dumps({"1": [facts["entries"], facts["head"]]}))
    assert said(file) == ""
    kept.write_text(json.dumps({"1": [5, "sha256:0"]}))
    assert "account number 1" in said(file)
    with Ledger.connect(file) as ledger, pytest.raises(LedgerError, match="not known what"):
        ledger.restore()


def test_the_memory_holds_no_secret_and_is_for_its_owner_only(file: Path, state: Path) -> None:
    with Ledger.connect(file) as ledger:
        ledger.reserve(
            KEY,
            release="r",
            losses=[PureLoss(Fraction(1))],
            purpose="",
            window=Window.always(),
            secret="hidden",  # noqa: S106  not a password
        )
    (kept,) = (state / "hushway" / "ledgers").iterdir()
    assert "hidden" not in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0


def test_ledgers_opened_in_one_second_on_the_same_terms_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hushway.privacy.ledger.book.now_text", lambda: "2026-01-01T00:00:00+00:00")
    for name in ("one.db", "other.db"):
        with Ledger.connect(tmp_path / name) as ledger:
            ledger.open_account(KEY, PureLoss(Fraction(9)))
        spend(tmp_path / name, "release of " + name)
    assert said(tmp_path / "one.db") == said(tmp_path / "other.db") == ""


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
