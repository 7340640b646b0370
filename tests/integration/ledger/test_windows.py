"""A day of a data set has one budget, whatever unit, period or release is named."""

from datetime import date
from fractions import Fraction

import pytest

from hushway.errors import BudgetError
from hushway.privacy.bound import Unit
from hushway.privacy.ledger import AccountKey, Ledger, Window
from hushway.privacy.loss import PureLoss
from hushway.release.job import window_of_days

MARCH = AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03")
AGAIN = AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03 again")
TRIPS = AccountKey(dataset="metro", unit=Unit.TRIP, period="2026-03")


def days(first: str, last: str) -> Window:
    return window_of_days(date.fromisoformat(first), date.fromisoformat(last), "Europe/Paris")


WHOLE_MARCH = days("2026-03-01", "2026-03-31")
WHOLE_APRIL = days("2026-04-01", "2026-04-30")
ONE_DAY = days("2026-03-10", "2026-03-10")


@pytest.fixture
def held(ledger: Ledger) -> Ledger:
    """A ledger with three accounts, the first of which has spent on March."""
    for key in (MARCH, AGAIN, TRIPS):
        ledger.open_account(key, PureLoss(Fraction(4)))
    pay(ledger, MARCH, "r1", WHOLE_MARCH)
    return ledger


def pay(ledger: Ledger, key: AccountKey, release: str, window: Window) -> None:
    loss = PureLoss(Fraction(1, 2))
    ledger.reserve(key, release=release, losses=[loss], purpose="table", window=window)


def spent(ledger: Ledger) -> list[Fraction]:
    return [account.spent for account in ledger.accounts()]


@pytest.mark.parametrize("window", [WHOLE_MARCH, ONE_DAY, days("2026-03-31", "2026-04-30")])
def test_a_second_period_over_the_same_days_is_refused(held: Ledger, window: Window) -> None:
    with pytest.raises(BudgetError, match="metro / person / 2026-03 again cannot spend") as refusal:
        pay(held, AGAIN, "r2", window)
    assert "charged to account metro / person / 2026-03 for 2026-03-01 to 2026-03-31" in str(
        refusal.value
    )
    assert refusal.value.advice.startswith("Nothing was spent.")
    assert 'period = "2026-03" ' in refusal.value.advice
    assert spent(held) == [Fraction(1, 2), 0, 0]
    assert held.check() == []


def test_another_unit_over_the_same_days_is_refused_with_the_reason(held: Ledger) -> None:
    with pytest.raises(BudgetError, match="metro / trip / 2026-03 cannot spend") as refusal:
        pay(held, TRIPS, "r2", ONE_DAY)
    assert "two kinds of unit" in refusal.value.advice
    assert 'unit = "person" and period = "2026-03"' in refusal.value.advice
    assert spent(held) == [Fraction(1, 2), 0, 0]


def test_the_account_that_holds_the_days_pays_for_them_again(held: Ledger) -> None:
    pay(held, MARCH, "r2", ONE_DAY)
    pay(held, AccountKey(dataset="METRO ", unit=Unit.PERSON, period="2026-03"), "r3", ONE_DAY)
    assert spent(held) == [Fraction(3, 2), 0, 0]


def test_other_days_and_other_data_sets_have_budgets_of_their_own(held: Ledger) -> None:
    bus = AccountKey(dataset="bus", unit=Unit.PERSON, period="2026-03")
    held.open_account(bus, PureLoss(Fraction(4)))
    pay(held, AGAIN, "r2", WHOLE_APRIL)
    pay(held, bus, "r3", WHOLE_MARCH)
    assert spent(held) == [Fraction(1, 2), Fraction(1, 2), 0, Fraction(1, 2)]
    assert held.check() == []


def test_an_abandoned_release_keeps_its_days(held: Ledger) -> None:
    held.abandon("r1", reason="disk full")
    with pytest.raises(BudgetError, match="cannot spend"):
        pay(held, AGAIN, "r2", ONE_DAY)


