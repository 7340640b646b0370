"""Exact inversion: one random word in, one value of a law on 0, 1, 2, ... out.

The table holds c[k] = floor(2^63 * P(K <= k)), each certified by an enclosure whose two ends round
down to the same number. A word of 63 random bits u is the beginning of a uniform real number U. If
u < c[k] then U < P(K <= k) for sure; if u > c[k] then U >= P(K <= k) for sure; only u == c[k]
leaves it open, and then more bits are drawn until an enclosure of higher precision decides. The
last cell of the table ties by construction, so the tail beyond it needs no special case. Chance of
a tie: the number of table entries in 2^63.
"""

from collections.abc import Iterator
from functools import partial
from typing import Protocol

import numpy as np

from hushway.arrays import IntArray, WordArray
from hushway.errors import PrivacyError
from hushway.privacy.noise.enclosure import Enclosure, Probability
from hushway.privacy.randomness import BitSource

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
        ...

    def cumulatives(self, bits: int) -> Iterator[Enclosure]:
        """Encloses 2^bits * P(K <= k) for k = 0, 1, 2, ... up to the last possible k, if any."""
        ...


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
    """Returns floor(2^63 * P(K <= k)) for all k up to the first that rounds to 2^63 - 1 or more.

    Raises:
        PrivacyError: The law is too wide for a table.
    """
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
