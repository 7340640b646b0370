import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from hushway.errors import BudgetError
from hushway.privacy.bound import Bound
from hushway.privacy.budget import Budget
from hushway.privacy.events import Event, GaussianEvent, LaplaceEvent
from hushway.privacy.ledger import AccountKey, Reservation
from hushway.privacy.loss import Measure
from hushway.privacy.unit import Unit

BOUND = Bound(cells=1, each=1, total=1)


def reservation(measure: Measure, amount: str) -> Reservation:
    key = AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03")
    return Reservation(
        release="r1", key=key, measure=measure, amount=Fraction(amount), entry_hash="sha256:0"
    )


def laplace(scale: int) -> Event:
    return LaplaceEvent(query="q", cells=4, bound=BOUND, scale=Fraction(scale))


def test_a_reservation_is_a_budget() -> None:
    purse = reservation(Measure.PURE, "1")
    budget: Budget = purse
    budget.charge(laplace(1))
    assert purse.charged == 1


def test_charges_add_up_exactly() -> None:
    purse = reservation(Measure.PURE, "1")
    for _ in range(3):
        purse.charge(laplace(3))
    assert purse.charged == 1


def test_a_charge_that_is_too_large_takes_nothing() -> None:
    purse = reservation(Measure.PURE, "1/2")
    purse.charge(laplace(4))
    with pytest.raises(BudgetError, match=r"charge epsilon 1/3 with epsilon 0\.25 left"):
        purse.charge(laplace(3))
    assert purse.charged == Fraction(1, 4)
    purse.charge(laplace(4))
    assert purse.charged == Fraction(1, 2)


def test_laplace_noise_is_paid_in_rho_by_half_the_square() -> None:
    purse = reservation(Measure.ZCDP, "1/2")
    purse.charge(laplace(1))
    assert purse.charged == Fraction(1, 2)


def test_gaussian_noise_is_never_paid_in_epsilon() -> None:
    purse = reservation(Measure.PURE, "100")
    with pytest.raises(BudgetError, match="no pure epsilon") as refusal:
        purse.charge(GaussianEvent(query="q", cells=4, bound=BOUND, sigma_squared=Fraction(100)))
    assert "Laplace" in refusal.value.advice
    assert purse.charged == 0


def test_a_closed_reservation_takes_no_charge() -> None:
    purse = reservation(Measure.PURE, "1")
    purse.close()
    with pytest.raises(BudgetError, match="settled"):
        purse.charge(laplace(10))


def test_threads_cannot_charge_past_the_amount() -> None:
    purse = reservation(Measure.PURE, "1")

    def attempt(_: int) -> bool:
        try:
            purse.charge(laplace(100))
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(400))) == 100
    assert purse.charged == 1


def test_a_reservation_cannot_be_sent_to_another_process_and_spent_twice() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(reservation(Measure.PURE, "1"))
