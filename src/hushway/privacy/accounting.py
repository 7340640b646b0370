"""From exact losses to (epsilon, delta), and back: the only place where a conversion happens.

Two valid ways, and the smaller answer may be reported: the formula of zero-concentrated privacy,
which also holds when later questions depend on earlier answers; and numerical composition of
privacy-loss distributions (PLD), for a release whose parameters were all fixed ahead.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from hushway.errors import PrivacyError
from hushway.privacy.events import Event, GaussianEvent
from hushway.privacy.loss import Measure, PureLoss, ZCDPLoss, amount_in, cost_on, total

# Far above the rounding of a dozen floating-point operations, far below anything a reader would
# notice.
_ROUND_UP = 1 + 1e-9
_RHO_DIGITS = 12
# Beyond these the tables of privacy losses have millions of entries, or exp(epsilon) no float.
_LARGEST_PLD_SIGMA = 10**4
_LARGEST_PLD_SHIFT = 10
_LARGEST_PLD_EPSILON = 100
# dp-accounting cuts the discrete Gaussian off where 1e-30 of it is left.
_SMALLEST_PLD_DELTA = Fraction(1, 10**20)
# Where dp-accounting cuts tables off, and how fine they are.
_PLD_DEVIATIONS, _PLD_STEP = 12, 1e-4
# An entry of a Gaussian's table takes as long as several in a composition; so does a composition
# of nothing.
_PLD_ENTRY_COST, _PLD_OVERHEAD = 8, 5_000
# Some ten seconds.
_MOST_PLD_WORK = 3e7


@dataclass(frozen=True, kw_only=True)
class EpsilonDelta:
    """An (epsilon, delta) statement and the way it was derived."""

    epsilon: float
    delta: Fraction
    method: str


# A delta is the chance that epsilon bounds nothing. A mechanism that publishes everything about one
# person in a thousand satisfies a delta of 1/1000, whatever its epsilon: so a delta must be below
# one over the number of people, and is usually far below. A larger one must be chosen explicitly.
USUAL_DELTA = Fraction(1, 100_000)
LARGE_DELTA = "LARGE DELTA"


def usual_delta(people: int | None) -> Fraction:
    """Returns the largest delta that needs no explicit choice.

    Args:
        people: How many people the data may be about, as far as that is public and stated.
    """
    return USUAL_DELTA if people is None else min(USUAL_DELTA, Fraction(1, people))


def is_large(delta: Fraction, people: int | None) -> bool:
    """Whether a delta must be chosen explicitly, and be shown loudly."""
    return delta > usual_delta(people)


def epsilon_of_rho(rho: Fraction, delta: Fraction) -> float:
    """Returns an epsilon such that rho-zCDP implies (epsilon, delta)-DP.

    Every order alpha > 1 gives a valid epsilon (Canonne, Kamath and Steinke 2020, proposition 12);
    the best one is searched, so an imperfect search only costs tightness.
    """
    _check_delta(delta)
    if rho == 0:
        return 0.0
    log_delta = math.log(delta.numerator) - math.log(delta.denominator)
    spread = float(rho)

    def epsilon(log_order: float) -> float:
        # The proposition's formula, arranged so that nothing cancels for orders near 1 or infinity.
        above_one = math.exp(log_order)
        slope = (math.log1p(above_one) + log_delta) / above_one
        return (1 + above_one) * spread - math.log1p(1 / above_one) - slope

    return max(0.0, _least(epsilon, -20.0, 40.0)) * _ROUND_UP


@lru_cache(typed=True)
def rho_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Returns the largest rho of 12 digits for which rho-zCDP implies (epsilon, delta)-DP."""
    PureLoss(epsilon)
    low, high = 0.0, 1.0
    while epsilon_of_rho(Fraction(high), delta) <= epsilon:
        high *= 2
    # Until no float lies between them.
    while low < (middle := (low + high) / 2) < high:
        if epsilon_of_rho(Fraction(middle), delta) <= epsilon:
            low = middle
        else:
            high = middle
    last_digit = Fraction(10) ** (math.floor(math.log10(low)) + 1 - _RHO_DIGITS)
    return math.floor(Fraction(low) / last_digit) * last_digit


