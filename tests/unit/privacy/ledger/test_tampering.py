"""Whoever edits the file behind hushway's back is found out."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table

from hushway.errors import LedgerError
from hushway.privacy.bound import Unit
from hushway.privacy.ledger import AccountKey, Ledger
from hushway.privacy.ledger.book import Book
from hushway.privacy.ledger.chain import seal
from hushway.privacy.ledger.schema import account_table, entry_table, ledger_table, people_table
from hushway.privacy.loss import PureLoss, ZCDPLoss
from hushway.release.job import window_of_days
from support.ledgers import MARCH, METRO

BUS = AccountKey(dataset="bus", unit=Unit.TRIP, period="2026-03")
AMOUNTS = {"amount", "spent", "cap", "delta"}
ENTRIES = [(1, number) for number in range(1, 8)] + [(2, 1)]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound ledger with every kind of entry."""
    path = tmp_path_factory.mktemp("original") / "ledger.db"
    with Ledger.connect(path) as ledger:
        ledger.open_account(METRO, ZCDPLoss(Fraction(1)), delta=Fraction(1, 10**6))
        ledger.open_account(BUS, PureLoss(Fraction(2)))
        for release in ("r1", "r2", "r3"):
            ledger.reserve(
                METRO,
                release=release,
                losses=[ZCDPLoss(Fraction(1, 5))],
                purpose="weekly",
                window=MARCH,
                secret=f"salt of {release}",
            )
        ledger.publish("r1", reference="sha256:1")
        ledger.publish("r2", reference="sha256:2")
        ledger.abandon("r3", reason="late")
        ledger.declare_people("riders", ["metro"])
        ledger.declare_people("riders", ["bus"])
        assert ledger.check() == []
    return path


@pytest.fixture
def path(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(original, tmp_path / "ledger.db"))


