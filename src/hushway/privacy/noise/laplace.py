"""The discrete Laplace law P(z) = (1 - a)/(1 + a) * a^|z| with a = exp(-1/scale), and its halves.

Integer counts of L1 sensitivity D plus this noise are (D/scale)-DP (Ghosh, Roughgarden and
Sundararajan 2009).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.errors import PrivacyError
from hushway.privacy.noise.inversion import (
    CHUNK,
    WORD_BITS,
    Enclosure,
    InversionTable,
    Probability,
    Uniform,
    between,
    draw_until_kept,
    exp_enclosure,
    share,
)
from hushway.privacy.randomness import BitSource

SMALLEST_SCALE = Fraction(1, 100)
LARGEST_SCALE = Fraction(10**7)
# |Z| of this scale has a table of about 44 * 1024 entries; wider laws are put together from
# geometric digits.
_TABLE_SCALE = 1024


@dataclass(frozen=True)
class DiscreteLaplace:
    """Exact discrete Laplace noise of a rational scale."""

    scale: Fraction

    def __post_init__(self) -> None:
        if (
            not isinstance(self.scale, Fraction)
            or not SMALLEST_SCALE <= self.scale <= LARGEST_SCALE
        ):
            raise PrivacyError(
                "The Laplace scale is not a fraction between 0.01 and 1e7.",
                advice="Choose an epsilon between (sensitivity / 1e7) and (100 * sensitivity).",
            )

    @cached_property
    def variance(self) -> Fraction:
        """The variance 2a/(1-a)^2, rounded up by less than one part in 2^100."""
        bits = 256
        low, high = exp_enclosure(1 / self.scale, bits)
        return Fraction(2 * high << bits, ((1 << bits) - high) ** 2) if low else Fraction(0)

    def draw(self, source: BitSource, count: int) -> IntArray:
        """Returns independent noise."""
        if self.scale <= _TABLE_SCALE:
            return signed(_magnitudes(self.scale), source, count)
        return self._from_geometric(source, count)

    def _from_geometric(self, source: BitSource, count: int) -> IntArray:
        """Puts a fair sign on a geometric number; minus zero is drawn again."""

        def propose(missing: int) -> tuple[IntArray, BoolArray]:
            drawn = geometric(source, missing, self.scale)
            negative = (source.words(missing) & np.uint64(1)).astype(bool)
            return np.where(negative, -drawn, drawn), ~negative | (drawn != 0)

        return draw_until_kept(count, propose)

    def mass_from(self, threshold: int, bits: int) -> Enclosure:
        """Encloses 2^bits * P(Z >= threshold)."""
        one = 1 << bits
        steps = threshold if threshold >= 1 else 1 - threshold
        low, high = exp_enclosure(steps / self.scale, bits)
        ratio_low, ratio_high = exp_enclosure(1 / self.scale, bits)
        tail = (low << bits) // (one + ratio_high), -(-(high << bits) // (one + ratio_low))
        return tail if threshold >= 1 else (one - tail[1], one - tail[0])

    def draw_between(self, source: BitSource, count: int, low: int, high: int | None) -> IntArray:
        """Returns independent noise, given low <= Z < high (no upper end if None)."""
        if low >= 0:
            return low + self._excess(source, count, None if high is None else high - low)
        if high is not None and high <= 1:
            return high - 1 - self._excess(source, count, high - low)
        upper = bernoulli(source, count, lambda bits: self._share_above_zero(low, high, bits))
        values = -1 - self._excess(source, count, -low)
        values[upper] = self._excess(source, int(upper.sum()), high)
        return values

    def _excess(self, source: BitSource, count: int, limit: int | None) -> IntArray:
        if limit is None:
            return geometric(source, count, self.scale)
        return geometric_below(source, count, self.scale, limit)

    def _share_above_zero(self, low: int, high: int | None, bits: int) -> Enclosure:
        """Encloses 2^bits * P(Z >= 0 | low <= Z < high) for low < 0 < high."""
        wide = bits + 128
        above = between(self, 0, high, wide)
        below = between(self, low, 0, wide)
        return share(above, (above[0] + below[0], above[1] + below[1]), bits)


@dataclass(frozen=True)
class _Magnitude:
    """The law of |Z|: P(|Z| <= k) = 1 - 2 a^(k+1) / (1 + a)."""

    scale: Fraction

    def cumulative(self, k: int, bits: int) -> Enclosure:
        wide = bits + 64
        power = exp_enclosure((k + 1) / self.scale, wide)
        return self._close(power, exp_enclosure(1 / self.scale, wide), wide, bits)

    def cumulatives(self, bits: int) -> Iterator[Enclosure]:
        wide = bits + 64
        ratio = exp_enclosure(1 / self.scale, wide)
        low = high = 1 << wide
        while True:
            low, high = low * ratio[0] >> wide, (high * ratio[1] >> wide) + 1
            yield self._close((low, high), ratio, wide, bits)

    @staticmethod
    def _close(power: Enclosure, ratio: Enclosure, wide: int, bits: int) -> Enclosure:
        one = 1 << wide
        outside_low = (2 * power[0] << bits) // (one + ratio[1])
        outside_high = -(-(2 * power[1] << bits) // (one + ratio[0]))
        return (1 << bits) - outside_high, (1 << bits) - outside_low


@lru_cache(maxsize=64)
def _magnitudes(scale: Fraction) -> InversionTable:
    return InversionTable(_Magnitude(scale))


def signed(magnitudes: InversionTable, source: BitSource, count: int) -> IntArray:
    """Returns values of a symmetric law: 63 bits of each word for the magnitude, 1 for the sign."""
    values = np.empty(count, dtype=np.int64)
    for start in range(0, count, CHUNK):
        piece = values[start : start + CHUNK]
        words = source.words(len(piece))
        size = magnitudes.invert(words >> np.uint64(1), source)
        flip = -(words & np.uint64(1)).astype(np.int64)  # 0, or -1 which is all ones
        np.subtract(size ^ flip, flip, out=piece)
    return values


# The geometric law P(G = g) = (1 - a) a^g with a = exp(-1/scale), whole or cut off, at any scale.
#
# In base 1024 the digits of a geometric number are independent: a^(d0 + 1024 d1 + ...) is a
# product. Each digit is a geometric number of its own, cut off at 1024 and with a scale 1024 times
# smaller than the digit below; so scales up to 1e7 and beyond need a few small tables instead of
# one with a billion entries.

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

    def propose(missing: int) -> tuple[IntArray, BoolArray]:
        drawn = _digits_below(source, missing, scale, limit)
        return drawn, drawn < limit

    return draw_until_kept(count, propose)


def _digits_below(source: BitSource, count: int, scale: Fraction, limit: int) -> IntArray:
    values = np.zeros(count, dtype=np.int64)
    place = 1
    while -(-limit // place) > _BASE:
        values += place * _table(scale, _BASE).draw(source, count)
        scale, place = scale / _BASE, place * _BASE
    values += place * _table(scale, -(-limit // place)).draw(source, count)
    return values


def exactly(fraction: Fraction) -> Probability:
    """Turns a fraction in [0, 1] into a probability that can be enclosed."""
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
