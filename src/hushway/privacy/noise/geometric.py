"""The geometric law P(G = g) = (1 - a) a^g with a = exp(-1/scale), whole or cut off, at any scale.

In base 1024 the digits of a geometric number are independent: a^(d0 + 1024 d1 + ...) is a product.
Each digit is a geometric number of its own, cut off at 1024 and with a scale 1024 times smaller
than the digit below; so scales up to 1e7 and beyond need a few small tables instead of one with a
billion entries.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.errors import PrivacyError
from hushway.privacy.noise.inversion import (
    WORD_BITS,
    Enclosure,
    InversionTable,
    Probability,
    Uniform,
    exp_enclosure,
)
from hushway.privacy.randomness import BitSource

_BASE = 1024
# A whole geometric number of this scale has a table of about 44 * 32 entries.
_WHOLE_SCALE = 32


@dataclass(frozen=True)
class GeometricLaw:
    """A geometric law, cut off at `limit` values if one is given."""

    scale: Fraction
    limit: int | None = None

    def cumulative(self, k: int, bits: int) -> Enclosure:
        """Encloses 2^bits * P(G <= k) = (1 - a^(k+1)) / (1 - a^limit)."""
        if self.limit is not None and k >= self.limit - 1:
            return 1 << bits, 1 << bits
        # 1 - a loses about log2(scale) leading bits, so both ends are computed with that many more.
        wide = bits + 64 + 2 * int(self.scale).bit_length()
        low, high = exp_enclosure((k + 1) / self.scale, wide)
        part = (1 << wide) - high, (1 << wide) - low
        return _quotient(part, self._mass(wide), bits)

    def cumulatives(self, bits: int) -> Iterator[Enclosure]:
        """Encloses the distribution function for k = 0, 1, 2, ..."""
        wide = bits + 64 + 2 * int(self.scale).bit_length()
        ratio_low, ratio_high = exp_enclosure(1 / self.scale, wide)
        mass = self._mass(wide)
        low = high = one = 1 << wide
        k = 0
        while self.limit is None or k < self.limit - 1:
            low, high = low * ratio_low >> wide, (high * ratio_high >> wide) + 1
            yield _quotient((one - high, one - low), mass, bits)
            k += 1
        yield 1 << bits, 1 << bits

    def _mass(self, bits: int) -> Enclosure:
        """Encloses 2^bits * (1 - a^limit)."""
        if self.limit is None:
            return 1 << bits, 1 << bits
        low, high = exp_enclosure(self.limit / self.scale, bits)
        return (1 << bits) - high, (1 << bits) - low


def _quotient(part: Enclosure, whole: Enclosure, bits: int) -> Enclosure:
    """Encloses 2^bits * part / whole for 0 <= part <= whole."""
    low = (max(part[0], 0) << bits) // whole[1]
    high = -(-(part[1] << bits) // whole[0])
    return low, min(high, 1 << bits)


@lru_cache(maxsize=256)
def _table(scale: Fraction, limit: int | None) -> InversionTable:
    return InversionTable(GeometricLaw(scale, limit))


def geometric(source: BitSource, count: int, scale: Fraction) -> IntArray:
    """Returns independent geometric numbers."""
    values = np.zeros(count, dtype=np.int64)
    place = 1
    while scale > _WHOLE_SCALE:
        values += place * _table(scale, _BASE).draw(source, count)
        scale, place = scale / _BASE, place * _BASE
    values += place * _table(scale, None).draw(source, count)
    return values


def geometric_below(source: BitSource, count: int, scale: Fraction, limit: int) -> IntArray:
    """Returns independent geometric numbers, given that they are below a limit.

    The highest digit is cut off just above the limit; what still lands at or above it is drawn
    again, which happens at most every second time because a geometric law never rises.
    """
    values = np.empty(count, dtype=np.int64)
    missing = np.arange(count)
    while len(missing):
        values[missing] = _digits_below(source, len(missing), scale, limit)
        missing = missing[values[missing] >= limit]
    return values


def _digits_below(source: BitSource, count: int, scale: Fraction, limit: int) -> IntArray:
    values = np.zeros(count, dtype=np.int64)
    place = 1
    while -(-limit // place) > _BASE:
        values += place * _table(scale, _BASE).draw(source, count)
        scale, place = scale / _BASE, place * _BASE
    values += place * _table(scale, -(-limit // place)).draw(source, count)
    return values


def exactly(fraction: Fraction) -> Probability:
    """Turns a fraction in [0, 1] into a probability that can be enclosed.

    Raises:
        PrivacyError: The fraction is not a probability.
    """
    if not isinstance(fraction, Fraction) or not 0 <= fraction <= 1:
        raise PrivacyError(
            "A probability must be a fraction between 0 and 1.",
            advice="Check the parameters of the draw.",
        )

    def enclose(bits: int) -> Enclosure:
        low, rest = divmod(fraction.numerator << bits, fraction.denominator)
        return low, low + (rest > 0)

    return enclose


def bernoulli(source: BitSource, count: int, probability: Probability) -> BoolArray:
    """Returns independent coins that are true with exactly the given probability."""
    words = source.words(count) >> np.uint64(1)
    threshold = floor_of(probability)
    coins = words < np.uint64(threshold)
    for i in np.flatnonzero(words == np.uint64(threshold)):
        coins[i] = Uniform(threshold, WORD_BITS, source).below(probability)
    return coins


def floor_of(probability: Probability) -> int:
    """Returns floor(2^63 * p), certified. p = 1 gives 2^63, which no 63-bit word reaches."""
    bits = 128
    while True:
        low, high = probability(bits)
        floor = low >> (bits - WORD_BITS)
        if floor == high >> (bits - WORD_BITS):
            return floor
        bits *= 2
