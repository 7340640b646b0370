from datetime import UTC, datetime
from fractions import Fraction

import pytest

from hushway.errors import BudgetError
from hushway.privacy.bound import Unit
from hushway.privacy.ledger import Account, AccountKey
from hushway.privacy.loss import ZCDPLoss


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
        opened_at=datetime(2026, 3, 1, tzinfo=UTC),
    )
    assert account.remaining == Fraction(2, 3)