def test_a_refused_release_takes_no_days(held: Ledger) -> None:
    with pytest.raises(BudgetError, match="left of its budget limit"):
        held.reserve(
            TRIPS,
            release="r2",
            losses=[PureLoss(Fraction(5))],
            purpose="",
            window=WHOLE_APRIL,
        )
    pay(held, AGAIN, "r3", WHOLE_APRIL)


def test_rows_without_times_have_one_budget_for_ever(held: Ledger) -> None:
    with pytest.raises(BudgetError, match=r"spend on all days \(rows without times\)"):
        pay(held, AGAIN, "r2", Window.always())
    pay(held, MARCH, "r3", Window.always())
    with pytest.raises(BudgetError, match=r"2026-03 for all days \(rows without times\)"):
        pay(held, AGAIN, "r4", WHOLE_APRIL)


def test_days_of_two_accounts_can_be_paid_by_neither(held: Ledger) -> None:
    pay(held, AGAIN, "r2", WHOLE_APRIL)
    both = days("2026-03-20", "2026-04-10")
    for key in (MARCH, AGAIN):
        with pytest.raises(BudgetError, match="cannot spend on 2026-03-20 to 2026-04-10"):
            pay(held, key, "r3", both)
    with pytest.raises(BudgetError, match=r"2026-03 for .*, and account .* again for") as refusal:
        pay(held, TRIPS, "r3", both)
    assert "release the days of each by themselves" in refusal.value.advice


def test_an_obstacle_is_told_before_anything_is_paid(held: Ledger) -> None:
    assert held.obstacle(MARCH, ONE_DAY) is None
    assert held.obstacle(AGAIN, WHOLE_APRIL) is None
    words = held.obstacle(AGAIN, ONE_DAY)
    assert words is not None
    with pytest.raises(BudgetError) as refusal:
        pay(held, AGAIN, "r2", ONE_DAY)
    assert words == f"{refusal.value} {refusal.value.advice}"
    unopened = AccountKey(dataset="metro", unit=Unit.PERSON, period="spring")
    assert "cannot spend" in (held.obstacle(unopened, ONE_DAY) or "")


def test_entries_say_which_days_they_cover(held: Ledger) -> None:
    assert [entry.window for entry in held.entries(MARCH)] == [None, WHOLE_MARCH]


def test_times_in_the_ledger_are_whole_seconds(held: Ledger) -> None:
    held.abandon("r1", reason="x")
    assert {entry.at.microsecond for entry in held.entries()} == {0}
    assert {account.opened_at.microsecond for account in held.accounts()} == {0}


@pytest.mark.parametrize(
    ("dataset", "period", "what"),
    [
        ("metr0", "2026-03", "data set metr0 looks like metro"),
        ("métro", "2026-03", "data set métro looks like metro"),
        ("metro", "2026_03", "period 2026_03 looks like 2026-03"),
        ("metro", "2026\N{EN DASH}03", "looks like 2026-03"),
    ],
)
def test_an_account_with_a_look_alike_name_is_not_opened(
    held: Ledger, dataset: str, period: str, what: str
) -> None:
    key = AccountKey(dataset=dataset, unit=Unit.PERSON, period=period)
    with pytest.raises(BudgetError, match=what) as refusal:
        held.open_account(key, PureLoss(Fraction(1)))
    assert refusal.value.advice.startswith("Write ")
    assert len(held.accounts()) == 3


def test_one_account_under_two_spellings_is_opened_once(held: Ledger) -> None:
    key = AccountKey(dataset="Metro", unit=Unit.PERSON, period=" 2026-03")
    with pytest.raises(BudgetError, match="open already"):
        held.open_account(key, PureLoss(Fraction(1)))
    assert held.account(key).spent == Fraction(1, 2)


def test_a_release_id_is_one_release_in_any_spelling(held: Ledger) -> None:
    with pytest.raises(BudgetError, match="reserved before"):
        pay(held, MARCH, "R1", ONE_DAY)
    held.publish("R1 ", reference="sha256:0")
    assert held.unpublished() == []
