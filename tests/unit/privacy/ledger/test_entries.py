from datetime import UTC, datetime
from fractions import Fraction

import pytest

from hushway.errors import BudgetError, LedgerError
from hushway.privacy.bound import Unit
from hushway.privacy.ledger import Account, AccountKey
from hushway.privacy.ledger.entries import amount_from_text, amount_to_text, readable
from hushway.privacy.loss import Measure, ZCDPLoss


def test_a_key_reads_like_a_sentence() -> None:
    key = AccountKey(dataset="metro", unit=Unit.TRIP, period="2026-03")
    assert str(key) == "metro / trip / 2026-03"


def test_one_name_written_in_two_ways_is_one_key() -> None:
    one = AccountKey(dataset="Metro  Nord ", unit=Unit.PERSON, period="Q1")
    other = AccountKey(dataset="metro nord", unit=Unit.PERSON, period="q1")
    assert one == other
    assert str(one) == "metro nord / person / q1"


@pytest.mark.parametrize("name", ["", " ", "\tmetro", "me\ntro", "met\u200bro", "m" * 201])
def test_names_that_could_be_confused_make_no_key(name: str) -> None:
    with pytest.raises(BudgetError):
        AccountKey(dataset=name, unit=Unit.PERSON, period="2026-03")
    with pytest.raises(BudgetError):
        AccountKey(dataset="metro", unit=Unit.PERSON, period=name)


def test_what_remains_is_the_cap_less_what_was_spent_exactly() -> None:
    account = Account(
        key=AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03"),
        budget_limit=ZCDPLoss(Fraction(1)),
        delta=None,
        spent=Fraction(1, 3),
        lifetime=Fraction(1, 3),
        opened_at=datetime(2026, 3, 1, tzinfo=UTC),
    )
    assert account.remaining == Fraction(2, 3)


@pytest.mark.parametrize("amount", [Fraction(0), Fraction(10), Fraction(1, 3), Fraction(7, 10**40)])
def test_an_amount_survives_being_written_down(amount: Fraction) -> None:
    assert amount_from_text(amount_to_text(amount)) == amount


@pytest.mark.parametrize(
    "text",
    ["", "x", "1.5", "1e999999999", "-1", "1/0", " 1", "1\n", "01", "1" * 5000, b"1", None, 1],
)
def test_what_is_not_an_exact_fraction_is_not_an_amount(text: str) -> None:
    with pytest.raises(LedgerError):
        amount_from_text(text)


def test_a_fraction_that_python_cannot_write_is_refused_in_words() -> None:
    with pytest.raises(BudgetError, match="too long"):
        amount_to_text(Fraction(1, 10**5000))


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (Fraction(0), "rho 0"),
        (Fraction(3), "rho 3"),
        (Fraction(1, 4), "rho 0.25"),
        (Fraction(1, 10**9), "rho 0.000000001"),
        (Fraction(1, 10**50), "rho 1E-50"),
        (Fraction(1, 3), "rho 1/3"),
        (Fraction(10**12), "rho 1E+12"),
        (Fraction(1, 3) + Fraction(1, 10**20), "rho 0.333333333 (rounded)"),
        (Fraction(1, 10**5000 + 1), "rho 1.00000000E-5000 (rounded)"),
    ],
)
def test_amounts_in_messages_are_short(amount: Fraction, words: str) -> None:
    assert readable(Measure.ZCDP, amount) == words
