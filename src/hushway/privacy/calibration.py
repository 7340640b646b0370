"""How much noise a spend buys: the law and the event of a loss and a bound; what noise shows."""

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from hushway.errors import PrivacyError
from hushway.privacy.bound import Bound
from hushway.privacy.events import (
    CutEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    SelectEvent,
    spread_of_cuts,
)
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.privacy.noise.laplace import DiscreteLaplace

# Rates are rounded down to this many digits, since a square root is seldom a fraction.
_RATE_DIGITS = 15


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


def refuse_noise_that_cannot_be_drawn(events: Iterable[Event]) -> None:
    """Refuses noise too small or too large to be drawn exactly, before anything is charged."""
    for event in events:
        if isinstance(event, LaplaceEvent):
            DiscreteLaplace(event.scale)
        elif isinstance(event, GaussianEvent):
            DiscreteGaussian(event.sigma_squared)


def selecting_event(query: str, cells: int, spend: Loss, bound: Bound) -> SelectEvent:
    """Describes the choice that costs exactly `spend`: rate = epsilon/(2 each)."""
    if not isinstance(spend, PureLoss):
        raise PrivacyError(
            "The exponential mechanism is spent in epsilon.", advice="Spend a PureLoss on it."
        )
    rate = Fraction(spend.epsilon, 2 * bound.each)
    return SelectEvent(query=query, cells=cells, bound=bound, rate=rate)


def cutting_event(query: str, cells: int, spend: Loss, bound: Bound) -> CutEvent:
    """Describes the cuts that cost exactly `spend`: rate = sqrt(2 rho) / spread."""
    rate = _root(2 * spend.rho) if isinstance(spend, ZCDPLoss) else None
    if rate is None:
        raise PrivacyError(
            "Cuts are spent with a rho that belongs to a rational rate.",
            advice="Spend what hushway.privacy.calibration.loss_of_cuts returns.",
        )
    return CutEvent(query=query, cells=cells, bound=bound, rate=rate / spread_of_cuts(bound))


def loss_of_cuts(rho: Fraction) -> ZCDPLoss:
    """Returns a rho just below another one whose rate is a fraction."""
    unit = 10**_RATE_DIGITS
    root = Fraction(math.isqrt(math.floor(2 * rho * unit**2)), unit)
    return ZCDPLoss(root**2 / 2)


def _root(number: Fraction) -> Fraction | None:
    """Returns the square root if it is a fraction."""
    root = Fraction(math.isqrt(number.numerator), math.isqrt(number.denominator))
    return root if root**2 == number else None


# Far above what 256 bits can tell from nothing, where a search for the threshold would not end.
_LEAST_EXPECTED = 1e-70


def expected_above(law: NoiseLaw, size: int, threshold: int) -> float:
    """Returns the expected number of empty cells that reach a threshold, for forecasts."""
    bits = 256
    low, high = law.mass_from(threshold, bits)
    return float(size * Fraction(low + high, 1 << (bits + 1)))


def threshold_for(law: NoiseLaw, size: int, expected: float) -> int:
    """Returns the lowest threshold above 0 that at most `expected` empty cells reach on average."""
    if not expected >= _LEAST_EXPECTED:
        raise PrivacyError(
            f"The expected number of false cells must be at least {_LEAST_EXPECTED:g}.",
            advice="Choose for example 100: so many cells without any trip will appear by chance.",
        )
    low, high = 0, 1
    while expected_above(law, size, high) > expected:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if expected_above(law, size, middle) > expected:
            low = middle
        else:
            high = middle
    return high
