"""Exact inversion: one random word in, one value of a law on 0, 1, 2, ... out; and what a law is.

The table holds c[k] = floor(2^63 * P(K <= k)), each certified by an enclosure whose two ends round
down to the same number. A word of 63 random bits u is the beginning of a uniform real number U. If
u < c[k] then U < P(K <= k) for sure; if u > c[k] then U >= P(K <= k) for sure; only u == c[k]
leaves it open, and then more bits are drawn until an enclosure of higher precision decides. The
last cell of the table ties by construction, so the tail beyond it needs no special case. Chance of
a tie: the number of table entries in 2^63.
"""

import math
import os
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache, partial
from itertools import count
from typing import Any, Protocol

import numpy as np
from mpmath import libmp
from mpmath.ctx_iv import MPIntervalContext

from hushway.arrays import BoolArray, IntArray, WordArray
from hushway.errors import PrivacyError
from hushway.privacy.randomness import BitSource

# Certified enclosures of irrational probabilities, as whole numbers.
#
# A probability p is held as a pair (low, high) of integers with low <= 2^bits * p <= high.
# Everything a sampler compares random bits with comes from such a pair, so no law of hushway
# contains a float.

Enclosure = tuple[int, int]
Probability = Callable[[int], Enclosure]
"""A number in [0, 1] that can be enclosed to any number of bits."""

_GUARD_BITS = 32

# mpmath keeps constants such as ln 2 and their precision in two variables, one after the other: a
# second thread that looks in between computes with a constant shifted by many bits. A fork in
# between would leave that to the child for good.
_MPMATH = threading.RLock()
os.register_at_fork(
    before=_MPMATH.acquire, after_in_parent=_MPMATH.release, after_in_child=_MPMATH.release
)


@lru_cache(maxsize=1024)
def exp_enclosure(exponent: Fraction, bits: int) -> Enclosure:
    """Encloses 2^bits * exp(-exponent) for an exponent >= 0."""
    if exponent == 0:
        return 1 << bits, 1 << bits
    context = _context(bits + _GUARD_BITS + int(exponent).bit_length())
    with _MPMATH:
        ratio = context.mpf(exponent.numerator) / context.mpf(exponent.denominator)
        low, high = _scaled(context.exp(-ratio), bits)
    return max(low, 0), min(high, 1 << bits)


def log_binomial_mass(trials: int, successes: int, chance: Enclosure, bits: int) -> Any:
    """Encloses ln P(Binomial = successes); `chance` must lie strictly inside (0, 1)."""
    context = _context(bits + 2 * trials.bit_length() + _GUARD_BITS)
    low, high = chance
    failures = trials - successes
    with _MPMATH:
        unit = context.mpf(1 << bits)
        p = context.mpf([context.mpf(low) / unit, context.mpf(high) / unit])
        log_choose = (
            _log_factorial(context, trials)
            - _log_factorial(context, successes)
            - _log_factorial(context, failures)
        )
        return log_choose + successes * context.ln(p) + failures * context.ln(1 - p)


def exp_of_interval(interval: Any, bits: int) -> Enclosure:
    """Encloses 2^bits * exp(interval) for an mpmath interval below 0."""
    with _MPMATH:
        low, high = _scaled(interval.ctx.exp(interval), bits)
    return max(low, 0), high


def _log_factorial(context: Any, n: int) -> Any:
    """Encloses ln n!, for large n by Stirling's series: its error is between 0 and the next term.

    The terms shrink down to about exp(-2 pi n), which beyond a quarter of the precision is far
    below what the precision can show: the enclosure gets as narrow as anyone asks.
    """
    if 4 * n <= context.prec:
        return context.ln(context.mpf(math.factorial(n)))
    x = context.mpf(n)
    series = (x + context.mpf(1) / 2) * context.ln(x) - x + context.ln(2 * context.pi) / 2
    power = x
    for k in count(1):
        numerator, denominator = libmp.bernfrac(2 * k)
        term = context.mpf(numerator) / (context.mpf(denominator) * (2 * k) * (2 * k - 1) * power)
        if abs(term).b < context.mpf(2) ** (-context.prec):
            return series + context.mpf([0, 1]) * term
        series += term
        power *= x * x
    raise AssertionError  # pragma: no cover  the loop only ends by returning


@lru_cache(maxsize=512)
def _context(precision: int) -> Any:
    """Returns the interval context of a precision, which nobody else can change."""
    context = MPIntervalContext()
    context.prec = precision
    return context


def _scaled(interval: Any, bits: int) -> Enclosure:
    """Turns an interval into whole numbers, each end one unit wider than mpmath says."""
    low, high = interval._mpi_
    floor = int(libmp.to_int(libmp.mpf_shift(low, bits), libmp.round_floor))
    ceiling = int(libmp.to_int(libmp.mpf_shift(high, bits), libmp.round_ceiling))
    return floor - 1, ceiling + 1


WORD_BITS = 63
_TOP = (1 << WORD_BITS) - 1
_GUIDE_BITS = 16
_GUIDE_SHIFT = np.uint64(WORD_BITS - _GUIDE_BITS)
_TABLE_BITS = 256
_MOST_ENTRIES = 1 << 21
# Small enough for a chunk's words and answers to stay in the processor's second-level cache.
CHUNK = 1 << 15


class Law(Protocol):
    """A law on 0, 1, 2, ... whose distribution function can be enclosed to any number of bits."""

    def cumulative(self, k: int, bits: int) -> Enclosure:
        """Encloses 2^bits * P(K <= k)."""

    def cumulatives(self, bits: int) -> Iterator[Enclosure]:
        """Encloses 2^bits * P(K <= k) for k = 0, 1, 2, ... up to the last possible k, if any."""