def edit(path: Path, *statements: str, values: tuple[Any, ...] = ()) -> None:
    """Changes rows the way an outsider would; every statement must hit something."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP INDEX IF EXISTS hushway_reserved_once")
        connection.execute("DROP INDEX IF EXISTS hushway_settled_once")
        for statement in statements:
            assert connection.execute(statement, values).rowcount > 0
        connection.commit()


def check(path: Path) -> list[str]:
    with Ledger.connect(path) as ledger:
        return ledger.check()


def every_field() -> list[tuple[str, str, str]]:
    """Table, row and column of everything that is stored."""

    def fields(table: Table, rows: list[str]) -> list[tuple[str, str, str]]:
        return [(table.name, row, column.name) for row in rows for column in table.columns]

    entries = [f"account = {account} AND number = {number}" for account, number in ENTRIES]
    two = ["number = 1", "number = 2"]
    tables = fields(account_table, two) + fields(people_table, two) + fields(entry_table, entries)
    return [*tables, *((ledger_table.name, "1", name) for name in ("declarations", "people_head"))]


def stored(path: Path, table: str, row: str, column: str) -> Any:
    with closing(sqlite3.connect(path)) as connection:
        (value,) = connection.execute(f"SELECT {column} FROM {table} WHERE {row}").fetchone()  # noqa: S608
    return value


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("table", "row", "column"), every_field())
def test_an_edit_of_any_field_is_found(path: Path, table: str, row: str, column: str) -> None:
    value = stored(path, table, row, column)
    if isinstance(value, int):
        edited: object = value + 100
    else:
        edited = "1/7" if column in AMOUNTS else "always" if column == "days" else value + "x"
    edit(path, f"UPDATE {table} SET {column} = ? WHERE {row}", values=(edited,))  # noqa: S608
    assert check(path) != []


@pytest.mark.one_in(5)
@pytest.mark.parametrize("field", every_field())
def test_nonsense_in_any_field_is_found_and_not_stumbled_over(
    original: Path, path: Path, field: tuple[str, str, str]
) -> None:
    table, row, column = field
    if (table, column) in (("hushway_account", "number"), ("hushway_people", "number")):
        pytest.skip("SQLite itself takes only numbers here")
    value = stored(path, table, row, column)
    for edited in {b"\xff\x00", "", "1e999999999"} - {value}:
        shutil.copy(original, path)
        edit(path, f"UPDATE {table} SET {column} = ? WHERE {row}", values=(edited,))  # noqa: S608
        assert check(path) != []


def test_an_edited_number_of_accounts_is_found(path: Path) -> None:
    edit(path, f"UPDATE {ledger_table.name} SET accounts = 1")  # noqa: S608
    assert check(path) == ["Account number 2 was added or renumbered from outside."]
    edit(path, f"UPDATE {ledger_table.name} SET accounts = 3")  # noqa: S608
    assert check(path) == ["Account number 3 was removed."]


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (1, "is of version 1: its entries do not say which days they cover"),
        (3, "not of version 2"),
        ("x", "not of version 2"),
    ],
)
def test_a_ledger_of_another_version_is_not_opened(path: Path, version: object, words: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE hushway_ledger")
        # Version 1 had these columns.
        connection.execute("CREATE TABLE hushway_ledger (version, accounts)")
        connection.execute("INSERT INTO hushway_ledger VALUES (?, 2)", (version,))
        connection.commit()
    with pytest.raises(LedgerError, match=words):
        Ledger.connect(path)


@pytest.mark.parametrize("number", range(1, 8))
def test_a_removed_entry_is_found(path: Path, number: int) -> None:
    edit(path, f"DELETE FROM hushway_entry WHERE account = 1 AND number = {number}")  # noqa: S608
    assert f"Account metro / person / 2026-03: entry {number} is missing." in check(path)


@pytest.mark.parametrize("kept", range(7))
def test_a_removed_tail_is_found(path: Path, kept: int) -> None:
    edit(path, f"DELETE FROM hushway_entry WHERE account = 1 AND number > {kept}")  # noqa: S608
    found = check(path)
    assert any("its head is not the hash of its last entry" in words for words in found)
    assert any("entry 7 is missing" in words for words in found)


def test_a_removed_account_is_found_with_and_without_its_entries(path: Path) -> None:
    edit(path, "DELETE FROM hushway_account WHERE number = 1")
    assert check(path) == [
        "Account number 1 was removed.",
        "There are entries of account number 1, but no such account.",
    ]
    edit(path, "DELETE FROM hushway_entry WHERE account = 1")
    assert check(path) == ["Account number 1 was removed."]


def test_an_account_that_was_removed_and_opened_again_is_found(path: Path) -> None:
    edit(
        path,
        "DELETE FROM hushway_entry WHERE account = 1",
        "DELETE FROM hushway_account WHERE number = 1",
    )
    with Ledger.connect(path) as ledger:
        ledger.open_account(METRO, ZCDPLoss(Fraction(100)))
    assert check(path) == ["Account number 1 was removed."]


def test_entries_in_another_order_are_found(path: Path) -> None:
    edit(
        path,
        "UPDATE hushway_entry SET number = 99 WHERE account = 1 AND number = 2",
        "UPDATE hushway_entry SET number = 2 WHERE account = 1 AND number = 3",
        "UPDATE hushway_entry SET number = 3 WHERE account = 1 AND number = 99",
    )
    found = check(path)
    assert "Account metro / person / 2026-03: entry 2 was edited." in found
    assert "Account metro / person / 2026-03: entry 3 does not follow the entry before it." in found


def test_a_raised_cap_is_found_and_cannot_be_spent(path: Path) -> None:
    edit(path, "UPDATE hushway_account SET cap = '1000' WHERE number = 1")
    (finding,) = check(path)
    assert finding.startswith(
        "Account metro / person / 2026-03: its key, currency, budget limit, delta"
    )
    with Ledger.connect(path) as ledger:
        with pytest.raises(LedgerError, match="edited or is damaged"):
            reserve(ledger, ZCDPLoss(Fraction(10)))
        with pytest.raises(LedgerError, match="edited or is damaged"):
            ledger.account(METRO)


def test_a_lowered_sum_is_found_and_cannot_be_spent(path: Path) -> None:
    edit(path, "UPDATE hushway_account SET spent = '0' WHERE number = 1")
    assert check(path) == [
        "Account metro / person / 2026-03: what it says it spent is not the sum of its entries."
    ]
    with Ledger.connect(path) as ledger, pytest.raises(LedgerError, match="edited or is damaged"):
        reserve(ledger, ZCDPLoss(Fraction(1)))


def test_an_account_whose_tail_was_cut_cannot_be_spent(path: Path) -> None:
    edit(path, "DELETE FROM hushway_entry WHERE account = 1 AND number > 2")
    with Ledger.connect(path) as ledger, pytest.raises(LedgerError, match="edited or is damaged"):
        reserve(ledger, ZCDPLoss(Fraction(1, 2)))


def test_an_edited_secret_is_not_handed_out(path: Path) -> None:
    edit(path, "UPDATE hushway_entry SET secret = 'another' WHERE release = 'r1' AND secret != ''")
    with Ledger.connect(path) as ledger, pytest.raises(LedgerError, match="edited or is damaged"):
        ledger.secret("r1")


def reserve(ledger: Ledger, loss: ZCDPLoss) -> None:
    ledger.reserve(METRO, release="new", losses=[loss], purpose="greed", window=MARCH)


def forge(path: Path, number: int, **changes: str) -> None:
    """Edits an entry of the first account and seals everything after it anew, head included."""
    with Ledger.connect(path) as ledger, ledger._store.writing() as connection:
        book = Book(connection)
        account = book.accounts()[0]
        previous = ""
        for entry in book.entries(1):
            draft = replace(entry, previous_hash=previous)
            if entry.number == number:
                draft = replace(draft, **changes)
            previous = seal(account, draft)
            connection.execute(
                entry_table.update()
                .where(entry_table.c.account == 1, entry_table.c.number == entry.number)
                .values({**changes} if entry.number == number else {})
                .values(previous_hash=draft.previous_hash, hash=previous)
            )
        connection.execute(
            account_table.update().where(account_table.c.number == 1).values(head=previous)
        )


@pytest.mark.parametrize(
    ("number", "changes", "finding"),
    [
        (2, {"amount": "1/7"}, "entry 2 states a sum that its amounts do not add up to."),
        (2, {"amount": "9"}, "more was spent than its budget limit allows."),
        (2, {"amount": "0"}, "(reserve r1) has an amount that such an entry cannot have."),
        (5, {"amount": "1/5"}, "(publish r1) has an amount that such an entry cannot have."),
        (6, {"release": "r1"}, "(publish r1) settles a release that was settled already."),
        (7, {"release": "r2"}, "(abandon r2) settles a release that was settled already."),
        (6, {"release": "r9"}, "(publish r9) settles a release that was not reserved before."),
        (3, {"kind": "refund"}, "(refund r2) is of a kind that hushway does not write."),
        (3, {"kind": "open"}, "entry 3 (open r2) stands in the wrong place"),
        (1, {"kind": "abandon"}, "entry 1 (abandon) stands in the wrong place"),
        (3, {"release": "r1"}, "Release r1 was reserved 2 times."),
        (3, {"days": ""}, "(reserve r2) has days that such an entry cannot have."),
        (3, {"days": "2026-03-01/2026-03-31"}, "(reserve r2) has days that such an entry"),
        (5, {"days": "always"}, "(publish r1) has days that such an entry cannot have."),
    ],
)
def test_a_forged_chain_that_breaks_the_rules_is_found(
    path: Path, number: int, changes: dict[str, str], finding: str
) -> None:
    edit(path)
    forge(path, number, **changes)
    found = check(path)
    assert any(finding in words for words in found), found
    assert not any("was edited" in words for words in found), "the forgery itself must be seamless"


def test_an_edit_that_is_sealed_anew_breaks_the_link_to_the_next_entry(path: Path) -> None:
    with Ledger.connect(path) as ledger, ledger._store.reading() as connection:
        book = Book(connection)
        edited = replace(book.entries(1)[1], purpose="something else")
        resealed = seal(book.accounts()[0], edited)
    edit(
        path,
        "UPDATE hushway_entry SET purpose = ?, hash = ? WHERE account = 1 AND number = 2",
        values=(edited.purpose, resealed),
    )
    assert check(path) == [
        "Account metro / person / 2026-03: entry 3 does not follow the entry before it."
    ]


def test_a_damaged_row_is_reported_in_words_by_every_reader(path: Path) -> None:
    edit(path, "UPDATE hushway_entry SET amount = x'ff' WHERE account = 1 AND number = 2")
    with Ledger.connect(path) as ledger:
        for read in (ledger.entries, ledger.unpublished):
            with pytest.raises(LedgerError, match="An entry of the ledger was edited"):
                read()
    edit(path, "UPDATE hushway_account SET cap = 'much' WHERE number = 1")
    with Ledger.connect(path) as ledger:
        with pytest.raises(LedgerError, match="An account of the ledger was edited"):
            ledger.accounts()
        with pytest.raises(LedgerError, match="edited or is damaged"):
            reserve(ledger, ZCDPLoss(Fraction(1, 100)))


def test_days_that_two_accounts_claim_are_found(path: Path) -> None:
    april = window_of_days(date(2026, 4, 1), date(2026, 4, 30), "Europe/Paris")
    other = AccountKey(dataset="metro", unit=Unit.TRIP, period="spring")
    with Ledger.connect(path) as ledger:
        ledger.open_account(other, PureLoss(Fraction(1)))
        loss = PureLoss(Fraction(1, 3))
        ledger.reserve(other, release="april", losses=[loss], purpose="", window=april)
    edit(path)
    forge(path, 2, days=april.to_text())
    accounts = "metro / person / 2026-03 and metro / trip / spring"
    days, another = check(path)
    assert days == f"Accounts {accounts} were charged for the same days."
    assert "older copy, or another one" in another


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE hushway_entry SET days = 'always' WHERE release = 'r1' AND kind = 'reserve'",
        "DELETE FROM hushway_entry WHERE release = 'r1' AND kind = 'reserve'",
        "UPDATE hushway_account SET spent = '0' WHERE number = 1",
    ],
)
def test_days_cannot_be_freed_by_editing_the_account_that_holds_them(
    path: Path, statement: str
) -> None:
    edit(path, statement)
    other = AccountKey(dataset="metro", unit=Unit.PERSON, period="again")
    with Ledger.connect(path) as ledger:
        ledger.open_account(other, PureLoss(Fraction(1)))
        with pytest.raises(LedgerError, match="metro / person / 2026-03 of the ledger was edited"):
            ledger.reserve(
                other, release="new", losses=[PureLoss(Fraction(1))], purpose="", window=MARCH
            )


@pytest.mark.parametrize(
    ("statements", "finding"),
    [
        (["DELETE FROM hushway_people WHERE number = 2"], "removed, added or renumbered"),
        (["DELETE FROM hushway_people WHERE number = 1"], "Declaration 2 about people does not"),
        (["DELETE FROM hushway_people"], "is not the one that the ledger remembers"),
        (
            ["UPDATE hushway_people SET datasets = '[]' WHERE number = 1"],
            "Declaration 1 about people was edited.",
        ),
        (
            ["UPDATE hushway_people SET datasets = 'metro' WHERE number = 1"],
            "Declaration 1 about people cannot be read.",
        ),
    ],
)
def test_an_edited_declaration_about_people_is_found(
    path: Path, statements: list[str], finding: str
) -> None:
    edit(path, *statements)
    found = check(path)
    assert any(finding in words for words in found), found
