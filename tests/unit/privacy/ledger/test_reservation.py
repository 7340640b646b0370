import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from hushway.errors import BudgetError, PrivacyError
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.events import Budget, Event, GaussianEvent, LaplaceEvent
from hushway.privacy.ledger import AccountKey, Reservation
from hushway.privacy.loss import Measure
from support.scripts import output_of

BOUND = Bound(cells=1, each=1, total=1)


def reservation(measure: Measure, amount: str) -> Reservation:
    key = AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03")
    return Reservation(
        release="r1", key=key, measure=measure, amount=Fraction(amount), entry_hash="sha256:0"
    )


def laplace(scale: int) -> Event:
    return LaplaceEvent(query="q", cells=4, bound=BOUND, scale=Fraction(scale))


def test_a_reservation_is_a_budget() -> None:
    reserved = reservation(Measure.PURE, "1")
    budget: Budget = reserved
    budget.charge(laplace(1))
    assert reserved.charged == 1


def test_charges_add_up_exactly() -> None:
    budget = reservation(Measure.PURE, "1")
    for _ in range(3):
        budget.charge(laplace(3))
    assert budget.charged == 1


def test_a_charge_that_is_too_large_takes_nothing() -> None:
    budget = reservation(Measure.PURE, "1/2")
    budget.charge(laplace(4))
    with pytest.raises(BudgetError, match=r"charge epsilon 1/3 with epsilon 0\.25 left"):
        budget.charge(laplace(3))
    assert budget.charged == Fraction(1, 4)
    budget.charge(laplace(4))
    assert budget.charged == Fraction(1, 2)


def test_laplace_noise_is_paid_in_rho_by_half_the_square() -> None:
    budget = reservation(Measure.ZCDP, "1/2")
    budget.charge(laplace(1))
    assert budget.charged == Fraction(1, 2)


def test_gaussian_noise_is_never_paid_in_epsilon() -> None:
    budget = reservation(Measure.PURE, "100")
    with pytest.raises(BudgetError, match="no pure epsilon") as refusal:
        budget.charge(GaussianEvent(query="q", cells=4, bound=BOUND, sigma_squared=Fraction(100)))
    assert "Laplace" in refusal.value.advice
    assert budget.charged == 0


def test_a_closed_reservation_takes_no_charge() -> None:
    budget = reservation(Measure.PURE, "1")
    budget.close()
    with pytest.raises(BudgetError, match="settled"):
        budget.charge(laplace(10))


def test_threads_cannot_charge_past_the_amount() -> None:
    budget = reservation(Measure.PURE, "1")

    def attempt(_: int) -> bool:
        try:
            budget.charge(laplace(100))
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(400))) == 100
    assert budget.charged == 1


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_reservation_cannot_be_copied_and_spent_twice(
    duplicate: Callable[[Reservation], object],
) -> None:
    with pytest.raises(PrivacyError, match="spent twice"):
        duplicate(reservation(Measure.PURE, "1"))


def test_a_forked_process_cannot_charge_what_its_parent_reserved() -> None:
    output_of(
        """
import os
from fractions import Fraction
from hushway.errors import PrivacyError
from hushway.privacy.bound import Bound
from hushway.privacy.events import LaplaceEvent
from hushway.privacy.ledger import AccountKey, Reservation
from hushway.privacy.loss import Measure
from hushway.privacy.bound import Unit

key = AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03")
budget = Reservation(
    release="r1", key=key, measure=Measure.PURE, amount=Fraction(1), entry_hash="sha256:0"
)
bound = Bound(cells=1, each=1, total=1)
event = LaplaceEvent(query="q", cells=4, bound=bound, scale=Fraction(1))
# As if another thread were charging at the moment of the fork.
budget._turn.acquire()
child = os.fork()
if not child:
    try:
        budget.charge(event)
    except PrivacyError as refusal:
        os._exit(7 if "another process" in str(refusal) and budget.charged == 0 else 1)
    os._exit(0)
budget._turn.release()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
budget.charge(event)
assert budget.charged == 1
"""
    )