class InversionTable:
    """A certified table of a law, and the draws from it."""

    def __init__(self, law: Law) -> None:
        self._law = law
        self.thresholds = certified_thresholds(law)
        self._guide = _guide(self.thresholds)

    def draw(self, source: BitSource, count: int) -> IntArray:
        """Returns independent values of the law."""
        values = np.empty(count, dtype=np.int64)
        for start in range(0, count, CHUNK):
            piece = values[start : start + CHUNK]
            piece[:] = self.invert(source.words(len(piece)) >> np.uint64(1), source)
        return values

    def invert(self, words: WordArray, source: BitSource) -> IntArray:
        """Returns the value that each 63-bit word stands for; `source` breaks the rare ties."""
        values: IntArray = self._guide[words >> _GUIDE_SHIFT]
        unsure = np.flatnonzero(values < 0)
        if len(unsure):
            values[unsure] = self._search(words[unsure], source)
        return values

    def _search(self, words: WordArray, source: BitSource) -> IntArray:
        found = np.searchsorted(self.thresholds, words, side="right")
        ties = np.flatnonzero(self.thresholds[np.maximum(found - 1, 0)] == words)
        for i in ties:
            first = int(np.searchsorted(self.thresholds, words[i], side="left"))
            found[i] = _resolve(self._law, int(words[i]), first, source)
        return found


def certified_thresholds(law: Law) -> WordArray:
    """Returns floor(2^63 * P(K <= k)) for all k up to the first that rounds to 2^63 - 1 or more."""
    bits = _TABLE_BITS
    while (table := _thresholds(law, bits)) is None:
        bits *= 2
    return table


def _thresholds(law: Law, bits: int) -> WordArray | None:
    """Returns the table, or None if an enclosure of this many bits leaves a floor open."""
    shift = bits - WORD_BITS
    entries: list[int] = []
    for low, high in law.cumulatives(bits):
        floor = low >> shift
        if floor >= _TOP:
            break
        if floor != high >> shift:
            return None
        entries.append(floor)
        if len(entries) > _MOST_ENTRIES:
            raise PrivacyError(
                "A noise table would not fit in memory.",
                advice="Report this: wide laws are meant to be split into digits.",
            )
    # The last entry ties with the all-ones word, which sends the rest of the tail to `_resolve`.
    entries.append(_TOP)
    return np.array(entries, dtype=np.uint64)


def _guide(thresholds: WordArray) -> IntArray:
    """Returns the value for each leading 16 bits, or -1 where the rest of the word matters.

    A leading pattern is safe only if no threshold lies among the words that begin with it.
    """
    starts = np.arange(1 << _GUIDE_BITS, dtype=np.uint64) << _GUIDE_SHIFT
    ends = starts | np.uint64((1 << int(_GUIDE_SHIFT)) - 1)
    below = np.searchsorted(thresholds, starts, side="left")
    through = np.searchsorted(thresholds, ends, side="right")
    return np.where(below == through, below, -1).astype(np.int64)


def _resolve(law: Law, word: int, first: int, source: BitSource) -> int:
    """Draws more bits of U until the enclosures decide which k it belongs to."""
    uniform = Uniform(word, WORD_BITS, source)
    k = first
    while not uniform.below(partial(law.cumulative, k)):
        k += 1
    return k


class Uniform:
    """One uniform real number in [0, 1), of which as many bits are drawn as questions need."""

    def __init__(self, word: int, bits: int, source: BitSource) -> None:
        self._word = word
        self._bits = bits
        self._source = source

    def below(self, probability: Probability) -> bool:
        """Answers whether the number lies below a probability; the bits drawn for it stay drawn."""
        while True:
            low, high = probability(self._bits)
            if self._word + 1 <= low:
                return True
            if self._word >= high:
                return False
            self._word = self._word << 64 | int(self._source.words(1)[0])
            self._bits += 64


def draw_until_kept(count: int, propose: Callable[[int], tuple[IntArray, BoolArray]]) -> IntArray:
    """Rejection sampling: proposes values for all places, and again for those not kept."""
    values = np.empty(count, dtype=np.int64)
    missing = np.arange(count)
    while len(missing):
        drawn, kept = propose(len(missing))
        values[missing[kept]] = drawn[kept]
        missing = missing[~kept]
    return values


class NoiseLaw(Protocol):
    """A symmetric law on the integers that can be drawn exactly."""

    @property
    def variance(self) -> Fraction:
        """The variance, or a number just above it."""

    def draw(self, source: BitSource, count: int) -> IntArray:
        """Returns independent noise."""

    def mass_from(self, threshold: int, bits: int) -> Enclosure:
        """Encloses 2^bits * P(Z >= threshold)."""

    def draw_between(self, source: BitSource, count: int, low: int, high: int | None) -> IntArray:
        """Returns independent noise, given low <= Z < high (no upper end if None)."""


def between(law: NoiseLaw, low: int, high: int | None, bits: int) -> Enclosure:
    """Encloses 2^bits * P(low <= Z < high)."""
    from_low = law.mass_from(low, bits)
    if high is None:
        return from_low
    from_high = law.mass_from(high, bits)
    return max(0, from_low[0] - from_high[1]), from_low[1] - from_high[0]


def share(part: Enclosure, whole: Enclosure, bits: int) -> Enclosure:
    """Encloses 2^bits * part / whole."""
    low = (part[0] << bits) // whole[1]
    return low, min(1 << bits, -(-(part[1] << bits) // max(1, whole[0])))
