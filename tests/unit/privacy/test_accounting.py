import math
from fractions import Fraction

import pytest
from dp_accounting.pld.privacy_loss_distribution import (
    PrivacyLossDistribution,
    from_discrete_gaussian_mechanism,
    identity,
)
from mpmath import mp

from hushway.errors import PrivacyError
from hushway.privacy.accounting import (
    best_epsilon,
    budget_limit_for,
    epsilon_by_pld,
    epsilon_by_zcdp,
    epsilon_of_rho,
    rho_for,
)
from hushway.privacy.bound import Bound
from hushway.privacy.events import Event, GaussianEvent, LaplaceEvent, SelectEvent
from hushway.privacy.loss import ZCDPLoss

ONE = Bound(cells=1, each=1, total=1)
DELTA = Fraction(1, 10**6)


def gaussian(sigma: int, bound: Bound = ONE) -> GaussianEvent:
    return GaussianEvent(query="q", cells=1, bound=bound, sigma_squared=Fraction(sigma**2))


def laplace(epsilon: Fraction) -> LaplaceEvent:
    return LaplaceEvent(query="q", cells=1, bound=ONE, scale=1 / epsilon)


@pytest.mark.parametrize(
    ("epsilon", "delta", "rho", "sigma"),
    [("0.3", "2e-6", 0.00273, 13.5), ("1", "1e-6", 0.02436, 4.53)],
)
def test_rho_for_the_published_check_values(
    epsilon: str, delta: str, rho: float, sigma: float
) -> None:
    found = rho_for(Fraction(epsilon), Fraction(delta))
    assert float(found) == pytest.approx(rho, abs=5e-6)
    assert math.sqrt(1 / (2 * found)) == pytest.approx(sigma, abs=0.05)


def test_five_gaussians_of_sigma_ten_cost_the_published_epsilons() -> None:
    events = [gaussian(10)] * 5
    assert epsilon_by_pld(events, DELTA) == pytest.approx(0.9405, abs=2e-4)
    assert epsilon_by_zcdp(events, DELTA) == pytest.approx(1.0141, abs=2e-4)
    best = best_epsilon(events, DELTA)
    assert (best.method, best.delta) == ("pld", DELTA)
    assert best.epsilon == epsilon_by_pld(events, DELTA)


def least_log_delta(rho: str, epsilon: float) -> float:
    """The formula of Canonne, Kamath and Steinke (2020, proposition 12) over a grid of orders."""

    def log_delta(log_order: float) -> float:
        above = mp.exp(log_order)
        order = 1 + above
        moment = above * (order * mp.mpf(rho) - mp.mpf(epsilon))
        return moment + order * mp.log(1 - 1 / order) - mp.log(above)

    with mp.workprec(200):
        coarse = min((mp.mpf(i) / 20 for i in range(-240, 500)), key=log_delta)
        return min(log_delta(coarse + mp.mpf(i) / 2000) for i in range(-100, 101))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("delta", ["1e-12", "1e-6", "0.01", "0.5"])
@pytest.mark.parametrize("rho", ["1e-9", "1e-4", "0.02", "1", "50", "1e6"])
def test_the_epsilon_of_a_rho_gives_its_delta_and_no_smaller_epsilon_does(
    rho: str, delta: str
) -> None:
    epsilon = epsilon_of_rho(Fraction(rho), Fraction(delta))
    claimed = mp.log(mp.mpf(delta))
    assert least_log_delta(rho, epsilon) <= claimed + 1e-4
    if epsilon > 0:
        assert least_log_delta(rho, 0.99 * epsilon) > claimed


@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", "1", "20", "1e5", "1e13"])
@pytest.mark.parametrize("delta", ["1e-30", "1e-9", "0.1"])
def test_rho_and_epsilon_are_inverse_and_never_too_generous(epsilon: str, delta: str) -> None:
    wanted, small = Fraction(epsilon), Fraction(delta)
    rho = rho_for(wanted, small)
    assert isinstance(rho, Fraction)
    assert epsilon_of_rho(rho, small) <= wanted
    assert epsilon_of_rho(rho * Fraction(1001, 1000), small) > wanted
    assert budget_limit_for(wanted, small) == ZCDPLoss(rho)


def test_a_delta_smaller_than_any_double_is_no_obstacle() -> None:
    tiny, small = (epsilon_of_rho(Fraction(1, 50), Fraction(1, 10**n)) for n in (400, 300))
    assert tiny > small > 0


def test_no_loss_costs_no_epsilon() -> None:
    assert epsilon_of_rho(Fraction(0), DELTA) == 0


@pytest.mark.parametrize(
    "delta", [Fraction(0), Fraction(1), Fraction(-1, 10), Fraction(2), 1e-6, float("nan")]
)
def test_a_delta_that_is_not_a_fraction_between_0_and_1_is_refused(delta: Fraction) -> None:
    for convert in (
        lambda: epsilon_of_rho(Fraction(1), delta),
        lambda: rho_for(Fraction(1), delta),
        lambda: epsilon_by_pld([gaussian(10)], delta),
        lambda: best_epsilon([gaussian(10)], delta),
        lambda: budget_limit_for(Fraction(1), delta),
    ):
        with pytest.raises(PrivacyError, match="delta"):
            convert()


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1), 1.0, float("inf")])
def test_an_epsilon_that_is_not_a_positive_fraction_is_refused(epsilon: Fraction) -> None:
    with pytest.raises(PrivacyError, match="epsilon"):
        rho_for(epsilon, DELTA)


