"""The discrete Gaussian law P(z) proportional to exp(-z^2 / (2 sigma^2)).

Integer counts of L2 sensitivity D plus this noise are (D^2 / (2 sigma^2))-zCDP (Canonne, Kamath and
Steinke 2020). Up to sigma 1024 the law is a table. Above it, a discrete Laplace number y of scale
sigma^2/c with c the first whole number above sigma is kept with probability exp(-(|y| - c)^2 / (2
sigma^2)), their algorithm 3 with c made whole so that the exponent is a whole number of steps 1/(2
sigma^2) and the coin can be tossed digit by digit.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import islice

import numpy as np

from hushway.arrays import BoolArray, IntArray, WordArray
from hushway.errors import PrivacyError
from hushway.privacy.noise.inversion import (
    WORD_BITS,
    Enclosure,
    InversionTable,
    Uniform,
    draw_until_kept,
    exp_enclosure,
    share,
)
from hushway.privacy.noise.laplace import (
    LARGEST_SCALE,
    SMALLEST_SCALE,
    DiscreteLaplace,
    floor_of,
    geometric,
    signed,
)
from hushway.privacy.randomness import BitSource

# Coins with probability exp(-rate * steps) for many different whole numbers of steps at once.
#
# Written in base 256, exp(-rate * steps) is a product over the digits, so the coin is the AND of
# one coin a digit, and all coins that can ever be needed come from a table of 8 * 256 certified
# thresholds.

_BASE_BITS = 8
_BASE = 1 << _BASE_BITS
_DIGITS = 8
# Far more than the 63 of a threshold: 256 products rounded outwards still have one floor.
_PRODUCT_BITS = 192


class StepCoin:
    """Exact coins that come up true with probability exp(-rate * steps)."""

    def __init__(self, rate: Fraction) -> None:
        self._rate = rate
        self._thresholds: WordArray = np.array(
            [self._floors(place) for place in range(_DIGITS)], dtype=np.uint64
        )

    def toss(self, source: BitSource, steps: IntArray) -> BoolArray:
        """Returns one coin for each number of steps (0 <= steps < 2^63)."""
        alive = np.arange(len(steps))
        for place in reversed(range(_DIGITS)):
            digits = steps[alive] >> (place * _BASE_BITS) & (_BASE - 1)
            tossed = digits > 0
            if tossed.any():
                alive = alive[self._toss_digit(source, place, digits)]
        coins = np.zeros(len(steps), dtype=np.bool_)
        coins[alive] = True
        return coins

    def _toss_digit(self, source: BitSource, place: int, digits: IntArray) -> BoolArray:
        words = source.words(len(digits)) >> np.uint64(1)
        limits = self._thresholds[place][digits]
        coins: BoolArray = words < limits
        for i in np.flatnonzero(words == limits):
            uniform = Uniform(int(words[i]), WORD_BITS, source)
            coins[i] = uniform.below(partial(self._enclose, place, int(digits[i])))
        return coins

    def _enclose(self, place: int, digit: int, bits: int) -> Enclosure:
        return exp_enclosure(self._rate * (digit << place * _BASE_BITS), bits)

    def _floors(self, place: int) -> list[int]:
        """Returns the thresholds of all digits of a place.

        Each is the one before times that of digit 1, rounded outwards: an exponential each would
        take ten times as long. Where the two ends have not the same floor it is computed anew.
        """
        floors = []
        step_low, step_high = self._enclose(place, 1, _PRODUCT_BITS)
        low = high = 1 << _PRODUCT_BITS
        for digit in range(_BASE):
            floor = low >> (_PRODUCT_BITS - WORD_BITS)
            if floor != high >> (_PRODUCT_BITS - WORD_BITS):
                floor = floor_of(partial(self._enclose, place, digit))
            floors.append(floor)
            low = low * step_low >> _PRODUCT_BITS
            high = (high * step_high >> _PRODUCT_BITS) + 1
        return floors


_TABLE_SIGMA = 1024
# Conditional draws need sums over the weights, term by term.
_LARGEST_SPARSE_SIGMA = 1 << 17
_WINDOW_TABLE = 1 << 16


@dataclass(frozen=True)
class DiscreteGaussian:
    """Exact discrete Gaussian noise with a rational sigma^2."""

    sigma_squared: Fraction

    def __post_init__(self) -> None:
        exact = isinstance(self.sigma_squared, Fraction)
        if not exact or not SMALLEST_SCALE**2 <= self.sigma_squared <= LARGEST_SCALE**2:
            raise PrivacyError(
                "The Gaussian sigma^2 is not a fraction between 0.01^2 and 1e7^2.",
                advice="Choose a rho for which sqrt(sensitivity^2 / (2 rho)) lies within.",
            )

    @property
    def variance(self) -> Fraction:
        """sigma^2, which the variance never exceeds (Canonne et al. 2020, corollary 9)."""
        return self.sigma_squared

    @property
    def _sigma(self) -> int:
        return math.isqrt(int(self.sigma_squared))

    def draw(self, source: BitSource, count: int) -> IntArray:
        """Returns independent noise."""
        if self._sigma < _TABLE_SIGMA:
            return signed(_magnitudes(self.sigma_squared), source, count)
        return self._from_laplace(source, count)

    def _from_laplace(self, source: BitSource, count: int) -> IntArray:
        centre = self._sigma + 1
        proposal = DiscreteLaplace(self.sigma_squared / centre)
        coin = _coin(self.sigma_squared)

        def propose(missing: int) -> tuple[IntArray, BoolArray]:
            drawn = proposal.draw(source, missing)
            return drawn, coin.toss(source, (np.abs(drawn) - centre) ** 2)

        return draw_until_kept(count, propose)

    def mass_from(self, threshold: int, bits: int) -> Enclosure:
        """Encloses 2^bits * P(Z >= threshold)."""
        self._check_sparse()
        one = 1 << bits
        if threshold <= 0:
            low, high = self.mass_from(1 - threshold, bits)
            return one - high, one - low
        wide = bits + 64
        return share(_tail(self.sigma_squared, threshold, wide), self._whole(wide), bits)

    def _whole(self, bits: int) -> Enclosure:
        low, high = _tail(self.sigma_squared, 1, bits)
        return (1 << bits) + 2 * low, (1 << bits) + 2 * high

    def draw_between(self, source: BitSource, count: int, low: int, high: int | None) -> IntArray:
        """Returns independent noise, given low <= Z < high (no upper end if None)."""
        self._check_sparse()
        if high is not None and high <= 0:
            return -self.draw_between(source, count, 1 - high, 1 - low)
        if high is not None and high - low <= _WINDOW_TABLE:
            return low + _window(self.sigma_squared, low, high).draw(source, count)
        if low > self._sigma:
            return self._excess(source, count, low, high)
        return self._by_rejection(source, count, low, high)

    def _excess(self, source: BitSource, count: int, low: int, high: int | None) -> IntArray:
        """Draws a geometric excess g and a coin: the weight is exp(-low g/s^2) * exp(-g^2/2s^2)."""
        coin = _coin(self.sigma_squared)

        def propose(missing: int) -> tuple[IntArray, BoolArray]:
            excess = geometric(source, missing, self.sigma_squared / low)
            kept = coin.toss(source, excess**2)
            return low + excess, kept if high is None else kept & (excess < high - low)

        return draw_until_kept(count, propose)

    def _by_rejection(self, source: BitSource, count: int, low: int, high: int | None) -> IntArray:
        def propose(missing: int) -> tuple[IntArray, BoolArray]:
            drawn = self.draw(source, missing)
            return drawn, (drawn >= low) if high is None else (drawn >= low) & (drawn < high)

        return draw_until_kept(count, propose)

    def _check_sparse(self) -> None:
        if self._sigma > _LARGEST_SPARSE_SIGMA:
            raise PrivacyError(
                f"Sparse Gaussian noise is offered up to sigma {_LARGEST_SPARSE_SIGMA}.",
                advice="Spend more, or measure fewer cells densely.",
            )


def _weights(
    sigma_squared: Fraction, start: int, bits: int, *, relative_to: int = 0
) -> Iterator[Enclosure]:
    """Encloses 2^bits * exp((r^2 - k^2) / (2 sigma^2)) for k = start, start+1, ... from r on.

    w(k+1) = w(k) * s(k) and s(k+1) = s(k) * exp(-1/sigma^2): two products a term, rounded outwards.
    """
    low, high = exp_enclosure((start**2 - relative_to**2) / (2 * sigma_squared), bits)
    step_low, step_high = exp_enclosure((2 * start + 1) / (2 * sigma_squared), bits)
    shrink_low, shrink_high = exp_enclosure(1 / sigma_squared, bits)
    while True:
        yield low, high
        low, high = low * step_low >> bits, (high * step_high >> bits) + 1
        step_low = step_low * shrink_low >> bits
        step_high = (step_high * shrink_high >> bits) + 1


@lru_cache(maxsize=256)
def _tail(sigma_squared: Fraction, start: int, bits: int) -> Enclosure:
    """Encloses 2^bits * the sum of exp(-k^2 / (2 sigma^2)) over k >= start >= 1.

    Each weight is at most exp(-start/sigma^2) times the one before, so the terms left out are at
    most a geometric series; they are left out once they no longer show in `bits` bits.
    """
    sum_low = sum_high = 0
    _, ratio_high = exp_enclosure(start / sigma_squared, bits)
    for low, high in _weights(sigma_squared, start, bits):
        sum_low, sum_high = sum_low + low, sum_high + high
        if low == 0:
            rest = -(-(high << bits) // ((1 << bits) - ratio_high))
            return sum_low, sum_high + rest
    raise AssertionError  # pragma: no cover  weights never end


@dataclass(frozen=True)
class _Magnitude:
    """The law of |Z|."""

    sigma_squared: Fraction

    def cumulative(self, k: int, bits: int) -> Enclosure:
        wide = bits + 64
        tail = _tail(self.sigma_squared, k + 1, wide)
        low, high = share((2 * tail[0], 2 * tail[1]), self._whole(wide), bits)
        return (1 << bits) - high, (1 << bits) - low

    def cumulatives(self, bits: int) -> Iterator[Enclosure]:
        wide = bits + 64
        whole = self._whole(wide)
        sum_low = sum_high = 0
        for k, (low, high) in enumerate(_weights(self.sigma_squared, 0, wide)):
            times = 2 if k else 1
            sum_low, sum_high = sum_low + times * low, sum_high + times * high
            yield share((sum_low, sum_high), whole, bits)

    def _whole(self, bits: int) -> Enclosure:
        low, high = _tail(self.sigma_squared, 1, bits)
        return (1 << bits) + 2 * low, (1 << bits) + 2 * high


@dataclass(frozen=True)
class _Window:
    """The law of Z - low, given low <= Z < high, for high > 0."""

    sigma_squared: Fraction
    low: int
    high: int

    def cumulative(self, k: int, bits: int) -> Enclosure:
        for position, enclosure in enumerate(self.cumulatives(bits)):
            if position == k:
                return enclosure
        return 1 << bits, 1 << bits

    def cumulatives(self, bits: int) -> Iterator[Enclosure]:
        wide = bits + 64
        weights = list(self._in_order(wide))
        whole = sum(low for low, _ in weights), sum(high for _, high in weights)
        sum_low = sum_high = 0
        for low, high in weights[:-1]:
            sum_low, sum_high = sum_low + low, sum_high + high
            yield share((sum_low, sum_high), whole, bits)
        yield 1 << bits, 1 << bits

    def _in_order(self, bits: int) -> Iterator[Enclosure]:
        """Encloses the weights, relative to the largest of them: the one nearest 0."""
        nearest = max(0, self.low)
        if self.low < 0:
            mirrored = islice(_weights(self.sigma_squared, 1, bits), -self.low)
            yield from reversed(list(mirrored))
        upward = _weights(self.sigma_squared, nearest, bits, relative_to=nearest)
        yield from islice(upward, self.high - nearest)


@lru_cache(maxsize=32)
def _magnitudes(sigma_squared: Fraction) -> InversionTable:
    return InversionTable(_Magnitude(sigma_squared))


@lru_cache(maxsize=32)
def _window(sigma_squared: Fraction, low: int, high: int) -> InversionTable:
    return InversionTable(_Window(sigma_squared, low, high))


@lru_cache(maxsize=32)
def _coin(sigma_squared: Fraction) -> StepCoin:
    return StepCoin(1 / (2 * sigma_squared))
