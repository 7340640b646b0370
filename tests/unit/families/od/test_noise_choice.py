from fractions import Fraction

import pytest

from hushway.families.od.mechanism.setting import compare_noise
from hushway.privacy.accounting import epsilon_of_rho
from hushway.privacy.bound import Bound

DELTA = Fraction(1, 10**6)


def test_a_few_features_and_all_trips_in_one_cell_want_laplace_noise() -> None:
    bound = Bound(cells=4, each=4, total=4)
    choice = compare_noise(
        epsilon=Fraction(1), delta=DELTA, shares=lambda _: [Fraction(1, 5)] * 5, bounds=[bound] * 5
    )
    assert not choice.gaussian_is_better
    assert choice.budget == choice.laplace_budget
    assert choice.reason.startswith("Laplace noise is")


def test_many_features_want_gaussian_noise() -> None:
    bound = Bound(cells=4, each=4, total=4)
    choice = compare_noise(
        epsilon=Fraction(1),
        delta=DELTA,
        shares=lambda _: [Fraction(1, 40)] * 40,
        bounds=[bound] * 40,
    )
    assert choice.gaussian_is_better
    assert choice.budget == choice.gaussian_budget
    assert choice.reason.startswith("Gaussian noise is")


def test_both_keep_the_promise_that_was_asked_for() -> None:
    choice = compare_noise(
        epsilon=Fraction(1),
        delta=DELTA,
        shares=lambda _: [Fraction(1)],
        bounds=[Bound(cells=1, each=1, total=1)],
    )
    assert choice.laplace_budget.epsilon == 1
    assert epsilon_of_rho(choice.gaussian_budget.rho, DELTA) == pytest.approx(1, rel=1e-6)
    assert epsilon_of_rho(choice.gaussian_budget.rho, DELTA) <= 1 + 1e-8