def test_an_epsilon_costs_half_its_square_in_the_sum_of_rhos() -> None:
    events = [laplace(Fraction(1, 2)), gaussian(10)]
    rho = Fraction(1, 8) + Fraction(1, 200)
    assert epsilon_by_zcdp(events, DELTA) == epsilon_of_rho(rho, DELTA)


@pytest.mark.parametrize(
    "bound", [Bound(cells=2, each=1, total=2), Bound(cells=5, each=1, total=1)], ids=str
)
def test_privacy_loss_distributions_are_not_used_for_vectors_of_gaussian_noise(
    bound: Bound,
) -> None:
    events: list[Event] = [gaussian(10), gaussian(10, bound)]
    assert epsilon_by_pld(events, DELTA) is None
    assert best_epsilon(events, DELTA).method == "zcdp"


def test_a_single_cell_moved_by_several_records_is_accounted_as_such() -> None:
    three = Bound(cells=1, each=3, total=3)
    found = epsilon_by_pld([gaussian(30, three)], DELTA)
    assert found == pytest.approx(epsilon_by_pld([gaussian(10)], DELTA), rel=0.02)
    capped = Bound(cells=1, each=9, total=3)
    assert epsilon_by_pld([gaussian(30, capped)], DELTA) == found


def test_one_pure_event_costs_its_own_epsilon() -> None:
    found = best_epsilon([laplace(Fraction(1))], Fraction(1, 10**30))
    assert found.epsilon == 1.0
    assert found.method in {"pure", "pld"}


def test_many_small_pure_events_cost_less_together_than_their_sum() -> None:
    found = best_epsilon([laplace(Fraction(1, 100))] * 100, DELTA)
    assert found.epsilon < 0.7
    assert found.method in {"pld", "zcdp"}


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(2, 3), Fraction(1, 10), Fraction(7)])
def test_a_pure_claim_is_never_rounded_down(epsilon: Fraction) -> None:
    found = best_epsilon([laplace(epsilon)], Fraction(1, 10**60))
    assert found.method == "pure"
    assert Fraction(found.epsilon) >= epsilon
    assert found.epsilon == pytest.approx(float(epsilon), rel=1e-15)


@pytest.mark.parametrize(
    "event",
    [laplace(Fraction(1000)), gaussian(10**7), gaussian(1, Bound(cells=1, each=50, total=50))],
    ids=["epsilon", "sigma", "shift"],
)
def test_losses_too_large_for_the_numerical_composition_are_left_to_the_formulas(
    event: Event,
) -> None:
    assert epsilon_by_pld([event], DELTA) is None
    assert best_epsilon([event], DELTA).epsilon >= 0


def test_a_delta_below_what_the_numerical_composition_cuts_off_is_left_to_the_formulas() -> None:
    tiny = Fraction(1, 10**25)
    assert epsilon_by_pld([gaussian(10)], tiny) is None
    assert best_epsilon([gaussian(10)], tiny).method == "zcdp"


def test_a_choice_is_accounted_as_a_pure_event() -> None:
    choice = SelectEvent(query="q", cells=9, bound=ONE, rate=Fraction(1, 4))
    assert epsilon_by_pld([choice], DELTA) == epsilon_by_pld([laplace(Fraction(1, 2))], DELTA)


def test_nothing_measured_has_no_epsilon_to_report() -> None:
    with pytest.raises(PrivacyError, match="No loss"):
        best_epsilon([], DELTA)


def test_equal_events_are_composed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    composed: list[object] = []
    compose = PrivacyLossDistribution.compose

    def counted(self: PrivacyLossDistribution, other: PrivacyLossDistribution) -> object:
        composed.append(other)
        return compose(self, other)

    monkeypatch.setattr(PrivacyLossDistribution, "compose", counted)
    together = epsilon_by_pld([gaussian(100)] * 300 + [laplace(Fraction(1, 100))] * 200, DELTA)
    assert len(composed) == 2
    one_by_one = identity()
    for _ in range(300):
        one_by_one = one_by_one.compose(from_discrete_gaussian_mechanism(100, sensitivity=1))
    alone = epsilon_by_pld([gaussian(100)] * 300, DELTA)
    assert alone is not None
    assert together is not None
    assert alone == pytest.approx(one_by_one.get_epsilon_for_delta(1e-6), rel=1e-4)
    assert together > alone


@pytest.mark.parametrize(
    "events",
    [
        [gaussian(10_000 - i) for i in range(64)],
        [gaussian(10 + i, Bound(cells=1, each=100, total=100)) for i in range(50)],
        [laplace(Fraction(1, 1000 + i)) for i in range(13_000)],
    ],
    ids=["wide noise", "wide losses", "many kinds"],
)
def test_what_takes_long_to_compose_is_left_to_the_formulas(
    events: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PrivacyLossDistribution, "compose", pytest.fail)
    assert epsilon_by_pld(events, DELTA) is None
    assert best_epsilon(events, DELTA).method != "pld"
