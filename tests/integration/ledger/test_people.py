"""What one person may have lost, over periods and data sets."""

from datetime import date
from fractions import Fraction

import pytest

from hushway.errors import BudgetError
from hushway.privacy.bound import Unit
from hushway.privacy.ledger import AccountKey, Ledger, Lost, Window
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from hushway.release.job import window_of_days


def month(number: int) -> Window:
    return window_of_days(date(2026, number, 1), date(2026, number, 28), "Europe/Paris")


def pay(ledger: Ledger, dataset: str, number: int, loss: Loss, unit: Unit = Unit.PERSON) -> str:
    """Spends for a month from an account of its own."""
    key = AccountKey(dataset=dataset, unit=unit, period=f"2026-{number:02}")
    ledger.open_account(key, type(loss)(Fraction(100)))
    release = f"{dataset}-{number}"
    ledger.reserve(key, release=release, losses=[loss], purpose="", window=month(number))
    return release


def lost(
    unit: Unit,
    releases: int,
    *,
    epsilon: str = "0",
    rho: str = "0",
    together: str | None = None,
    owner: bool = True,
) -> Lost:
    return Lost(
        unit=unit,
        releases=releases,
        epsilon=Fraction(epsilon),
        rho=Fraction(rho),
        together=None if together is None else Fraction(together),
        owner=owner,
    )


@pytest.fixture
def paid(ledger: Ledger) -> Ledger:
    ledger.abandon(pay(ledger, "metro", 1, PureLoss(Fraction(1, 3))), reason="late")
    ledger.publish(pay(ledger, "metro", 2, PureLoss(Fraction(1, 2))), reference="sha256:0")
    pay(ledger, "bus", 2, ZCDPLoss(Fraction(1, 7)))
    pay(ledger, "bus", 3, PureLoss(Fraction(2)), Unit.TRIP)
    pay(ledger, "bike", 1, ZCDPLoss(Fraction(1, 5)))
    return ledger


def told(
    ledger: Ledger, first: date | None = None, last: date | None = None
) -> dict[tuple[str | None, tuple[str, ...]], tuple[Lost, ...]]:
    found = ledger.lost(first_day=first, last_day=last)
    return {(group.people.name, group.people.datasets): group.lost for group in found}


def test_data_sets_that_nobody_declared_stand_by_themselves(paid: Ledger) -> None:
    assert told(paid) == {
        (None, ("bike",)): (lost(Unit.PERSON, 1, rho="1/5"),),
        (None, ("bus",)): (
            lost(Unit.PERSON, 1, rho="1/7"),
            lost(Unit.TRIP, 1, epsilon="2", owner=False),
        ),
        (None, ("metro",)): (lost(Unit.PERSON, 2, epsilon="5/6"),),
    }


def test_declared_people_lose_the_sum_of_their_data_sets_exactly(paid: Ledger) -> None:
    group = paid.declare_people("Metro  Riders", ["bus", "Metro"])
    assert (group.name, group.datasets) == ("metro riders", ("bus", "metro"))
    # Each reservation of an epsilon counts as half its square, not their sum.
    together = Fraction(1, 18) + Fraction(1, 8) + Fraction(1, 7)
    mixed = lost(Unit.PERSON, 3, epsilon="5/6", rho="1/7", together=str(together))
    assert told(paid) == {
        ("metro riders", ("bus", "metro")): (
            mixed,
            lost(Unit.TRIP, 1, epsilon="2", owner=False),
        ),
        (None, ("bike",)): (lost(Unit.PERSON, 1, rho="1/5"),),
    }
    assert paid.check() == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("first", "last", "epsilon"),
    [
        (None, None, "5/6"),
        (date(2026, 2, 1), None, "1/2"),
        (None, date(2026, 1, 1), "1/3"),
        (date(2026, 1, 28), date(2026, 2, 1), "5/6"),
        (date(2026, 1, 29), date(2026, 1, 31), None),
    ],
)
def test_a_span_counts_every_release_with_a_day_in_it_in_full(
    paid: Ledger, first: date | None, last: date | None, epsilon: str | None
) -> None:
    found = told(paid, first, last)[None, ("metro",)]
    assert [entry.epsilon for entry in found] == ([] if epsilon is None else [Fraction(epsilon)])


def test_rows_without_times_are_in_every_span(ledger: Ledger) -> None:
    key = AccountKey(dataset="cards", unit=Unit.PERSON, period="all")
    ledger.open_account(key, PureLoss(Fraction(1)))
    loss = PureLoss(Fraction(1))
    ledger.reserve(key, release="r", losses=[loss], purpose="", window=Window.always())
    span = told(ledger, date(1999, 1, 1), date(1999, 1, 1))
    assert span == {(None, ("cards",)): (lost(Unit.PERSON, 1, epsilon="1"),)}


def test_a_declaration_that_shares_a_data_set_joins_the_groups(paid: Ledger) -> None:
    paid.declare_people("riders", ["metro"])
    paid.declare_people("cyclists", ["bike"])
    assert set(told(paid)) == {("riders", ("metro",)), ("cyclists", ("bike",)), (None, ("bus",))}
    group = paid.declare_people("everybody", ["bike", "metro"])
    assert group.datasets == ("bike", "metro")
    paid.declare_people("everybody", ["bus"])
    assert set(told(paid)) == {("everybody", ("bike", "bus", "metro"))}
    assert paid.check() == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("people", "datasets", "said"),
    [
        ("riders", ["tram"], "No account of this ledger is about tram"),
        ("riders", [], "names no data set"),
        ("  ", ["metro"], "name of the people is blank"),
        ("riders", ["met\u200bro"], "cannot be seen"),
    ],
)
def test_a_declaration_that_means_nothing_is_refused(
    paid: Ledger, people: str, datasets: list[str], said: str
) -> None:
    with pytest.raises(BudgetError, match=said):
        paid.declare_people(people, datasets)
    assert all(group.people.name is None for group in paid.lost())