def epsilon_by_pld(events: Sequence[Event], delta: Fraction) -> float | None:
    """Returns an epsilon from composed privacy-loss distributions, or None where that is not valid.

    A pure event counts as the worst mechanism of its epsilon, whatever its noise (Kairouz, Oh and
    Viswanath 2015). Gaussian noise counts as itself only if a unit touches a single cell: for
    vectors the one-dimensional discrete law need not be the worst case, and the zCDP formula
    answers instead. It also answers where the numerical composition would need a very long table,
    take very long or overflow, and has no better bound to offer. Equal events are composed with
    themselves, all at once.
    """
    _check_delta(delta)
    if delta < _SMALLEST_PLD_DELTA or not all(_suits_pld(event) for event in events):
        return None
    kinds = Counter(map(_pld_kind, events))
    if _pld_work(kinds) > _MOST_PLD_WORK:
        return None
    # dp-accounting takes seconds to import, and most commands never convert.
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    composed = pld.identity()
    for kind, times in kinds.items():
        if kind.sigma_squared is not None:
            sigma = math.sqrt(kind.sigma_squared)
            part = pld.from_discrete_gaussian_mechanism(sigma, sensitivity=kind.shift)
        else:
            epsilon = float(kind.epsilon)
            part = pld.from_privacy_parameters(common.DifferentialPrivacyParameters(epsilon, 0.0))
        composed = composed.compose(part if times == 1 else part.self_compose(times))
    return float(composed.get_epsilon_for_delta(float(delta))) * _ROUND_UP


class _PldKind(NamedTuple):
    """What the distribution of an event's privacy loss depends on.

    Attributes:
        shift: How far one unit moves the cell that it touches, if the noise is Gaussian.
    """

    sigma_squared: Fraction | None
    shift: int
    epsilon: Fraction


def _pld_kind(event: Event) -> _PldKind:
    if isinstance(event, GaussianEvent):
        return _PldKind(event.sigma_squared, event.bound.l1, Fraction(0))
    return _PldKind(None, 0, amount_in(event.loss, Measure.PURE))


def _pld_work(kinds: Mapping[_PldKind, int]) -> float:
    """Returns about how many entries are computed when distributions are composed one by one.

    The losses of a composition lie within some deviations around their mean, which are the root of
    twice the rho and the rho itself; tables that are longer are cut there. The table of a Gaussian
    takes some time for every whole number within as many deviations of its noise.
    """
    work, spread, rho = 0.0, 0.0, 0.0
    for kind, times in kinds.items():
        sigma = math.sqrt(kind.sigma_squared or 0)
        deviation = kind.shift / sigma if sigma else float(kind.epsilon)
        rho += times * deviation**2 / 2
        spread += 2 * times * (_PLD_DEVIATIONS * deviation if sigma else deviation)
        length = min(spread, 2 * rho + 2 * _PLD_DEVIATIONS * math.sqrt(2 * rho))
        noise = 2 * _PLD_DEVIATIONS * sigma * _PLD_ENTRY_COST
        work += length / _PLD_STEP + noise + _PLD_OVERHEAD
    return work


def _suits_pld(event: Event) -> bool:
    if isinstance(event, GaussianEvent):
        shift_squared = event.bound.l1**2 / event.sigma_squared
        return (
            event.bound.cells == 1
            and event.sigma_squared <= _LARGEST_PLD_SIGMA**2
            and shift_squared <= _LARGEST_PLD_SHIFT**2
        )
    if not isinstance(event.loss, PureLoss):
        return False
    return amount_in(event.loss, Measure.PURE) <= _LARGEST_PLD_EPSILON


def epsilon_by_zcdp(events: Sequence[Event], delta: Fraction) -> float:
    """Returns an epsilon from the sum of the events' rhos."""
    return epsilon_of_rho(cost_on((event.loss for event in events), Measure.ZCDP), delta)


def best_epsilon(events: Sequence[Event], delta: Fraction) -> EpsilonDelta:
    """Returns the smallest valid epsilon for events whose parameters were fixed ahead."""
    candidates = [EpsilonDelta(epsilon=epsilon_by_zcdp(events, delta), delta=delta, method="zcdp")]
    by_pld = epsilon_by_pld(events, delta)
    if by_pld is not None:
        candidates.append(EpsilonDelta(epsilon=by_pld, delta=delta, method="pld"))
    whole = total(e.loss for e in events)
    if isinstance(whole, PureLoss):
        candidates.append(EpsilonDelta(epsilon=_above(whole.epsilon), delta=delta, method="pure"))
    return min(candidates, key=lambda found: found.epsilon)


def budget_limit_for(epsilon: Fraction, delta: Fraction) -> ZCDPLoss:
    """Returns what an account may spend so that all of it is (epsilon, delta)-DP."""
    return ZCDPLoss(rho_for(epsilon, delta))


def _above(number: Fraction) -> float:
    """Returns the first float that is not below a fraction."""
    nearest = float(number)
    return nearest if nearest >= number else math.nextafter(nearest, math.inf)


def _least(function: Callable[[float], float], low: float, high: float) -> float:
    """Golden-section search; the functions here fall, then rise."""
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(120):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return min(at_left, at_right)


def _check_delta(delta: Fraction) -> None:
    if not isinstance(delta, Fraction) or not 0 < delta < 1:
        raise PrivacyError(
            "delta must be an exact fraction strictly between 0 and 1.",
            advice="Choose it far below one over the number of people, such as 1e-6.",
        )
