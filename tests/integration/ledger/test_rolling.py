"""Accounts whose limit is for any so many consecutive steps."""

import random
from datetime import date
from fractions import Fraction
from itertools import pairwise

import pytest

from hushway.errors import BudgetError, LedgerError
from hushway.privacy.bound import Unit
from hushway.privacy.ledger import AccountKey, Ledger, Span, Window
from hushway.privacy.loss import PureLoss, ZCDPLoss
from hushway.release.job import window_of_days
from support.restored import backed_up, put_back

KEY = AccountKey(dataset="metro", unit=Unit.PERSON, period="monthly")
KEY_OF_BUSES = AccountKey(dataset="buses", unit=Unit.PERSON, period="2026")
YEAR = Span(step="month", steps=12)
LIMIT = Fraction(6)


def month(number: int, zone: str = "Europe/Paris") -> Window:
    """Returns a month, counted from January 2026."""
    first, last = YEAR.days(f"{2026 + number // 12}-{number % 12 + 1:02}")
    return window_of_days(first, last, zone)


def spend(ledger: Ledger, name: str, window: Window, amount: Fraction = Fraction(1, 2)) -> bool:
    """Whether an amount could be spent."""
    losses = [ZCDPLoss(amount)]
    try:
        ledger.reserve(KEY, release=name, losses=losses, purpose="a month", window=window)
    except BudgetError as refusal:
        if "any 12 consecutive months around these days" not in str(refusal):
            raise
        return False
    return True


@pytest.fixture
def rolling(ledger: Ledger) -> Ledger:
    ledger.open_account(KEY, ZCDPLoss(LIMIT), span=YEAR)
    return ledger


def test_a_series_goes_on_for_ever_within_the_limit_of_each_span(rolling: Ledger) -> None:
    assert [spend(rolling, f"m{number}", month(number)) for number in range(30)] == [True] * 30
    account = rolling.account(KEY)
    assert (account.spent, account.lifetime, account.span) == (LIMIT, Fraction(15), YEAR)
    assert account.remaining == 0
    assert rolling.account(KEY, month(40)).remaining == Fraction(11, 2)
    assert not spend(rolling, "again", month(5))
    assert rolling.check() == []


@pytest.mark.parametrize("seed", range(4))
def test_no_span_is_overspent_in_any_order(rolling: Ledger, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311
    charged: dict[int, Fraction] = {}
    for turn in range(60):
        number, amount = dice.randrange(30), Fraction(dice.randrange(1, 9), 3)
        fits = all(
            sum(charged.get(at, Fraction(0)) for at in range(start, start + 12)) + amount <= LIMIT
            for start in range(number - 11, number + 1)
        )
        assert spend(rolling, f"turn-{turn}", month(number), amount) == fits
        if fits:
            charged[number] = charged.get(number, Fraction(0)) + amount
    assert rolling.check() == []
    assert rolling.account(KEY).lifetime == sum(charged.values())


def test_days_in_two_steps_count_in_every_span_that_holds_one_of_them(rolling: Ledger) -> None:
    across = window_of_days(date(2026, 1, 31), date(2026, 2, 1), "Europe/Paris")
    assert spend(rolling, "across", across, LIMIT)
    assert not spend(rolling, "before", month(-11))
    assert not spend(rolling, "after", month(12))
    assert spend(rolling, "long before", month(-12), LIMIT)
    assert spend(rolling, "long after", month(13), LIMIT)


def test_the_same_days_by_another_clock_are_refused(rolling: Ledger) -> None:
    assert spend(rolling, "one", month(0))
    with pytest.raises(BudgetError, match="names the days of a release before otherwise"):
        spend(rolling, "other", month(1, zone="Asia/Tokyo"))


def test_rows_without_times_have_no_step(rolling: Ledger) -> None:
    with pytest.raises(BudgetError, match="rows without times"):
        spend(rolling, "ever", Window.always())


def test_a_pure_loss_counts_in_rho_and_a_rho_not_in_epsilon(ledger: Ledger) -> None:
    ledger.open_account(KEY, PureLoss(Fraction(1)), span=YEAR)
    for name, window in (("one", month(0)), ("two", month(12))):
        ledger.reserve(
            KEY, release=name, losses=[PureLoss(Fraction(1))], purpose="all", window=window
        )
    with pytest.raises(BudgetError, match="left of its budget limit"):
        ledger.refuse_reservation(KEY, losses=[PureLoss(Fraction(1, 99))], window=month(6))
    with pytest.raises(BudgetError, match="cannot spend on it"):
        ledger.refuse_reservation(KEY, losses=[ZCDPLoss(Fraction(1, 9))], window=month(30))


def test_a_day_is_charged_to_one_account_only_also_here(rolling: Ledger) -> None:
    other = AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03")
    rolling.open_account(other, ZCDPLoss(Fraction(1)))
    assert spend(rolling, "march", month(2))
    with pytest.raises(BudgetError, match="was charged to account"):
        rolling.refuse_reservation(other, losses=[ZCDPLoss(Fraction(1))], window=month(2))


@pytest.mark.parametrize("limit", ["6", "6 per 1 month", "7 per 12 month"])
def test_another_limit_or_span_breaks_the_chain(rolling: Ledger, limit: str) -> None:
    spend(rolling, "march", month(2))
    with rolling._store.writing() as connection:
        connection.exec_driver_sql(f"UPDATE hushway_account SET cap = '{limit}'")  # noqa: S608
    assert rolling.check() != []
    with pytest.raises(LedgerError, match="edited or is damaged"):
        spend(rolling, "april", month(3))


def test_an_entry_that_was_taken_out_gives_nothing_back(rolling: Ledger) -> None:
    for number in range(3):
        spend(rolling, f"m{number}", month(number))
    with rolling._store.writing() as connection:
        connection.exec_driver_sql("DELETE FROM hushway_entry WHERE release = 'm1'")
    with pytest.raises(LedgerError, match="edited or is damaged"):
        spend(rolling, "m3", month(3))


def test_months_in_a_row_are_neighbours() -> None:
    assert all(not one.overlaps(other) for one, other in pairwise(map(month, range(12))))


def test_a_restored_ledger_reads_the_span_back(ledger: Ledger) -> None:
    ledger.open_account(KEY_OF_BUSES, PureLoss(LIMIT))
    old = backed_up(ledger)
    ledger.open_account(KEY, ZCDPLoss(LIMIT), span=YEAR)
    assert all(spend(ledger, f"m{number}", month(number)) for number in range(13))
    put_back(ledger, old)
    with pytest.raises(LedgerError, match="lost"):
        ledger.refuse_restored()
    ledger.restore()
    account = ledger.account(KEY)
    assert (account.spent, account.lifetime, account.span) == (LIMIT, Fraction(13, 2), YEAR)
    assert not spend(ledger, "again", month(5))
    assert spend(ledger, "later", month(13))
    assert ledger.check() == []
