from fractions import Fraction

import pytest

from hushway.errors import PrivacyError
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event, noise_for, selecting_event
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.laplace import DiscreteLaplace

BOUND = Bound(cells=4, each=3, total=8)
SPENDS: list[Loss] = [PureLoss(Fraction(1, 3)), ZCDPLoss(Fraction(2, 7))]


def test_noise_is_of_the_scale_that_the_loss_buys() -> None:
    assert noise_for(PureLoss(Fraction(1, 3)), BOUND) == DiscreteLaplace(Fraction(24))
    assert noise_for(ZCDPLoss(Fraction(1, 4)), BOUND) == DiscreteGaussian(Fraction(44))


@pytest.mark.parametrize("spend", SPENDS, ids=str)
def test_a_count_costs_what_is_spent_and_its_event_describes_the_noise_drawn(spend: Loss) -> None:
    event, law = counting_event("q", 5, spend, BOUND), noise_for(spend, BOUND)
    assert event.loss == spend
    if isinstance(law, DiscreteLaplace):
        assert event.scale == law.scale
    else:
        assert isinstance(law, DiscreteGaussian)
        assert event.sigma_squared == law.sigma_squared


def test_a_choice_costs_exactly_what_is_spent() -> None:
    spend = PureLoss(Fraction(1, 3))
    event = selecting_event("q", 5, spend, BOUND)
    assert event.loss == spend
    assert event.rate == Fraction(1, 18)


def test_a_choice_cannot_be_paid_in_rho() -> None:
    with pytest.raises(PrivacyError, match="spent in epsilon"):
        selecting_event("q", 5, ZCDPLoss(Fraction(1)), BOUND)


def test_a_spend_beyond_the_certified_noise_is_refused() -> None:
    with pytest.raises(PrivacyError, match="scale"):
        noise_for(PureLoss(Fraction(1, 10**8)), BOUND)
    with pytest.raises(PrivacyError, match="sigma"):
        noise_for(ZCDPLoss(Fraction(10**8)), BOUND)
