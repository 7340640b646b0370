"""How much noise a spend buys: the law and the event that go with a loss and a bound."""

from fractions import Fraction
from functools import lru_cache

from hushway.errors import PrivacyError
from hushway.privacy.bound import Bound
from hushway.privacy.events import GaussianEvent, LaplaceEvent, SelectEvent
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.noise.law import NoiseLaw


@lru_cache(maxsize=256)
def noise_for(spend: Loss, bound: Bound) -> NoiseLaw:
    """Returns the noise that makes counts of this bound cost exactly `spend`.

    Privacy:
        An epsilon buys discrete Laplace noise of scale l1/epsilon; a rho buys discrete Gaussian
        noise of sigma^2 = l2_squared/(2 rho).
    """
    if isinstance(spend, PureLoss):
        return DiscreteLaplace(bound.l1 / spend.epsilon)
    return DiscreteGaussian(bound.l2_squared / (2 * spend.rho))


def counting_event(
    query: str, cells: int, spend: Loss, bound: Bound
) -> LaplaceEvent | GaussianEvent:
    """Describes the measurement that `noise_for` makes."""
    if isinstance(spend, PureLoss):
        scale = bound.l1 / spend.epsilon
        return LaplaceEvent(query=query, cells=cells, bound=bound, scale=scale)
    sigma_squared = bound.l2_squared / (2 * spend.rho)
    return GaussianEvent(query=query, cells=cells, bound=bound, sigma_squared=sigma_squared)


def selecting_event(query: str, cells: int, spend: Loss, bound: Bound) -> SelectEvent:
    """Describes the choice that costs exactly `spend`: rate = epsilon/(2 each).

    Raises:
        PrivacyError: The spend is a rho; the rate would be irrational.
    """
    if not isinstance(spend, PureLoss):
        raise PrivacyError(
            "The exponential mechanism is paid in epsilon.", advice="Spend a PureLoss on it."
        )
    rate = Fraction(spend.epsilon, 2 * bound.each)
    return SelectEvent(query=query, cells=cells, bound=bound, rate=rate)
